"""The memorize workflow's steps: one file from its bytes to its rows.

What reads, redacts and extracts is loaded with the first file that needs it, so that a sync that finds nothing new
is quick.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from dataclasses import dataclass, replace

from memu.errors import ReadError
from memu.ingest.document import Document, Source
from memu.ingest.marks import OWN_EXPORT, is_own_export
from memu.ingest.paths import read_source
from memu.memorize.candidate import Candidate
from memu.memorize.extractors.protocol import Extractor
from memu.memorize.states import MemorizeState, Outcome
from memu.records import Kind, Passage, RecallEntry, Resource, State
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session
from memu.storage.words import IndexedPassage, index_passage
from memu.tokens import detect_language, text_key

__all__ = ["Commit", "Extract", "Parse", "Read", "redact_text"]

_HEAD_CHARACTERS = 8000
_LANGUAGE_SAMPLE = 6000


@dataclass(frozen=True, slots=True)
class Read:
    """Read the file's bytes and decode them; a file without text in it is skipped with its reason.

    Raises ReadError when the file is there and cannot be read: it failed, and is tried again.
    """

    max_size: int

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        from memu.ingest.encoding import decode

        data = await asyncio.to_thread(read_source, state.root, state.file.path, max_size=self.max_size)
        state = replace(state, data=data, content_hash=hashlib.sha256(data).hexdigest())
        try:
            decoded = await asyncio.to_thread(decode, data)
        except ReadError as error:
            return replace(state, skipped=str(error))
        if not decoded.text.strip():
            return replace(state, skipped="empty")
        if is_own_export(decoded.text[:_HEAD_CHARACTERS]):
            return replace(state, skipped=OWN_EXPORT)
        return replace(state, text=decoded.text)


async def redact_text(state: MemorizeState) -> MemorizeState:
    """Put marks in the place of secrets, before anything else sees the text."""
    from memu.ingest.redact import redact

    if state.skipped:
        return replace(state, data=b"")
    redacted = await asyncio.to_thread(redact, state.text, path=state.file.path)
    # The raw bytes go too: nothing after this step may see a secret.
    return replace(state, data=b"", text=redacted.text, redactions=redacted.counts)


@dataclass(frozen=True, slots=True)
class Parse:
    """Read the text as a document, cut its passages, and redact once more what its encoding had hidden."""

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        return state if state.skipped else await asyncio.to_thread(self._parse, state)

    def _parse(self, state: MemorizeState) -> MemorizeState:
        from memu.ingest.reader import find_reader
        from memu.ingest.redact import redact
        from memu.memorize.passages import cut_passages

        source = Source(path=state.file.path, text=state.text)
        counts = Counter(state.redactions)

        def clean(text: str) -> str:
            redacted = redact(text, path=state.file.path)
            counts.update(redacted.counts)
            return redacted.text

        document = find_reader(source).read(source).map_text(clean)
        language = detect_language(_sample(document))
        return replace(
            state,
            text="",
            redactions=dict(counts),
            document=document,
            language=language,
            passages=cut_passages(document, state.file.path, language),
        )


@dataclass(frozen=True, slots=True)
class Extract:
    """Find what is worth remembering."""

    extractor: Extractor

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        if state.document is None:
            return state
        extraction = await self.extractor.extract(state.document, state.file.path)
        return replace(state, candidates=extraction.candidates)


@dataclass(frozen=True, slots=True)
class Commit:
    """Replace the source's rows in one transaction; its words are searchable from then on."""

    database: Database

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        entries = tuple(_to_entry(ordinal, each) for ordinal, each in enumerate(state.candidates))
        passages = await asyncio.to_thread(_index, state.passages)
        entry_passages = await asyncio.to_thread(_index, [_entry_passage(entry, state) for entry in entries])
        wanted = _to_resource(state)

        def work(session: Session) -> None:
            _store(session.within(state.scope), wanted, entries, passages, entry_passages)

        await self.database.write(work)
        outcome = Outcome(
            path=state.file.path, state=wanted.state, reason=wanted.reason, redactions=state.redactions
        )
        return replace(state, outcome=outcome)


def _store(
    repository: Repository,
    wanted: Resource,
    entries: tuple[RecallEntry, ...],
    passages: tuple[IndexedPassage, ...],
    entry_passages: tuple[IndexedPassage, ...],
) -> None:
    resource = repository.resources.save(wanted)
    before = [entry.id for entry in repository.entries.of_resource(resource.id)]
    # The pages that rest on this source have to be folded anew: lines, labels and texts may all have moved.
    pages = repository.pages.pages_of_entries(before)
    repository.queue.add(sorted({page for each in pages.values() for page in each}))
    ids = repository.entries.replace(resource.id, entries)
    repository.passages.replace_for_resource(resource.id, passages)
    repository.passages.replace_for_entries(
        resource.id,
        [
            replace(indexed, passage=replace(indexed.passage, entry_id=entry_id))
            for entry_id, indexed in zip(ids, entry_passages, strict=True)
        ],
    )
    repository.workspaces.bump(resource.workspace_id)


def _to_resource(state: MemorizeState) -> Resource:
    from memu.memorize.extractors.captions import caption
    from memu.memorize.facts import facts_of

    document = state.document
    known = Resource(
        id="",
        workspace_id=state.workspace_id,
        path=state.file.path,
        kind=document.kind if document else Kind.DOCUMENT,
        title=document.title if document else state.file.path.rsplit("/", 1)[-1],
        content_hash=state.content_hash,
        size=state.file.size,
        mtime_ns=state.file.mtime_ns,
        state=State.SKIPPED if state.skipped else State.DONE,
        reason=state.skipped,
        tried_at=state.began,
        redactions=state.redactions,
    )
    if document is None:
        return known
    return replace(
        known,
        caption=caption(document),
        language=state.language,
        happened_at=document.happened_at,
        facts=facts_of(document, state.file.path),
    )


def _to_entry(ordinal: int, candidate: Candidate) -> RecallEntry:
    return RecallEntry(
        id="",
        resource_id="",
        ordinal=ordinal,
        memory_type=candidate.memory_type,
        track=candidate.track,
        text=candidate.text,
        text_key=text_key(candidate.text),
        lines=candidate.lines,
        place=candidate.place,
        label=candidate.label,
        block=candidate.block,
        page_hint=candidate.page_hint,
        section=candidate.section,
        happened_at=candidate.happened_at,
    )


def _entry_passage(entry: RecallEntry, state: MemorizeState) -> Passage:
    assert state.document is not None
    header = (state.document.title, entry.label, state.file.path)
    return Passage(
        id="",
        ordinal=0,
        header="\n".join(line for line in header if line),
        text=entry.text,
        heading=entry.label,
        track=entry.track,
        kind=state.document.kind,
        language=state.language,
        lines=entry.lines,
        place=entry.place,
        happened_at=entry.happened_at,
    )


def _index(passages: list[Passage] | tuple[Passage, ...]) -> tuple[IndexedPassage, ...]:
    return tuple(map(index_passage, passages))


def _sample(document: Document) -> str:
    size, pieces = 0, [document.title]
    for block in document.blocks:
        pieces.append(block.text)
        size += len(block.text)
        if size > _LANGUAGE_SAMPLE:
            break
    return "\n".join(pieces)[:_LANGUAGE_SAMPLE]
