"""The first steps of sync: open the workspace, scan its folder, compare with the rows, settle what can be at once.

Nothing is awaited inside a transaction. What a crash leaves undone shows in rows (pending sources, a workspace
whose ``assigned`` lags behind its ``version``, the fold queue, passages without vectors); the next sync does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from memu.errors import RootError
from memu.ingest.diff import Diff, KnownFile, diff
from memu.ingest.paths import hash_source
from memu.ingest.project_file import read_project_file
from memu.ingest.scan import FoundFile, Scan, ScanRules, scan
from memu.memorize.retries import is_due
from memu.memorize.roots import settle_root
from memu.memorize.states import SyncState
from memu.providers.protocols import Encoder
from memu.records import Kind, Resource, Scope, State, SyncRun, Workspace
from memu.storage.database import Database
from memu.storage.engine import store_path
from memu.storage.repository import Repository
from memu.storage.resources import KnownResource
from memu.storage.session import Session

__all__ = [
    "CompareFiles",
    "NamedFolder",
    "OpenWorkspace",
    "ScanFolder",
    "SettleFiles",
    "find_workspace",
    "new_resource",
    "remove_sources",
    "remove_workspace",
    "work_of",
]


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
    workspace: Workspace | None = None


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
    return NamedFolder(root=root, name=name, holds_store=store is not None and root in store.resolve().parents)


def _settle(session: Session, scope: Scope, named: NamedFolder, encoder: Encoder | None) -> Workspace | None:
    if encoder is not None:
        session.encoders.check(encoder.identity)
    known = session.within(scope).workspaces.list()
    settled = settle_root(known, named.root, named.name, exists=_is_folder, holds_store=named.holds_store)
    return settled.workspace


@dataclass(frozen=True, slots=True)
class ScanFolder:
    """List the folder once: what is there, what is left out and why."""

    outputs: tuple[Path, ...]
    max_size: int

    async def __call__(self, state: SyncState) -> SyncState:
        began = datetime.now(UTC)
        project = await asyncio.to_thread(read_project_file, state.folder)
        rules = ScanRules(project_ignore=project.ignore, outputs=self.outputs, max_size=self.max_size)
        found = await asyncio.to_thread(scan, state.folder, rules)
        return replace(state, began=began, scan=_narrow(found, state.only))


@dataclass(frozen=True, slots=True)
class CompareFiles:
    """Compare with the rows: added, changed, moved, gone, to be tried again."""

    database: Database

    async def __call__(self, state: SyncState) -> SyncState:
        workspace, found, began = state.workspace, state.scan, state.began
        assert workspace is not None
        assert found is not None
        assert began is not None
        rows = await self.database.read(lambda session: session.within(state.scope).resources.known(workspace.id))
        rows = {path: row for path, row in rows.items() if _covers(state.only, path)}
        if rows and not found.files and not found.unlistable and state.only is None and not state.allow_empty:
            raise RootError(
                f"{state.folder} holds no source any more, but {len(rows)} are stored. If they are really gone, "
                "sync with --allow-empty; nothing was changed."
            )
        known = {path: _to_known(row) for path, row in rows.items()}

        def due(path: str, _known: KnownFile) -> bool:
            return state.retry_failed or is_due(rows[path].attempts, rows[path].tried_at, began)

        compared = await asyncio.to_thread(
            diff,
            found.files,
            known,
            partial(hash_source, state.folder),
            int(began.timestamp() * 1e9),
            unlistable=found.unlistable,
            is_due=due,
        )
        return replace(state, diff=compared if state.removals else replace(compared, deleted=()))


@dataclass(frozen=True, slots=True)
class SettleFiles:
    """Apply what needs no reading in one transaction: moves, removals, new times; the rest is noted as pending."""

    database: Database

    async def __call__(self, state: SyncState) -> SyncState:
        compared, workspace, began = state.diff, state.workspace, state.began
        assert compared is not None
        assert workspace is not None
        assert began is not None
        if not (work_of(compared) or compared.deleted or compared.restated or compared.out_of_sight):
            return state

        def work(session: Session) -> None:
            repository = session.within(state.scope)
            known = repository.resources.known(workspace.id)
            remove_sources(repository, workspace.id, [known[path].id for path in compared.deleted])
            _move(repository, [(known[move.old].id, move.old, move.new.path) for move in compared.moved])
            repository.resources.restat(
                [(known[file.path].id, file.size, file.mtime_ns) for file in compared.restated], began
            )
            for file in work_of(compared):
                _mark_pending(repository, workspace.id, file)
            reasons = _hidden_reasons(state)
            for path in compared.out_of_sight:
                _mark_hidden(repository, workspace.id, path, reasons)

        await self.database.write(work)
        return state


def _real_folder(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise RootError(f"{folder}: there is no such folder; nothing was changed.") from error
    if not root.is_dir():
        raise RootError(f"{folder} is no folder; give the folder that holds it, or memorize the one file.")
    return root


def _is_folder(path: str) -> bool:
    return Path(path).is_dir()


def _covers(only: str | None, path: str) -> bool:
    return only is None or path == only or path.startswith(only.rstrip("/") + "/")


def _narrow(found: Scan, only: str | None) -> Scan:
    if only is None:
        return found
    return Scan(
        files=tuple(file for file in found.files if _covers(only, file.path)),
        skipped=tuple(problem for problem in found.skipped if _covers(only, problem.path.rstrip("/"))),
        unlistable=found.unlistable,
    )


def _to_known(row: KnownResource) -> KnownFile:
    return KnownFile(
        size=row.size,
        mtime_ns=row.mtime_ns,
        content_hash=row.content_hash,
        seen_ns=int(row.tried_at.timestamp() * 1e9) if row.tried_at else 0,
        state=row.state,
    )


def work_of(compared: Diff) -> tuple[FoundFile, ...]:
    """The files to be read. A moved one is among them: its passages bear its path."""
    moved = tuple(move.new for move in compared.moved)
    files = (*compared.added, *compared.modified, *compared.again, *moved)
    return tuple(sorted(files, key=lambda file: file.path))


def remove_sources(repository: Repository, workspace_id: str, ids: Sequence[str]) -> None:
    """Remove sources of a workspace; the pages that rested on them are queued, to be folded anew."""
    for resource_id in ids:
        _queue_pages(repository, resource_id)
    repository.resources.remove(ids)
    if ids:
        repository.workspaces.bump(workspace_id)


def _move(repository: Repository, moves: Sequence[tuple[str, str, str]]) -> None:
    left = {old for _, old, _ in moves}
    for resource_id, _, _ in moves:
        _queue_pages(repository, resource_id)
    if any(new in left for _, _, new in moves):
        # One file takes the place of another that moves too: all step aside first. No stored path is absolute.
        for resource_id, _, _ in moves:
            repository.resources.move(resource_id, f"/moving/{resource_id}")
    for resource_id, _, new in moves:
        repository.resources.move(resource_id, new)


def remove_workspace(repository: Repository, workspace_id: str) -> None:
    """Remove a workspace with its sources; the pages that rested on them are queued, to be folded anew."""
    for resource in repository.resources.of_workspace(workspace_id):
        _queue_pages(repository, resource.id)
    repository.workspaces.remove(workspace_id)


def _queue_pages(repository: Repository, resource_id: str) -> None:
    entries = [entry.id for entry in repository.entries.of_resource(resource_id)]
    pages = repository.pages.pages_of_entries(entries)
    repository.queue.add(sorted({page for each in pages.values() for page in each}))


def new_resource(workspace_id: str, file: FoundFile) -> Resource:
    return Resource(
        id="",
        workspace_id=workspace_id,
        path=file.path,
        kind=Kind.DOCUMENT,
        title=file.path.rsplit("/", 1)[-1],
    )


def _mark_pending(repository: Repository, workspace_id: str, file: FoundFile) -> None:
    known = repository.resources.by_path(workspace_id, file.path) or new_resource(workspace_id, file)
    if known.state is not State.FAILED:
        repository.resources.save(replace(known, state=State.PENDING, reason=None))


def _hidden_reasons(state: SyncState) -> Callable[[str], str]:
    assert state.scan is not None
    problems = state.scan.unlistable

    def reason(path: str) -> str:
        return next(
            (p.reason for p in problems if path == p.path or (p.path.endswith("/") and path.startswith(p.path))),
            "out of sight",
        )

    return reason


def _mark_hidden(repository: Repository, workspace_id: str, path: str, reason: Callable[[str], str]) -> None:
    known = repository.resources.by_path(workspace_id, path)
    if known is not None:
        repository.resources.save(replace(known, state=State.FAILED, reason=reason(path)))
