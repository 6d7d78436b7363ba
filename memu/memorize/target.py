"""Which sync remembers one file or folder: of the workspace around it, else of its parent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memu.errors import NotFound, RootError
from memu.ingest.paths import stored_path
from memu.memorize.states import SyncState
from memu.records import Scope, Workspace
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["find_target"]


async def find_target(database: Database, scope: Scope, path: Path | str) -> SyncState:
    """The sync that looks at ``path`` only; outside any workspace it forgets nothing.

    Raises:
        RootError: the path, and every workspace around it, is missing.
        NotFound: in its workspace there is no such file or folder, nor was there one.
    """
    target = await asyncio.to_thread(lambda: Path(path).expanduser().absolute().resolve())
    workspaces = await database.read(lambda session: session.within(scope).workspaces.list())
    around = next((each for each in workspaces if target.is_relative_to(each.root)), None)
    there = await asyncio.to_thread(_is_there, target)
    if around is None and not there:
        raise RootError(f"{path}: there is no such file or folder, and no workspace is known around it.")
    root = Path(around.root) if around is not None else target.parent
    relative = target.relative_to(root).as_posix()
    only = None if relative == "." else stored_path(relative)
    if around is not None and only is not None and not there:
        await _require_known(database, scope, around, only)
    return SyncState(scope=scope, folder=root, only=only, removals=around is not None, allow_empty=True)


def _is_there(target: Path) -> bool:
    try:
        return target.exists()
    except OSError as error:
        raise RootError(f"{target} cannot be read: {error.strerror or error}; nothing was changed.") from error


async def _require_known(database: Database, scope: Scope, workspace: Workspace, only: str) -> None:
    def known(session: Session) -> bool:
        paths = session.within(scope).resources.known(workspace.id)
        return any(path == only or path.startswith(f"{only}/") for path in paths)

    if not await database.read(known):
        place = workspace.name or workspace.root
        raise NotFound(f"{only}: there is no such file or folder in {place}, and none is remembered.")
