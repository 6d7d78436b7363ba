"""One imported text as the rows of a source: redacted, read as Markdown, each of its blocks an entry. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from memu.ingest.disguises import hides_secret, redact_disguised
from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.markdown import MarkdownReader
from memu.ingest.redact import redact
from memu.memorize.candidate import BlockForm, Candidate
from memu.memorize.extractors.quotes import bound, quote_pieces, shape_like
from memu.memorize.forget.cutting import cut_all_passages, cut_document, sift
from memu.memorize.forget.forgotten import Forgotten
from memu.memorize.imports.telling import Told
from memu.memorize.passages import cut_passages
from memu.memorize.sentences import Slice
from memu.memorize.source_rows import entry_passage, index_passages
from memu.records import Kind, Passage, RecallEntry, Resource, State
from memu.storage.words import IndexedPassage
from memu.tokens import detect_language, text_key

__all__ = ["ImportedSource", "make_source"]

_NANOSECONDS = 10**9
_MOST_NANOSECONDS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSource:
    """The rows of one source, its workspace left open."""

    told: Told
    resource: Resource
    entries: tuple[RecallEntry, ...]
    passages: tuple[IndexedPassage, ...]
    entry_passages: tuple[IndexedPassage, ...]


def make_source(told: Told, forgotten: Forgotten) -> ImportedSource:
    """The source of a text, without secrets and without what its scope was told to forget."""
    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        found = redact(text, path=told.path)
        plain = redact_disguised(found.text)
        counts.update(found.counts)
        counts.update(plain.counts)
        return plain.text

    text = clean(told.text)
    whole = _read(replace(told, text=text, title=clean(told.title))).map_text(clean)
    language = detect_language(whole.title + "\n" + text)
    document, passages, was_cut = _cut(whole, told.path, language, forgotten)
    kept = "" if was_cut or hides_secret(text, told.path) else text
    resource = Resource(
        id=told.id,
        workspace_id="",
        path=told.path,
        kind=Kind.DOCUMENT,
        title=document.title,
        content_hash=told.fingerprint,
        size=len(told.text.encode("utf-8")),
        mtime_ns=_nanoseconds(told.created_at),
        state=State.DONE,
        language=language,
        happened_at=told.happened_at,
        redactions=dict(counts),
        facts={"kept": kept, "order": told.order, **({"forgotten": True} if was_cut else {})},
        created_at=told.created_at,
    )
    entries = tuple(_to_entries(told, document, forgotten))
    return ImportedSource(
        told=told,
        resource=resource,
        entries=entries,
        passages=index_passages(passages),
        entry_passages=index_passages([entry_passage(entry, resource) for entry in entries]),
    )


def _cut(
    whole: Document, path: str, language: str | None, forgotten: Forgotten
) -> tuple[Document, tuple[Passage, ...], bool]:
    """The document and its passages without what was forgotten, and whether anything was."""
    if not forgotten:
        return whole, cut_passages(whole, path, language), False
    document = cut_document(whole, path, forgotten)
    uncut = cut_passages(document, path, language)
    passages = cut_all_passages(uncut, path, forgotten)
    return document, passages, document is not whole or passages != uncut


def _read(told: Told) -> Document:
    read = MarkdownReader().read(Source(path=told.path, text=told.text))
    return replace(read, kind=Kind.DOCUMENT, title=told.title, titled=True, happened_at=told.happened_at)


def _to_entries(told: Told, document: Document, forgotten: Forgotten) -> Iterator[RecallEntry]:
    found = [candidate for block in document.blocks for candidate in _quote(told, block)]
    kept = sift(found, forgotten) if forgotten else found
    for ordinal, candidate in enumerate(kept):
        yield RecallEntry(
            id=(told.entry_id or "") if ordinal == 0 else "",
            resource_id="",
            ordinal=ordinal,
            memory_type=told.memory_type,
            track=told.track,
            text=candidate.text,
            text_key=text_key(candidate.text),
            lines=candidate.lines,
            place=candidate.place,
            block=str(candidate.shape),
            section=candidate.section,
            happened_at=told.happened_at,
            created_at=told.created_at,
        )


def _quote(told: Told, block: Block) -> list[Candidate]:
    """The block whole, or in pieces where it is longer than an entry may be."""
    if block.kind is BlockKind.HEADING or not block.text.strip():
        return []
    section = block.heading[-1] if block.heading else None
    like = shape_like(block, Candidate(text="", lines=None, section=section))
    # A fact of memU's is an item of a list; its pages and longer texts keep their own forms.
    if told.entry_id is not None and like.block is BlockForm.PARAGRAPH:
        like = replace(like, block=BlockForm.BULLET)
    if like.block is BlockForm.FENCE:
        return quote_pieces(block, [Slice(block.text, 0, len(block.text))], like)
    return quote_pieces(block, bound(block.text), like)


def _nanoseconds(time: datetime | None) -> int:
    """Since 1970; the ends of what the column holds, some 292 years off, stand for what lies beyond them."""
    found = int(time.timestamp() * _NANOSECONDS) if time else 0
    return min(max(found, -_MOST_NANOSECONDS), _MOST_NANOSECONDS)
