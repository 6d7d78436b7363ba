"""Publishing a tree beside a user's own files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from memu.errors import ConfigurationError
from memu.export.disk import LocalDisk
from memu.export.manifest import MANIFEST
from memu.export.private import ensure_private
from memu.export.publish import publish
from memu.records import EMPTY_SCOPE, ExportReport, Scope

pytestmark = pytest.mark.unit

FILES = {
    "memory/a.md": "page a\n",
    "memory/b.md": "page b\n",
    "skill/s.md": "skill s\n",
    "SKILL.md": "skills: {skill/s.md}\n",
    "MEMORY.md": "pages: {memory/a.md} {memory/b.md}\n",
    "INDEX.md": "index: {MEMORY.md} {SKILL.md}\n",
}

Render = Callable[[Mapping[str, str]], Mapping[str, bytes]]


class QuickDisk(LocalDisk):
    """The real disk, but for waiting until it has written."""

    def create(self, path: Path, data: bytes) -> None:
        with path.open("xb") as file:
            file.write(data)

    def settle(self, folder: Path) -> None:
        pass


def rendering(files: Mapping[str, str]) -> Render:
    """A renderer whose files name others in braces, which follow renames as links do."""

    def render(renames: Mapping[str, str]) -> dict[str, bytes]:
        names = {f"{{{path}}}": renames.get(path, path) for path in files}
        made = {}
        for path, text in files.items():
            for brace, name in names.items():
                text = text.replace(brace, name)
            made[path] = text.encode()
        return made

    return render


def export(
    tree: Path, files: Mapping[str, str] = FILES, *, scope: Scope = EMPTY_SCOPE, force: tuple[str, ...] = ()
) -> ExportReport:
    return publish(QuickDisk(), tree, scope, rendering(files), force)


def read(tree: Path) -> dict[str, bytes]:
    found = {each.relative_to(tree).as_posix(): each.read_bytes() for each in tree.rglob("*") if each.is_file()}
    found.pop(MANIFEST, None)
    return found


def plain(files: Mapping[str, str]) -> dict[str, bytes]:
    return dict(rendering(files)({}))


def stats(tree: Path) -> dict[str, tuple[int, int]]:
    return {str(each): (each.stat().st_mtime_ns, each.stat().st_ino) for each in [tree, *tree.rglob("*")]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "out" / "tree"


def test_a_first_export_writes_everything(tree: Path) -> None:
    report = publish(LocalDisk(), tree, EMPTY_SCOPE, rendering(FILES))
    assert read(tree) == plain(FILES)
    assert report == ExportReport(tree=str(tree), written=tuple(sorted(FILES)))
    assert json.loads((tree / MANIFEST).read_bytes())["scope"] == {}


def test_a_second_export_touches_nothing(tree: Path) -> None:
    """P7: bytes, times and inodes stand, the folders' too."""
    export(tree)
    before = stats(tree)
    assert export(tree) == ExportReport(tree=str(tree), unchanged=len(FILES))
    assert stats(tree) == before


def test_only_what_changed_is_written(tree: Path) -> None:
    export(tree)
    before = stats(tree)
    report = export(tree, {**FILES, "memory/a.md": "new\n"})
    assert report == ExportReport(tree=str(tree), written=("memory/a.md",), unchanged=len(FILES) - 1)
    changed = {name for name, stat in stats(tree).items() if before[name] != stat}
    assert changed == {str(tree / name) for name in ("", "memory", "memory/a.md", MANIFEST)}


def test_what_is_gone_is_removed_with_its_folder(tree: Path) -> None:
    export(tree)
    fewer = {path: text for path, text in FILES.items() if path not in {"memory/b.md", "skill/s.md"}}
    assert export(tree, fewer).removed == ("memory/b.md", "skill/s.md")
    assert read(tree) == plain(fewer)
    assert not (tree / "skill").exists()


def test_f27_a_hand_written_file_stays(tree: Path) -> None:
    """P10: ours goes beside it, links lead there, the report says so."""
    tree.mkdir(parents=True)
    (tree / "MEMORY.md").write_text("mine\n")
    for _ in range(2):
        report = export(tree)
        assert report.kept == ("MEMORY.md",)
        assert read(tree) == {
            **plain(FILES),
            "MEMORY.md": b"mine\n",
            "MEMORY.memu.md": plain(FILES)["MEMORY.md"],
            "INDEX.md": b"index: MEMORY.memu.md SKILL.md\n",
        }
    assert report.unchanged == len(FILES)


@pytest.mark.parametrize("path", FILES)
def test_a_hand_edited_file_stays_until_it_goes_away(tree: Path, path: str) -> None:
    """P10: also while the page itself changes; then ours takes its own place again."""
    export(tree)
    (tree / path).write_text("edited\n")
    stem = path.removesuffix(".md")
    for files in (FILES, {**FILES, path: "newer\n"}):
        report = export(tree, files)
        assert report.kept == (path,)
        assert (tree / path).read_text() == "edited\n"
        assert (tree / f"{stem}.memu.md").read_bytes() == rendering(files)({path: f"{stem}.memu.md"})[path]
    (tree / path).unlink()
    report = export(tree)
    assert report.kept == ()
    assert report.removed == (f"{stem}.memu.md",)
    assert read(tree) == plain(FILES)


def test_force_takes_a_file_over(tree: Path) -> None:
    export(tree)
    (tree / "memory/a.md").write_text("edited\n")
    (tree / "memory/b.md").write_text("edited too\n")
    export(tree)
    report = export(tree, force=("memory/a.md",))
    assert report.kept == ("memory/b.md",)
    assert report.removed == ("memory/a.memu.md",)
    assert (tree / "memory/a.md").read_text() == "page a\n"
    assert (tree / "memory/b.md").read_text() == "edited too\n"
    assert export(tree, force=("memory/a.md",)).written == ()


@pytest.mark.parametrize("path", ["memory/unknown.md", "../MEMORY.md", "", MANIFEST])
def test_force_of_no_file_of_the_tree_is_an_error(tree: Path, path: str) -> None:
    with pytest.raises(ConfigurationError, match="nothing to take over"):
        export(tree, force=(path,))
    assert not tree.exists()


def test_the_other_name_may_be_taken_too(tree: Path) -> None:
    export(tree)
    (tree / "memory/a.md").write_text("edited\n")
    (tree / "memory/a.memu.md").write_text("also mine\n")
    report = export(tree)
    assert report.kept == ("memory/a.md", "memory/a.memu.md")
    assert (tree / "memory/a.md").read_text() == "edited\n"
    assert (tree / "memory/a.memu.md").read_text() == "also mine\n"
    assert (tree / "memory/a.memu-2.md").read_text() == "page a\n"
    assert "memory/a.memu-2.md" in (tree / "MEMORY.md").read_text()
    (tree / "memory/a.memu.md").unlink()
    export(tree)
    assert not (tree / "memory/a.memu-2.md").exists()
    assert (tree / "memory/a.memu.md").read_text() == "page a\n"


def test_an_edited_page_stays_when_the_page_is_gone(tree: Path) -> None:
    export(tree)
    (tree / "memory/b.md").write_text("edited\n")
    fewer = {path: text for path, text in FILES.items() if path != "memory/b.md"}
    report = export(tree, fewer)
    assert (report.kept, report.removed) == (("memory/b.md",), ())
    assert (tree / "memory/b.md").read_text() == "edited\n"
    assert export(tree, fewer).kept == ()
    assert (tree / "memory/b.md").read_text() == "edited\n"


def test_a_users_other_files_are_left_alone(tree: Path) -> None:
    mine = {"notes.md": "mine", "memory/own.md": "mine", "memory/deep/x.md": "mine", ".memu-x.tmp": "mine"}
    for path, text in mine.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    export(tree)
    export(tree, {"INDEX.md": "empty\n"})
    assert read(tree) == {**{path: text.encode() for path, text in mine.items()}, "INDEX.md": b"empty\n"}


@pytest.mark.parametrize(
    "gone", [("MEMORY.md", "SKILL.md", "INDEX.md"), ("memory/a.md",), (MANIFEST,), tuple(FILES)]
)
def test_f29_deleted_files_come_back_byte_for_byte(tree: Path, gone: tuple[str, ...]) -> None:
    export(tree)
    manifest = (tree / MANIFEST).read_bytes()
    for path in gone:
        (tree / path).unlink()
    export(tree)
    assert read(tree) == plain(FILES)
    assert (tree / MANIFEST).read_bytes() == manifest


def test_a_lost_manifest_is_made_again_beside_a_users_file(tree: Path) -> None:
    """Files that hold just what we would write are ours, though nothing vouches for them."""
    export(tree)
    (tree / "memory/a.md").write_text("edited\n")
    export(tree)
    before = read(tree)
    (tree / MANIFEST).unlink()
    report = export(tree)
    assert (report.written, report.kept) == ((), ("memory/a.md",))
    assert read(tree) == before


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"files": 7, "scope": {}}', b'{"scope": {"a": [1]}}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_manifest_vouches_for_nothing(tree: Path, damage: bytes) -> None:
    export(tree)
    (tree / MANIFEST).write_bytes(damage)
    (tree / "memory/a.md").write_text("edited\n")
    report = export(tree, {**FILES, "memory/b.md": "newer\n"})
    assert report.kept == ("memory/a.md", "memory/b.md")
    assert (tree / "memory/a.md").read_text() == "edited\n"
    assert (tree / "memory/b.md").read_text() == "page b\n"
    assert (tree / "memory/b.memu.md").read_text() == "newer\n"


def test_f27_another_scopes_tree_is_refused(tree: Path) -> None:
    export(tree, scope=Scope.of({"user_id": "alice"}))
    before = stats(tree)
    with pytest.raises(ConfigurationError, match="user_id=alice"):
        export(tree, scope=Scope.of({"user_id": "bob"}))
    assert stats(tree) == before


@pytest.mark.parametrize("path", ["../../secret.txt", "/etc/passwd", "memory/../../secret.txt", "a//b", "./x"])
def test_a_manifest_cannot_lead_out_of_the_tree(tree: Path, path: str) -> None:
    """P10, P11: a manifest comes with the folder and may have been forged."""
    export(tree)
    secret = tree.parent.parent / "secret.txt"
    secret.write_text("page a\n")
    value = json.loads((tree / MANIFEST).read_bytes())
    value["files"][path] = value["files"]["memory/a.md"]
    (tree / MANIFEST).write_text(json.dumps(value))
    assert export(tree).removed == ()
    assert secret.read_text() == "page a\n"


needs_links = pytest.mark.skipif(sys.platform == "win32", reason="making links needs a right there")


@needs_links
def test_links_are_never_followed(tree: Path, tmp_path: Path) -> None:
    """P11: a link where a file belongs is the user's; one where a folder belongs is an error; both stay."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target.md").write_text("precious")
    (outside / "a.md").write_text("page a\n")
    tree.mkdir(parents=True)
    (tree / "MEMORY.md").symlink_to(outside / "target.md")
    (tree / "INDEX.md").symlink_to(outside / "missing.md")
    assert export(tree).kept == ("INDEX.md", "MEMORY.md")
    assert (tree / "MEMORY.md").is_symlink()
    assert sorted(each.name for each in outside.iterdir()) == ["a.md", "target.md"]
    for each in (tree / "memory").iterdir():
        each.unlink()
    (tree / "memory").rmdir()
    (tree / "memory").symlink_to(outside)
    with pytest.raises(ConfigurationError, match="symbolic link"):
        export(tree)
    without = {path: text for path, text in FILES.items() if not path.startswith("memory/")}
    without["MEMORY.md"] = "none\n"
    assert export(tree, without).removed == ()
    assert (outside / "a.md").read_text() == "page a\n"
    assert (outside / "target.md").read_text() == "precious"
    export(tree, without, force=("MEMORY.md",))
    assert not (tree / "MEMORY.md").is_symlink()
    assert (outside / "target.md").read_text() == "precious"


@needs_links
@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_tree_that_is_no_folder_is_refused(tree: Path, tmp_path: Path, kind: str) -> None:
    tree.parent.mkdir(parents=True)
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        tree.symlink_to(tmp_path / "elsewhere")
    else:
        tree.write_text("mine")
    with pytest.raises(ConfigurationError, match="move it away"):
        export(tree)
    assert kind == "file" or not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_where_a_file_belongs_is_the_users(tree: Path) -> None:
    (tree / "memory/a.md").mkdir(parents=True)
    assert export(tree).kept == ("memory/a.md",)
    assert (tree / "memory/a.memu.md").read_text() == "page a\n"
    with pytest.raises(ConfigurationError, match="is a folder"):
        export(tree, force=("memory/a.md",))


def test_leftovers_of_a_killed_export_go(tree: Path) -> None:
    export(tree)
    left = tree / "memory/.memu-0123456789abcdef.tmp"
    left.write_text("half")
    export(tree)
    assert not left.exists()


def test_files_get_the_usual_permissions(tree: Path) -> None:
    """Other tools, and other users where the umask allows it, read the tree."""
    old = os.umask(0o022)
    try:
        publish(LocalDisk(), tree, EMPTY_SCOPE, rendering(FILES))
    finally:
        os.umask(old)
    assert (tree / "MEMORY.md").stat().st_mode & 0o777 == 0o644


def test_f30_the_private_folder_keeps_itself_out_of_git(tmp_path: Path) -> None:
    folder = tmp_path / "work" / ".memu"
    ensure_private(folder)
    assert (folder / ".gitignore").read_text() == "*\n"
    (folder / ".gitignore").write_text("!tree\n")
    ensure_private(folder)
    assert (folder / ".gitignore").read_text() == "!tree\n"
    assert [each.name for each in folder.iterdir()] == [".gitignore"]


@needs_links
def test_a_private_folder_is_never_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".memu").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError):
        ensure_private(tmp_path / ".memu")
    assert not list((tmp_path / "elsewhere").iterdir())
