"""How many calls a sync makes of chat models: at most, step by step, and about how many.

Files that a model is to read are read and cut as the sync itself does it, so that their chunks are counted and not
guessed. Each prompt may be asked for twice, since a reply may be of no use. Which pages are touched is up to the
model; they are no more than stand, and than it may name (``most_names``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memu.errors import ReadError
from memu.ingest.ignore import IgnoreRules, parse_rules
from memu.ingest.media import find_medium
from memu.ingest.scan import FoundFile
from memu.memorize.extract_step import still_holds
from memu.memorize.extractors.protocol import CountsChunks, Extractor
from memu.memorize.file_steps import Parse, Read, redact_text
from memu.memorize.file_survey import work_of
from memu.memorize.forget.steps import CutForgotten
from memu.memorize.page_bounds import most_names
from memu.memorize.states import MemorizeState, SyncState
from memu.memorize.trust_rules import is_anybodys
from memu.records import Origin, Resource, Track
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["Foreseen", "Foresight"]

# An extractor that does not tell how it cuts: at four bytes a token, as much as is asked about at once.
_BYTES_PER_CHUNK = 16_000
_TRIES = 2
# Of a first sync: what its sources have, once with numbers on the lines and once in part on pages.
_TOKENS_PER_BYTE = 0.43


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """Calls by step, at most; ``likely``: about how many in all, where every reply is of use.

    tokens: about how many their prompts have.
    """

    most: Mapping[str, int] = field(default_factory=dict)
    likely: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pages:
    """What stands before the sync. waits: whether pages were not settled since sources changed.

    written: pages that a model has a part in. queued: those to be folded anyway. unplaced: how many pages the
    entries that stand on none may name. overviews: tracks whose overview is missing.
    """

    standing: int
    written: frozenset[str]
    queued: frozenset[str]
    unplaced: int
    waits: bool
    overviews: int


@dataclass(frozen=True, slots=True)
class Foresight:
    """Looks at what a sync would read, and at the pages, and writes nothing."""

    database: Database
    extractor: Extractor
    max_file_bytes: int

    async def foresee(self, state: SyncState, touched: frozenset[str]) -> Foreseen:
        """The calls of the sync that ``state`` is compared for.

        ``touched``: the ids of the pages that rest on what changes or goes.
        """
        assert state.diff is not None
        pages = await self.database.read(lambda session: _load(session, state))
        chunks, names, new, size = 0, 0, 0, 0
        known = {move.new.path: move.old for move in state.diff.moved}
        added = {file.path for file in state.diff.added}
        untrusted = IgnoreRules(tuple(parse_rules(state.untrusted, "untrusted")))
        for file in work_of(state.diff):
            asked, named = await self._read(state, file, known.get(file.path, file.path), untrusted)
            chunks, names = chunks + asked, names + named
            new += bool(asked) and file.path in added
            size += file.size if asked else 0
        changes = bool(work_of(state.diff) or state.diff.deleted or pages.waits)
        folds = pages.standing + names + pages.unplaced if changes else len(pages.queued & pages.written)
        overviews = (len(Track) if changes or folds else pages.overviews) if state.synthesize else 0
        most = {
            "extract": _TRIES * chunks,
            "names": int(bool(names or (changes and (pages.written or pages.unplaced)))),
            "fold": _TRIES * folds,
            "overview": overviews,
        }
        likely = chunks + len(touched & pages.written) + new + most["overview"]
        return Foreseen(most=most, likely=min(likely, sum(most.values())), tokens=round(_TOKENS_PER_BYTE * size))

    async def _read(self, state: SyncState, file: FoundFile, path: str, untrusted: IgnoreRules) -> tuple[int, int]:
        """How many chunks of a file are asked about, and how many pages may be named for it.

        ``path``: where its row is, which a moved file's is not.
        """
        assert state.workspace is not None
        if find_medium(file.path) is not None:
            # What is seen or heard is read without one.
            return 0, 0
        workspace = state.workspace
        reading = MemorizeState(
            scope=state.scope, workspace_id=workspace.id, root=state.folder, file=file, began=datetime.now(UTC)
        )
        try:
            reading = await Read(self.max_file_bytes)(reading)
            reading = await CutForgotten(self.database)(await Parse()(await redact_text(reading)))
        except ReadError:
            return 0, 0
        document = reading.document
        if document is None:
            return 0, 0
        resource = await self.database.read(
            lambda session: session.within(state.scope).resources.by_path(workspace.id, path)
        )
        trusted = not (untrusted.covers(file.path) or is_anybodys(document.kind, file.path))
        if resource is not None and still_holds(resource, reading, untrusted=not trusted):
            return 0, 0
        if isinstance(self.extractor, CountsChunks):
            chunks = await asyncio.to_thread(self.extractor.count_chunks, document, file.path)
        else:
            chunks = 1 + file.size // _BYTES_PER_CHUNK
        return chunks, most_names(document, chunks)


def _load(session: Session, state: SyncState) -> _Pages:
    repository, workspace = session.within(state.scope), state.workspace
    assert workspace is not None
    stored = repository.workspaces.get(workspace.id)
    pages = [page for page in repository.pages.list() if page.content]
    written = repository.pages.with_origin(Origin.MODEL)
    missing = [
        track
        for track in Track
        if repository.overviews.get(track) is None and any(page.track is track for page in pages)
    ]
    return _Pages(
        standing=len({page.id for page in pages} | {each.file_id for each in repository.queue.list()}),
        written=written,
        queued=frozenset(each.file_id for each in repository.queue.list()),
        unplaced=_count_unplaced(repository, repository.resources.of_workspace(workspace.id)),
        waits=stored is not None and stored.assigned != stored.version,
        overviews=len(missing),
    )


def _count_unplaced(repository: Repository, sources: Sequence[Resource]) -> int:
    """How many pages the model's entries name that stand on none."""
    named: set[tuple[Track, str | None, str]] = set()
    for source in sources:
        entries = [each for each in repository.entries.of_resource(source.id) if each.origin is Origin.MODEL]
        placed = repository.pages.pages_of_entries([each.id for each in entries])
        for entry in entries:
            if not placed.get(entry.id):
                # Without a name the source decides.
                named.add((entry.track, entry.page_hint, "" if entry.page_hint else source.id))
    return len(named)
