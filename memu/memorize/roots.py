"""Which workspace a folder is: known by name or root, moved, new, or in conflict with another. A pure decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from memu.errors import RootError
from memu.records import Workspace

__all__ = ["Settled", "settle_root"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """``workspace`` is the row as it should be; None for one that is to be added."""

    workspace: Workspace | None
    moved_from: str | None = None


def settle_root(
    known: Sequence[Workspace],
    root: Path,
    name: str | None,
    *,
    exists: Callable[[str], bool],
    holds_store: bool,
) -> Settled:
    """The workspace that the folder at the real path ``root`` is.

    It has *moved* only if the old root is gone (``exists`` says no) and the base name matches, or the store lies
    inside the new root (``holds_store``); else it is new.

    Raises:
        RootError: the name belongs to a folder that still exists elsewhere, or to what was imported; or the root
            overlaps another.
    """
    if any(not each.root and each.name == name for each in known):
        raise RootError(f"The name {name!r} belongs to what was imported. Give {root} another name.")
    known = [each for each in known if each.root]
    found = _find(known, root, name, exists, holds_store=holds_store)
    others = [each for each in known if found is None or each.id != found.id]
    for other in others:
        if exists(other.root) and _overlap(PurePath(other.root), root):
            raise RootError(
                f"{root} overlaps the workspace at {other.root}, which is in the same scope. Sync that one, "
                "remove it (memu workspace remove), or sync into another scope (--user)."
            )
    if found is None:
        return Settled(workspace=None)
    moved_from = found.root if found.root != str(root) else None
    return Settled(workspace=replace(found, root=str(root), name=name or found.name), moved_from=moved_from)


def _find(
    known: Sequence[Workspace], root: Path, name: str | None, exists: Callable[[str], bool], *, holds_store: bool
) -> Workspace | None:
    same_root = next((each for each in known if each.root == str(root)), None)
    same_name = next((each for each in known if name is not None and each.name == name), None)
    if same_name is not None and same_name is not same_root:
        if same_root is not None or exists(same_name.root):
            raise RootError(
                f"The name {name!r} belongs to the workspace at {same_name.root}. Give {root} another name, or "
                "remove that workspace first (memu workspace remove)."
            )
        return same_name
    if same_root is not None:
        return same_root
    gone = [each for each in known if not exists(each.root) and (name is None or each.name in (None, name))]
    alike = [each for each in gone if PurePath(each.root).name == root.name]
    if len(alike) == 1:
        return alike[0]
    return gone[0] if holds_store and len(gone) == 1 and len(known) == 1 else None


def _overlap(one: PurePath, other: PurePath) -> bool:
    return one == other or one in other.parents or other in one.parents
