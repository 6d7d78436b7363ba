"""P5: a root that may not be read, in whatever way, ends each command with 4, a reason and nothing forgotten."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.amounts import crossed
from support.somebody import give, run_commands

pytestmark = [
    pytest.mark.fault,
    pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's"),
]

WORDS = {"work/a.md": "The pump was repaired.", "work/sub/b.md": "The valve was sold.", "other/sub/c.md": "Far."}
COMMANDS = [
    ["sync", "work", "--json"],
    ["sync", "work"],
    ["sync", "work", "--quiet"],
    ["sync", "work", "--dry-run"],
    ["sync", "work", "--allow-empty", "--retry-failed", "--wait"],
]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may reach and change, with folders to sync in it."""
    made = Path(tempfile.mkdtemp(prefix="memu-closed-"))
    for path, text in WORDS.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(f"# Note\n\n{text}\n", encoding="utf-8")
    give(made)
    yield made
    (made / "work").chmod(0o755)
    shutil.rmtree(made)


def beside(place: Path) -> list[str]:
    return ["--db", f"sqlite:///{place / 'store.sqlite3'}", "--out", str(place / "out")]


@pytest.mark.parametrize(
    ("mode", "stored"), crossed([0o000, 0o111, 0o222, 0o333, 0o444, 0o666], ["beside", "inside"])
)
def test_p5_a_root_that_may_not_be_read_deletes_nothing_and_ends_with_4(
    place: Path, mode: int, stored: str
) -> None:
    db = beside(place) if stored == "beside" else []
    assert run_commands(place, ["sync", "work", *db])[0].code == 0
    (place / "work").chmod(mode)
    for ended in run_commands(place, *([*command, *db] for command in COMMANDS)):
        assert (ended.code, ended.out) == (4, ""), ended
        told = json.loads(ended.err)["error"]["message"] if "--json" in ended.command else ended.err
        assert "work" in told
        assert not {"Traceback", "Errno"} & set(told.replace("[", " ").split())
    (place / "work").chmod(0o755)
    (ended,) = run_commands(place, ["sync", "work", "--json", *db])
    report = json.loads(ended.out)
    assert (ended.code, report["unchanged"], report["deleted"], report["pages"]["removed"]) == (0, 2, [], [])


def test_p5_status_says_that_the_root_could_not_be_read(place: Path) -> None:
    db = beside(place)
    run_commands(place, ["sync", "work", *db])
    (place / "work").chmod(0o000)
    _, status = run_commands(place, ["sync", "work", *db], ["status", "--json", *db])
    assert status.code == 1
    assert "cannot be read" in json.loads(status.out)["workspaces"][0]["last_run"]["error"]


def test_p5_a_root_that_may_not_be_looked_at_still_stands(place: Path) -> None:
    """Nobody may take its name, or its place, for it may be there."""
    db = beside(place)
    run_commands(place, ["sync", "work/sub", "--workspace", "mine", *db])
    (place / "work").chmod(0o000)
    named, plain = run_commands(
        place, ["sync", "other/sub", "--workspace", "mine", *db], ["sync", "other/sub", *db]
    )
    assert (named.code, "mine" in named.err) == (4, True), named
    assert plain.code == 0
    (listed,) = run_commands(place, ["workspace", "list", *db])
    assert len(listed.out.splitlines()) == 2


def test_p5_a_folder_inside_that_may_not_be_listed_is_a_failure_of_plan_sync_and_status(place: Path) -> None:
    db = beside(place)
    run_commands(place, ["sync", "work", *db])
    (place / "work" / "sub").chmod(0o000)
    plan, sync, status, doctor = run_commands(
        place, ["sync", "work", "--dry-run", *db], ["sync", "work", *db], ["status", *db], ["doctor", *db]
    )
    (place / "work" / "sub").chmod(0o755)
    assert [each.code for each in (plan, sync, status, doctor)] == [1, 1, 1, 1]
    assert "It could not be looked at: directory cannot be listed" in doctor.out
    assert "0 times" not in doctor.out
