"""The settle step of sync: what can be done to sources at once, without reading a file, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from memu.ingest.scan import FoundFile
from memu.memorize.file_survey import nanoseconds, work_of
from memu.memorize.forget.copies import find_copies
from memu.memorize.states import SyncState
from memu.records import FileProblem, Kind, Resource, State
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["SettleFiles", "explain_hidden", "new_resource", "remove_sources", "remove_workspace"]


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
            repository.tombstones.add(
                find_copies(
                    repository, workspace, [(known[each.old].content_hash, each) for each in compared.moved]
                )
            )
            _move(repository, [(known[move.old].id, move.old, move.new.path) for move in compared.moved])
            repository.resources.restat(
                [(known[file.path].id, *file[1:]) for file in compared.restated],
                nanoseconds(began),
            )
            stored = {*known, *(each.new.path for each in compared.moved)}
            _note(repository, workspace.id, work_of(compared), stored)
            reasons = explain_hidden(state.scan.unlistable if state.scan else ())
            for path in compared.out_of_sight:
                _mark_hidden(repository, workspace.id, path, reasons)

        await self.database.write(work)
        return state


def remove_sources(repository: Repository, workspace_id: str, ids: Sequence[str]) -> None:
    """Remove sources of a workspace; the pages that rested on them are queued, to be folded anew."""
    for resource_id in ids:
        _queue_pages(repository, resource_id)
    repository.resources.remove(ids)
    if ids:
        repository.workspaces.bump(workspace_id)


def remove_workspace(repository: Repository, workspace_id: str) -> None:
    """Remove a workspace with its sources; the pages that rested on them are queued, to be folded anew."""
    for resource in repository.resources.of_workspace(workspace_id):
        _queue_pages(repository, resource.id)
    repository.workspaces.remove(workspace_id)


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


def _queue_pages(repository: Repository, resource_id: str) -> None:
    entries = [entry.id for entry in repository.entries.of_resource(resource_id)]
    pages = repository.pages.pages_of_entries(entries)
    repository.queue.add(sorted({page for each in pages.values() for page in each}))


def _note(repository: Repository, workspace_id: str, files: Iterable[FoundFile], stored: Collection[str]) -> None:
    """Note files as pending. What is not among the paths ``stored`` is new."""
    new: list[FoundFile] = []
    for file in files:
        if file.path in stored:
            _mark_pending(repository, workspace_id, file)
        else:
            new.append(file)
    repository.resources.add(replace(new_resource(workspace_id, file), state=State.PENDING) for file in new)


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
    if known.state not in (State.FAILED, State.PARTIAL):
        repository.resources.save(replace(known, state=State.PENDING, reason=None))


def explain_hidden(problems: Sequence[FileProblem]) -> Callable[[str], str]:
    """What tells of a path below one that could not be listed why it cannot be looked at."""

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
