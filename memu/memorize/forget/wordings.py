"""Entries in a model's words and the sentences of sources that say them: each goes with the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from memu.ingest.document import Document
from memu.memorize.forget.carriers import choose_parts, find_strong
from memu.memorize.forget.cited import cite_document, cite_lines, cite_passages
from memu.memorize.forget.forgotten import is_telling
from memu.memorize.forget.source_cuts import SourceCut
from memu.records import Origin, Passage, RecallEntry, Resource
from memu.storage.repository import Repository
from memu.tokens import text_key

__all__ = ["Documents", "find_lines", "find_orphans", "find_same", "find_told"]

Documents = Mapping[str, Document]
"""Sources as they were read when they were stored, by the ids of their resources, where they still can be."""


def find_lines(gone: Iterable[RecallEntry], documents: Documents) -> frozenset[str]:
    """The lines that these entries were folded from, as far as their sources can be read.

    Where nothing else ends a statement, a line does: it is known again by itself, whatever is written around it.
    """
    return frozenset(
        line
        for entry in gone
        if entry.resource_id in documents
        for line in cite_lines(documents[entry.resource_id], entry)
    )


def find_told(repository: Repository, gone: Iterable[RecallEntry], documents: Documents) -> frozenset[str]:
    """The sentences in which sources themselves say what these entries say in a model's words."""
    going: defaultdict[str, list[RecallEntry]] = defaultdict(list)
    for entry in gone:
        going[entry.resource_id].append(entry)
    told: set[str] = set()
    for resource_id, entries in going.items():
        worded = [entry for entry in entries if entry.origin is Origin.MODEL]
        if not worded:
            continue
        ids = {entry.id for entry in entries}
        stay = [each for each in repository.entries.of_resource(resource_id) if each.id not in ids]
        passages = repository.passages.of_resource(resource_id)
        for entry in worded:
            document = documents.get(resource_id)
            cited = cite_passages(passages, entry) if document is None else cite_document(document, entry)
            others = [each.text for each in stay if _meet(each, entry)]
            told |= set(choose_parts(entry.text, cited.parts, others, short=cited.short))
    return frozenset(told)


def find_orphans(
    repository: Repository, cuts: Iterable[SourceCut], gone: Collection[str]
) -> Iterator[RecallEntry]:
    """The entries whose source said them in sentences that are cut: nothing backs them any more."""
    for cut in cuts:
        worded = [
            each
            for each in repository.entries.of_resource(cut.resource.id)
            if each.origin is Origin.MODEL and each.id not in gone
        ]
        if not worded:
            continue
        before = repository.passages.of_resource(cut.resource.id)
        pairs = zip(before, cut.passages, strict=True)
        changed = [(one, after.passage.text) for one, after in pairs if one.text != after.passage.text]
        yield from (entry for entry in worded if _lost(entry, before, changed))


def find_same(
    repository: Repository, gone: Sequence[RecallEntry], resources: Iterable[Resource]
) -> frozenset[str]:
    """The ids of entries of these sources that rest on the very sentences that ``gone`` rests on."""
    going: defaultdict[str, list[RecallEntry]] = defaultdict(list)
    for entry in gone:
        going[entry.resource_id].append(entry)
    said: set[str] = set()
    for resource_id, entries in going.items():
        passages = repository.passages.of_resource(resource_id)
        said |= {key for entry in entries for key in _said_by(entry, passages)}
    found: set[str] = set()
    for resource in resources if said else ():
        passages = repository.passages.of_resource(resource.id)
        keys = [text_key(each.text) for each in passages]
        if not any(one in key for one in said for key in keys):
            continue
        entries_there = repository.entries.of_resource(resource.id)
        found |= {each.id for each in entries_there if not said.isdisjoint(_said_by(each, passages))}
    return frozenset(found)


def _said_by(entry: RecallEntry, passages: Sequence[Passage]) -> frozenset[str]:
    """The keys of the sentences that say an entry; a quote's is its own."""
    if entry.origin is not Origin.MODEL:
        return frozenset({entry.text_key})
    parts = cite_passages(passages, entry).parts
    keys = (text_key(parts[at].text) for at in find_strong(entry.text, parts))
    return frozenset(filter(is_telling, keys))


def _lost(entry: RecallEntry, before: Sequence[Passage], changed: Sequence[tuple[Passage, str]]) -> bool:
    """Whether a sentence that says most of the entry stood in a passage and stands there no more."""
    gone = {
        part.text
        for passage, after in changed
        for part in cite_passages([passage], entry).parts
        if part.text not in after
    }
    if not gone:
        return False
    parts = cite_passages(before, entry).parts
    return any(parts[at].text in gone for at in find_strong(entry.text, parts))


def _meet(one: RecallEntry, other: RecallEntry) -> bool:
    if one.lines is None or other.lines is None:
        return one.place == other.place
    return one.lines.start <= other.lines.end and other.lines.start <= one.lines.end
