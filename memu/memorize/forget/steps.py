"""Where forgetting meets the workflows: memorize's step that cuts, and sync's that passes files over."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from memu.memorize.forget.forgotten import REASON, Forgotten, read_forgotten
from memu.memorize.states import MemorizeState, SyncState
from memu.records import FileProblem, Workspace
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["CutForgotten", "PassOverForgotten"]


@dataclass(frozen=True, slots=True)
class CutForgotten:
    """Put marks in the place of what the scope was told to forget; a file that was itself forgotten is skipped."""

    database: Database

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        if state.document is None:
            return state
        forgotten, workspace = await self.database.read(partial(_look, state))
        if not forgotten:
            return state
        if workspace is not None and forgotten.covers_content(state.content_hash, workspace, state.file.path):
            return replace(state, forgotten=forgotten, skipped=REASON, document=None, passages=())
        return await asyncio.to_thread(_cut, replace(state, forgotten=forgotten))


def _look(state: MemorizeState, session: Session) -> tuple[Forgotten, Workspace | None]:
    repository = session.within(state.scope)
    forgotten = read_forgotten(repository)
    return forgotten, repository.workspaces.get(state.workspace_id) if forgotten else None


def _cut(state: MemorizeState) -> MemorizeState:
    # Loaded here, for few scopes ever forget anything.
    from memu.memorize.forget.cutting import cut_all_passages, cut_document
    from memu.memorize.passages import cut_passages

    assert state.document is not None
    path, forgotten = state.file.path, state.forgotten
    document = cut_document(state.document, path, forgotten)
    whole = state.passages if document is state.document else cut_passages(document, path, state.language)
    return replace(state, document=document, passages=cut_all_passages(whole, path, forgotten))


@dataclass(frozen=True, slots=True)
class PassOverForgotten:
    """Leave out the files that the scope was told to forget."""

    database: Database

    async def __call__(self, state: SyncState) -> SyncState:
        scan, workspace = state.scan, state.workspace
        assert scan is not None
        assert workspace is not None
        forgotten = await self.database.read(lambda session: read_forgotten(session.within(state.scope)))
        if not forgotten:
            return state
        gone = {file.path for file in scan.files if forgotten.covers_path(workspace, file.path)}
        if not gone:
            return state
        skipped = (*scan.skipped, *(FileProblem(path=path, reason=REASON) for path in gone))
        return replace(
            state,
            scan=replace(
                scan,
                files=tuple(file for file in scan.files if file.path not in gone),
                skipped=tuple(sorted(skipped, key=lambda problem: problem.path)),
            ),
        )
