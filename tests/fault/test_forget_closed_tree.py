"""P4, P5: where there is nothing to forget, a tree that may not be written ends no command; else it does."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.somebody import give, run_commands

pytestmark = [
    pytest.mark.fault,
    pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's"),
]

NOTHING = ["forget", "--match", "words of no source"]


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="memu-closed-"))
    for name, said in (("a.md", "The pump was sold in May."), ("b.md", "Boats are always kept dry.")):
        (made / name).write_text(f"# Note {name}\n\n{said}\n", encoding="utf-8")
    give(made)
    assert [each.code for each in run_commands(made, ["sync", "."])] == [0]
    yield made
    for path in (made, *made.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(made)


def close(folder: Path) -> None:
    tree = folder / ".memu" / "workspace-memory"
    for path in (*tree.rglob("*"), tree):
        if path.is_dir():
            path.chmod(0o555)


def shut(folder: Path) -> None:
    (folder / ".memu" / "workspace-memory").chmod(0o000)


def damage(folder: Path) -> None:
    for path in (folder / ".memu" / "workspace-memory").rglob("*.md"):
        path.unlink()
    close(folder)


def leave_behind(folder: Path) -> None:
    (folder / "c.md").write_text("# Note c\n\nThe valve was repaired in June.\n", encoding="utf-8")
    give(folder)
    close(folder)
    assert [each.code for each in run_commands(folder, ["sync", "."])] == [4]


@pytest.mark.parametrize("hinder", [close, shut, damage, leave_behind])
def test_p5_where_nothing_matches_nothing_of_the_tree_is_asked(
    folder: Path, hinder: Callable[[Path], None]
) -> None:
    open_ended = run_commands(folder, NOTHING)[0]
    hinder(folder)
    ended = run_commands(folder, NOTHING)[0]
    assert (ended.code, ended.out, ended.err) == (open_ended.code, open_ended.out, open_ended.err)
    assert ended.code == 0


def test_p4_a_tree_that_still_says_what_was_forgotten_ends_the_command_again(folder: Path) -> None:
    close(folder)
    ended = run_commands(folder, ["forget", "--match", "pump"], ["forget", "--match", "pump"], NOTHING)
    assert [each.code for each in ended] == [4, 4, 4]
    for path in (folder / ".memu").rglob("*"):
        path.chmod(0o755)
    (folder / ".memu" / "workspace-memory").chmod(0o755)
    assert [each.code for each in run_commands(folder, NOTHING)] == [0]
    pages = [path.read_text() for path in (folder / ".memu" / "workspace-memory").rglob("*.md")]
    assert pages
    assert not [page for page in pages if "pump" in page]
