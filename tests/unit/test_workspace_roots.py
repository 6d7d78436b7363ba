"""Which workspace a folder is: known, moved, copied, new, or in conflict (a pure decision)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memu import MemoryService
from memu.errors import RootError
from memu.memorize.roots import settle_root
from memu.records import Workspace

pytestmark = pytest.mark.unit


def known(root: str, name: str | None = None) -> Workspace:
    return Workspace(id=f"id of {root}", name=name, root=root)


def settle(
    *workspaces: Workspace,
    root: str,
    name: str | None = None,
    there: tuple[str, ...] = (),
    holds_store: bool = False,
) -> Workspace | None:
    return settle_root(
        workspaces, Path(root), name, exists=lambda path: path in there, holds_store=holds_store
    ).workspace


def test_a_root_that_is_known_is_that_workspace() -> None:
    assert settle(known("/a/notes"), root="/a/notes", there=("/a/notes",)) == known("/a/notes")


def test_an_unknown_root_is_new_while_the_other_stands() -> None:
    assert settle(known("/a/notes"), root="/b/notes", there=("/a/notes",)) is None
    assert settle(known("/a/notes"), root="/b/other") is None


@pytest.mark.parametrize(("root", "holds_store"), [("/b/notes", False), ("/b/renamed", True)])
def test_a_root_moved_when_the_old_is_gone_and_name_or_store_match(root: str, holds_store: bool) -> None:
    found = settle(known("/a/notes"), root=root, holds_store=holds_store)
    assert found is not None
    assert (found.id, found.root) == ("id of /a/notes", root)


def test_two_that_may_have_moved_are_not_guessed_at() -> None:
    assert settle(known("/a/notes"), known("/c/notes"), root="/b/notes") is None


def test_a_name_follows_its_folder_and_is_not_shared() -> None:
    found = settle(known("/a/x", "home"), root="/b/y", name="home")
    assert found is not None
    assert (found.id, found.root) == ("id of /a/x", "/b/y")
    with pytest.raises(RootError, match="belongs to the workspace at /a/x"):
        settle(known("/a/x", "home"), root="/b/y", name="home", there=("/a/x",))


@pytest.mark.parametrize("root", ["/a", "/a/notes/deep"])
def test_overlapping_roots_are_refused_naming_the_other(root: str) -> None:
    with pytest.raises(RootError, match="overlaps the workspace at /a/notes"):
        settle(known("/a/notes"), root=root, there=("/a/notes", root))


@pytest.mark.parametrize("how", ["moved", "copied"])
async def test_a_folder_moved_or_copied_with_its_store_is_itself(how: str, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "a.md").write_text("# Bridge\n\nThe bridge opens at noon on every market day.\n", encoding="utf-8")
    (old / "b.md").write_text("# Ferry\n\nThe ferry needs twelve minutes to cross.\n", encoding="utf-8")
    async with MemoryService.open(folder=old, encoder=None) as memu:
        await memu.memorize_workspace(old)
        before = {entry.id for entry in await memu.list_entries()}
    if how == "moved":
        old.rename(new)
    else:
        shutil.copytree(old, new)
    async with MemoryService.open(folder=new, encoder=None) as memu:
        report = await memu.memorize_workspace(new)
        assert report.unchanged == 2
        assert {entry.id for entry in await memu.list_entries()} == before
        assert [workspace.root for workspace in await memu.list_workspaces()] == [str(new.resolve())]
        (new / "a.md").unlink()
        await memu.memorize_workspace(new)
        assert not any("noon" in entry.text for entry in await memu.list_entries())
    pages = "".join(path.read_text(encoding="utf-8") for path in (new / ".memu").rglob("*.md"))
    assert "noon" not in pages
    assert "../old" not in pages
