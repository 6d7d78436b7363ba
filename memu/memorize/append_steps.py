"""The append workflow's steps: a log that only grew is known by its beginning, and its new turns are added.

Whatever does not fit leaves the state as it is, and the log is read anew. What is stored equals a full reading.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from memu.errors import ReadError
from memu.memorize.file_survey import nanoseconds
from memu.memorize.file_work import Carry
from memu.memorize.kept_points import Grown, KeptPoint, read_kept_point
from memu.memorize.source_rows import append_to_source, entry_passage, index_passages
from memu.memorize.states import AppendState, MemorizeState, Outcome
from memu.records import RecallEntry, Resource, State
from memu.storage.database import Database
from memu.storage.session import Session
from memu.workflow import Step, Workflow

__all__ = ["AppendFirst", "AppendTurns", "MeetLog", "append_workflow", "read_turns"]

S = TypeVar("S")

_LEAST_BYTES = 1 << 16
_MOST_BYTES = 8 << 20
_GIVEN = ("scope", "workspace_id", "root", "file", "began", "untrusted")


def append_workflow(database: Database, max_size: int) -> Workflow[AppendState]:
    """The workflow that adds a log's new turns to what stands of it."""
    given = ["scope", "workspace_id", "root", "file", "untrusted"]
    steps = [
        Step("meet", MeetLog(database, max_size), given, ["grown"]),
        Step("read", read_turns, ["grown"], ["added"]),
        Step("commit", AppendTurns(database), [*given, "began", "grown", "added"], ["outcome"]),
    ]
    return Workflow("append", AppendState, _GIVEN, steps)


@dataclass(frozen=True, slots=True)
class AppendFirst:
    """Carries states as ``carry`` does; a file that may be a grown log is tried by append before memorize."""

    carry: Carry

    async def __call__(self, name: str, state: S) -> S:
        # Smaller logs are read at once, and have no kept point.
        if name == "memorize" and isinstance(state, MemorizeState) and state.file.size >= _LEAST_BYTES:
            tried = AppendState(**{each: getattr(state, each) for each in _GIVEN})
            outcome = (await self.carry("append", tried)).outcome
            if outcome is not None:
                return cast(S, replace(state, outcome=outcome))
        return await self.carry(name, state)


@dataclass(frozen=True, slots=True)
class MeetLog:
    """Find the log's kept point, and hold the file's beginning against it; what comes behind is read.

    ``max_size``: a log of more bytes is read as a stream.
    """

    database: Database
    max_size: int

    async def __call__(self, state: AppendState) -> AppendState:
        known = await self.database.read(lambda session: _look_up(session, state))
        if known is None:
            return state
        resource, point, entries = known
        large = state.file.size > self.max_size
        trusted_alike = bool(resource.facts.get("untrusted")) is state.untrusted
        if not trusted_alike or (point.path, point.large) != (state.file.path, large):
            return state
        grown = await asyncio.to_thread(self._read, state, resource, point, entries)
        return replace(state, grown=grown)

    def _read(
        self, state: AppendState, resource: Resource, point: KeptPoint, entries: tuple[RecallEntry, ...]
    ) -> Grown | None:
        from memu.ingest.log_heads import is_plain, read_tail
        from memu.ingest.sessions.shrinking import shrink_log

        try:
            tail = read_tail(state.root, state.file.path, point.head, most=_MOST_BYTES)
        except ReadError:
            return None
        if tail is None or (not point.large and (tail.size > self.max_size or not is_plain(tail.data))):
            return None
        text = shrink_log([tail.data]).text if point.large else tail.data.decode().replace("\r\n", "\n")
        return Grown(resource=resource, point=point, entries=entries, tail=tail, text=text)


def _look_up(session: Session, state: AppendState) -> tuple[Resource, KeptPoint, tuple[RecallEntry, ...]] | None:
    """The source, its point and the entries before it. Where anything was forgotten, cutting needs the whole."""
    repository = session.within(state.scope)
    resource = repository.resources.by_path(state.workspace_id, state.file.path)
    point = read_kept_point(resource.facts) if resource is not None else None
    if resource is None or point is None or resource.state not in (State.PENDING, State.DONE):
        return None
    if repository.tombstones.list():
        return None
    return resource, point, repository.entries.of_resource(resource.id)[: point.entries]


async def read_turns(state: AppendState) -> AppendState:
    """Read and redact what was written, and find what is worth remembering of it."""
    from memu.memorize.log_appending import add_turns

    if state.grown is None:
        return state
    return replace(state, added=await asyncio.to_thread(add_turns, state.grown))


@dataclass(frozen=True, slots=True)
class AppendTurns:
    """Put the new turns' rows behind the kept point in one transaction, if the source is still as it was met."""

    database: Database

    async def __call__(self, state: AppendState) -> AppendState:
        grown, added, file = state.grown, state.added, state.file
        if grown is None or added is None:
            return state
        passages = await asyncio.to_thread(index_passages, added.passages)
        own = [entry_passage(entry, added.resource) for entry in added.entries]
        entry_passages = await asyncio.to_thread(index_passages, own)
        wanted = replace(
            added.resource,
            size=file.size,
            mtime_ns=file.mtime_ns,
            stamp=file.stamp,
            seen_ns=nanoseconds(state.began),
            tried_at=state.began,
            state=State.DONE,
            reason=None,
            attempts=0,
        )

        def work(session: Session) -> bool:
            met = _look_up(session, state)
            if met is None or (met[0].id, met[0].content_hash) != (grown.resource.id, grown.resource.content_hash):
                return False
            repository = session.within(state.scope)
            stored = append_to_source(repository, wanted, grown.point, added.entries, passages, entry_passages)
            if stored:
                repository.replies.drop_for_resource(wanted.id)
            return stored

        if not await self.database.write(work):
            return state
        ended = Outcome(path=wanted.path, state=wanted.state, redactions=wanted.redactions)
        return replace(state, outcome=replace(ended, damage=wanted.facts.get("damage", {})))
