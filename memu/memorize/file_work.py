"""The later steps of sync: memorize each file, assign, fold each page, embed, export, report.

The first four run workflows of their own, through ``carry``, so that each can be listed, replaced and watched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from memu.errors import BusyError, CapReached, ConfigurationError, MemuError, ReadError, StoreError
from memu.ingest.ignore import IgnoreRules, parse_rules
from memu.ingest.paths import hash_source
from memu.ingest.scan import FoundFile
from memu.memorize.file_survey import nanoseconds, work_of
from memu.memorize.settlement import new_resource
from memu.memorize.states import EmbedState, FoldState, MemorizeState, Outcome, SyncState
from memu.providers.meter import Meter
from memu.records import ExportReport, FileProblem, PageChanges, Scope, State, Workspace
from memu.storage.database import Database
from memu.storage.queue import QueuedPage
from memu.storage.session import Session

__all__ = ["Carry", "EmbedScope", "ExportTree", "FoldPages", "MemorizeFiles", "find_unpatched"]

S = TypeVar("S")
Item = TypeVar("Item")
Result = TypeVar("Result")

_FOLD_TRIES = 5
# While so many calls are waited for, as many files or pages again are read, checked or stored.
_AHEAD = 2


class Carry(Protocol):
    """Runs the workflow of a name on a state."""

    async def __call__(self, name: str, state: S) -> S:
        """The state after the last step."""


@dataclass(frozen=True, slots=True)
class MemorizeFiles:
    """Run the memorize workflow for each file to be read, some at once; one that fails stops no other.

    import_later: imports what later steps need. Once a first file is done it is called beside the others, while
    models are waited for.
    """

    database: Database
    carry: Carry
    concurrency: int
    import_later: Callable[[], None] | None = None

    async def __call__(self, state: SyncState) -> SyncState:
        assert state.diff is not None
        untrusted = IgnoreRules(tuple(parse_rules(state.untrusted, "untrusted")))
        first_done = asyncio.Event()

        async def one(file: FoundFile) -> Outcome:
            outcome = await self._memorize(state, file, untrusted=untrusted.covers(file.path))
            first_done.set()
            return outcome

        files = work_of(state.diff)
        importing = asyncio.ensure_future(self._import_after(first_done))
        try:
            return replace(state, outcomes=await _each(files, _AHEAD * self.concurrency, one))
        finally:
            importing.cancel()
            await asyncio.gather(importing, return_exceptions=True)

    async def _import_after(self, first_done: asyncio.Event) -> None:
        await first_done.wait()
        if self.import_later is not None:
            await asyncio.to_thread(self.import_later)

    async def _memorize(self, state: SyncState, file: FoundFile, *, untrusted: bool) -> Outcome:
        workspace, began = state.workspace, state.began
        assert workspace is not None
        assert began is not None
        try:
            done = await self.carry(
                "memorize",
                MemorizeState(
                    scope=state.scope,
                    workspace_id=workspace.id,
                    root=state.folder,
                    file=file,
                    began=began,
                    untrusted=untrusted,
                    offered=state.offered,
                    meter=state.meter,
                ),
            )
        except CapReached as cap:
            return Outcome(path=file.path, state=State.PENDING, reason=str(cap))
        except (StoreError, BusyError, ConfigurationError):
            raise
        except Exception as error:  # noqa: BLE001
            # One file, however odd, stops no other: what happened is stored, shown and counted, and tried again.
            return await self._record_failure(state.scope, workspace, file, _reason_of(error), began)
        assert done.outcome is not None
        return done.outcome

    async def _record_failure(
        self, scope: Scope, workspace: Workspace, file: FoundFile, reason: str, began: datetime
    ) -> Outcome:
        content_hash = await asyncio.to_thread(_hash, Path(workspace.root), file.path)

        def work(session: Session) -> None:
            resources = session.within(scope).resources
            known = resources.by_path(workspace.id, file.path) or new_resource(workspace.id, file)
            resources.save(
                replace(
                    known,
                    content_hash=content_hash,
                    size=file.size,
                    mtime_ns=file.mtime_ns,
                    stamp=file.stamp,
                    seen_ns=nanoseconds(began),
                    state=State.FAILED,
                    reason=reason,
                    attempts=known.attempts + 1,
                    tried_at=began,
                )
            )

        await self.database.write(work)
        return Outcome(path=file.path, state=State.FAILED, reason=reason, unread=True)


@dataclass(frozen=True, slots=True)
class FoldPages:
    """Run the fold workflow for each queued page, again where somebody else saved it meanwhile."""

    database: Database
    carry: Carry
    concurrency: int

    async def __call__(self, state: SyncState) -> SyncState:
        folded = await self.fold(state.scope, state.meter, insist=state.retry_failed)
        unpatched = (*state.unpatched, *find_unpatched(folded))
        return replace(state, pages=_gather_changes(folded), unpatched=unpatched)

    async def fold(self, scope: Scope, meter: Meter, *, insist: bool = False) -> tuple[FoldState, ...]:
        """Fold everything that is queued in a scope; how each page ended.

        ``insist``: ask models again now that failed.
        """
        queued = await self.database.read(lambda session: session.within(scope).queue.list())
        return await _each(queued, _AHEAD * self.concurrency, partial(self._fold, scope, meter, insist))

    async def _fold(self, scope: Scope, meter: Meter, insist: bool, queued: QueuedPage) -> FoldState:
        state = FoldState(scope=scope, file_id=queued.file_id, ticket=queued.ticket, meter=meter, insist=insist)
        for _ in range(_FOLD_TRIES):
            done = await self.carry("fold", state)
            if done.saved:
                break
        # A page that others keep changing stays queued; the next sync folds it.
        return done


@dataclass(frozen=True, slots=True)
class EmbedScope:
    """Run the embed workflow: vectors for what has none."""

    carry: Carry

    async def __call__(self, state: SyncState) -> SyncState:
        embedding = EmbedState(scope=state.scope, meter=state.meter, degraded=state.degraded)
        done = await self.carry("embed", embedding)
        return replace(state, vectors_missing=done.missing, degraded=done.degraded)


@dataclass(frozen=True, slots=True)
class ExportTree:
    """Publish the scope's tree, unless neither store nor tree changed since the last time."""

    export: Callable[[Scope, Path], Awaitable[ExportReport | None]]

    async def __call__(self, state: SyncState) -> SyncState:
        return replace(state, export=await self.export(state.scope, state.folder))


def find_unpatched(folded: Sequence[FoldState]) -> tuple[FileProblem, ...]:
    """The pages that were to be worded by a model and are not, each with the reason."""
    left = ((_name_of(page), page.failed) for page in folded)
    return tuple(FileProblem(path=name, reason=failed) for name, failed in left if failed is not None)


def _reason_of(error: Exception) -> str:
    """What is said of a file that failed. Of an error that is not memu's only its kind and place: it may quote."""
    if isinstance(error, MemuError):
        return str(error)
    notes = (note for note in getattr(error, "__notes__", ()) if note.startswith(("in step ", "in interceptor ")))
    place = next(notes, "while reading it").removesuffix(" of workflow 'memorize'")
    return f"{type(error).__name__} {place}"


async def _each(
    items: Sequence[Item], limit: int, work: Callable[[Item], Awaitable[Result]]
) -> tuple[Result, ...]:
    """``work`` on every item, at most ``limit`` at once; results in the order of the items."""
    gate = asyncio.Semaphore(limit)

    async def one(item: Item) -> Result:
        async with gate:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return tuple(await asyncio.gather(*tasks))
    finally:
        # The first error goes on as it is; what still runs is not left behind.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _hash(root: Path, path: str) -> str:
    """The hash of what failed, so that it is tried again when it is due and not at each look; "" if unreadable."""
    try:
        return hash_source(root, path)
    except ReadError:
        return ""


def _gather_changes(folded: Sequence[FoldState]) -> PageChanges:
    names: dict[str, list[str]] = {"created": [], "changed": [], "removed": []}
    for state in folded:
        if state.change and state.page:
            names[state.change].append(_name_of(state))
    return PageChanges(**{change: tuple(sorted(listed)) for change, listed in names.items()})


def _name_of(state: FoldState) -> str:
    """The page as ``track/name``."""
    return f"{state.page.track.value}/{state.name or state.page.name}" if state.page else state.name
