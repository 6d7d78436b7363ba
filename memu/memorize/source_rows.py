"""The rows of one source, and the passages of a page: how they are made and replaced, whoever found them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memu.memorize.candidate import Candidate
from memu.memorize.conversation_languages import LANGUAGES, language_at
from memu.memorize.kept_points import KeptPoint
from memu.records import Passage, RecallEntry, RecallFile, Resource, Scope
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session
from memu.storage.words import IndexedPassage, index_passage
from memu.tokens import text_key

__all__ = [
    "append_to_source",
    "entry_passage",
    "index_new",
    "index_passages",
    "page_passages",
    "store_source",
    "to_entry",
]


def store_source(
    repository: Repository,
    wanted: Resource,
    entries: Sequence[RecallEntry],
    passages: Sequence[Passage | IndexedPassage],
    entry_passages: Sequence[IndexedPassage],
) -> Resource:
    """Make these all that is stored of a source; ``entry_passages`` are those of ``entries``, in their order."""
    resource = repository.resources.save(wanted)
    before = repository.entries.of_resource(resource.id)
    # The pages that rest on this source have to be folded anew: lines, labels and texts may all have moved.
    pages = repository.pages.pages_of_entries([entry.id for entry in before])
    repository.queue.add(sorted({page for each in pages.values() for page in each}))
    ids = repository.entries.replace(resource.id, entries, before)
    repository.passages.replace_for_resource(resource.id, passages)
    repository.passages.replace_for_entries(
        resource.id,
        [
            replace(indexed, passage=replace(indexed.passage, entry_id=entry_id))
            for entry_id, indexed in zip(ids, entry_passages, strict=True)
        ],
        first=not before,
    )
    repository.workspaces.bump(resource.workspace_id)
    return resource


def append_to_source(
    repository: Repository,
    wanted: Resource,
    point: KeptPoint,
    entries: Sequence[RecallEntry],
    passages: Sequence[IndexedPassage],
    entry_passages: Sequence[IndexedPassage],
) -> bool:
    """Make these all that is stored of a source behind its kept point; what stands before it is not looked at.

    Returns:
        Whether the rows before the point are as it says; nothing is written where they are not.
    """
    stored = repository.entries.of_resource(wanted.id)
    behind = stored[point.entries :]
    if [each.ordinal for each in stored[: point.entries]] != list(range(point.entries)):
        return False
    if repository.passages.count_of(wanted.id, before=point.passages) != point.passages:
        return False
    resource = repository.resources.save(wanted)
    pages = repository.pages.pages_of_entries([entry.id for entry in behind])
    repository.queue.add(sorted({page for each in pages.values() for page in each}))
    ids = repository.entries.replace(resource.id, entries, behind)
    repository.passages.replace_for_resource(resource.id, passages, since=point.passages)
    repository.passages.replace_for_entries(
        resource.id,
        [
            replace(indexed, passage=replace(indexed.passage, entry_id=entry_id))
            for entry_id, indexed in zip(ids, entry_passages, strict=True)
        ],
        of=[entry.id for entry in behind],
    )
    repository.workspaces.bump(resource.workspace_id)
    return True


def to_entry(ordinal: int, candidate: Candidate) -> RecallEntry:
    """A candidate as it is stored, without ids."""
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
        block=str(candidate.shape),
        page_hint=candidate.page_hint,
        section=candidate.section,
        happened_at=candidate.happened_at,
        origin=candidate.origin,
    )


def entry_passage(entry: RecallEntry, resource: Resource) -> Passage:
    """The passage by which an entry is found, without ids."""
    header = (resource.title, entry.label, resource.path)
    return Passage(
        id="",
        ordinal=0,
        header="\n".join(line for line in header if line),
        text=entry.text,
        heading=entry.label,
        track=entry.track,
        kind=resource.kind,
        language=language_at(resource.facts.get(LANGUAGES), entry.place, resource.language),
        lines=entry.lines,
        place=entry.place,
        happened_at=entry.happened_at,
    )


def page_passages(page: RecallFile, written: Sequence[tuple[str, str]]) -> list[Passage]:
    """What the page is called, and each block that is in a model's words: quotes are found as entries."""
    named = Passage(id="", ordinal=0, header=page.name, text=page.description, heading="", track=page.track)
    blocks = [
        Passage(id="", ordinal=ordinal, header=page.name, text=text, heading=heading, track=page.track)
        for ordinal, (text, heading) in enumerate(written, 1)
    ]
    return [named, *blocks]


async def index_new(
    database: Database, scope: Scope, wanted: Resource, passages: Sequence[Passage], of_entries: Sequence[Passage]
) -> tuple[tuple[Passage | IndexedPassage, ...], tuple[IndexedPassage, ...]]:
    """The passages of a source, those with their terms that it does not have yet; and all those of its entries.

    Of a log that only grew, all but the last few stand already; finding their terms anew would cost most.
    """

    def load(session: Session) -> frozenset[tuple[str, str]]:
        repository = session.within(scope)
        source = repository.resources.by_path(wanted.workspace_id, wanted.path)
        # Of a file never read nothing can stand yet.
        read = source is not None and source.content_hash
        standing = repository.passages.of_resource(source.id) if source is not None and read else ()
        return frozenset((each.header, each.text) for each in standing)

    known = await database.read(load)

    def index() -> tuple[tuple[Passage | IndexedPassage, ...], tuple[IndexedPassage, ...]]:
        # Should one stand in another language or not any more, the store finds its terms on the spot.
        own = tuple(each if (each.header, each.text) in known else index_passage(each) for each in passages)
        return own, index_passages(of_entries)

    return await asyncio.to_thread(index)


def index_passages(passages: Sequence[Passage]) -> tuple[IndexedPassage, ...]:
    """Their terms: some work, to be done before a transaction."""
    return tuple(map(index_passage, passages))
