"""The first step of sync: which workspace a folder is, found or made."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path

from memu.errors import RootError
from memu.ingest.project_file import read_project_file
from memu.memorize.roots import settle_root
from memu.memorize.states import SyncState
from memu.providers.protocols import Encoder
from memu.records import Scope, SyncRun, Workspace
from memu.storage.database import Database
from memu.storage.engine import store_path
from memu.storage.session import Session

__all__ = ["NamedFolder", "OpenWorkspace", "find_workspace"]


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """Find or make the workspace of the folder and note that a sync begins.

    Raises RootError when the folder is missing or overlaps another, EncoderMismatch when the store's vectors come
    from another encoder; nothing is written then.
    """

    database: Database
    encoder: Encoder | None
    extractor: str

    async def __call__(self, state: SyncState) -> SyncState:
        named = await _look_at(self.database, state)

        def work(session: Session) -> tuple[Workspace, SyncRun]:
            workspace = _settle(session, state.scope, named, self.encoder)
            repository = session.within(state.scope)
            if workspace is None:
                workspace = repository.workspaces.add(name=named.name, root=str(named.root))
            before = repository.workspaces.get(workspace.id)
            if before is not None and before.root != workspace.root:
                # The trees in there have moved along, or are those of the folder that this one is a copy of.
                repository.publications.drop_below(before.root)
            repository.workspaces.save(workspace)
            encoder = self.encoder.identity.name if self.encoder else None
            return workspace, repository.runs.start(workspace.id, extractor=self.extractor, encoder=encoder)

        workspace, run = await self.database.write(work)
        return replace(state, folder=named.root, name=workspace.name, workspace=workspace, run_id=run.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFolder:
    """A folder's real path, the name it is to be known by, and the workspace that it is, if it is one."""

    root: Path
    name: str | None
    holds_store: bool
    store: Path | None = None
    workspace: Workspace | None = None

    def stands(self, root: str) -> bool:
        """Whether a known root is still the folder that this store means.

        A folder that was copied with the store in it has a store of its own where the old one has one too: what
        the copy says of the old folder is then about itself.
        """
        folder = Path(root)
        try:
            if not folder.is_dir():
                return False
            if not self.holds_store or self.store is None or folder == self.root:
                return True
            return not (folder / self.store.relative_to(self.root)).is_file()
        except OSError:
            # Who may not look there cannot say that it is gone.
            return True


async def find_workspace(database: Database, state: SyncState, encoder: Encoder | None) -> NamedFolder:
    """What ``OpenWorkspace`` would open; nothing is written.

    Raises:
        RootError, EncoderMismatch: as the sync itself would.
    """
    named = await _look_at(database, state)
    workspace = await database.read(lambda session: _settle(session, state.scope, named, encoder))
    return replace(named, workspace=workspace, name=workspace.name if workspace else named.name)


async def _look_at(database: Database, state: SyncState) -> NamedFolder:
    root = await asyncio.to_thread(_real_folder, state.folder)
    name = state.name or (await asyncio.to_thread(read_project_file, root)).workspace
    store = store_path(database.url)
    store = store.resolve() if store is not None else None
    return NamedFolder(root=root, name=name, holds_store=store is not None and root in store.parents, store=store)


def _settle(session: Session, scope: Scope, named: NamedFolder, encoder: Encoder | None) -> Workspace | None:
    if encoder is not None:
        session.encoders.check(encoder.identity)
    known = session.within(scope).workspaces.list()
    settled = settle_root(known, named.root, named.name, exists=named.stands, holds_store=named.holds_store)
    return settled.workspace


def _real_folder(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise RootError(f"{folder}: there is no such folder; nothing was changed.") from error
    if not root.is_dir():
        raise RootError(f"{folder} is no folder; give the folder that holds it, or memorize the one file.")
    _require_access(root)
    return root


def _require_access(root: Path) -> None:
    """Make sure that the folder can be listed and what is in it be looked at.

    Raises:
        RootError: it cannot; who is refused knows nothing of what is there, so that nothing may be forgotten.
    """
    try:
        with os.scandir(root):
            # Who may list a folder need not be let in; the dot asks for that, and a Path would drop it.
            os.stat(f"{root}{os.sep}{os.curdir}")  # noqa: PTH116
    except OSError as error:
        raise RootError(f"{root} cannot be read: {error.strerror or error}; nothing was changed.") from error
