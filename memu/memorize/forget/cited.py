"""What stands in the lines that an entry cites: exactly from the source as it is read, else from its passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memu.errors import ReadError
from memu.ingest.document import Block, BlockKind, Document
from memu.ingest.scan import FoundFile
from memu.memorize.extractors.quotes import locate
from memu.memorize.file_steps import Parse, Read, redact_text
from memu.memorize.forget.carriers import Part
from memu.memorize.forget.cutting import cut_document
from memu.memorize.forget.forgotten import Forgotten, is_telling
from memu.memorize.forget.marked_blocks import list_lines
from memu.memorize.sentences import Slice, split_lines, split_sentences
from memu.memorize.states import MemorizeState
from memu.records import LineSpan, Passage, RecallEntry, Resource, Scope, Workspace
from memu.tokens import text_key

__all__ = ["Cited", "cite_document", "cite_lines", "cite_passages", "is_folded", "read_stored"]

_SHORT_LINES, _SHORT_PARTS = 2, 3
_LINES_OF_A_SENTENCE = 4
_LINE_KINDS = frozenset(
    {BlockKind.FENCE, BlockKind.CODE, BlockKind.TABLE, BlockKind.ROW, BlockKind.LOG_LINE, BlockKind.DATA}
)


@dataclass(frozen=True, slots=True)
class Cited:
    """Sentences, or lines where lines matter, each whole. ``short``: one or two lines of up to three sentences."""

    parts: tuple[Part, ...] = ()
    short: bool = False


async def read_stored(
    scope: Scope, workspace: Workspace, resource: Resource, forgotten: Forgotten
) -> Document | None:
    """The source as it was read when it was stored; None where the file is gone, changed or not to be read."""
    state = MemorizeState(
        scope=scope,
        workspace_id=workspace.id,
        root=Path(workspace.root),
        file=FoundFile(path=resource.path, size=resource.size, mtime_ns=resource.mtime_ns),
        began=datetime.now(UTC),
    )
    try:
        state = await Read(resource.size)(state)
    except ReadError:
        return None
    if state.skipped or state.content_hash != resource.content_hash:
        return None
    document = (await Parse()(await redact_text(state))).document
    return None if document is None else cut_document(document, resource.path, forgotten)


def cite_document(document: Document, entry: RecallEntry) -> Cited:
    """What stands in an entry's lines. A sentence that runs on into other lines is cited whole."""
    parts: list[Part] = []
    lines = 0
    for block in document.blocks:
        if entry.lines is None:
            found = _units_of(block) if entry.place is None or block.place == entry.place else ()
        else:
            found = tuple(unit for unit in _units_of(block) if _meets(block, unit, entry.lines))
            lines += sum(_meets(block, line, entry.lines) for line in split_lines(block.text))
        parts += (Part(unit.text, heading=block.kind is BlockKind.HEADING) for unit in found)
    few = entry.lines is not None and entry.lines.end - entry.lines.start < _SHORT_LINES
    return Cited(tuple(parts), short=few and lines <= _SHORT_LINES and len(parts) <= _SHORT_PARTS)


def is_folded(entry: RecallEntry) -> bool:
    """Whether an entry's text is from several lines and does not tell where they end."""
    return entry.lines is not None and entry.lines.end > entry.lines.start and "\n" not in entry.text


def cite_lines(document: Document, entry: RecallEntry) -> frozenset[str]:
    """The lines of the file that an entry in its source's words was folded from."""
    span = entry.lines
    if span is None or not is_folded(entry):
        return frozenset()
    return frozenset(
        text
        for block in document.blocks
        for text, first, last in list_lines(block)
        if first <= span.end and span.start <= last and text in entry.text and is_telling(text_key(text))
    )


def cite_passages(passages: Sequence[Passage], entry: RecallEntry) -> Cited:
    """What may stand in an entry's lines, as far as stored passages tell: they know where they begin and end."""
    found = (
        Part(unit.text)
        for passage in passages
        for unit in _units(passage.text, by_line=False)
        if _may_stand(passage, unit, entry)
    )
    return Cited(tuple(found))


def _meets(block: Block, unit: Slice, lines: LineSpan) -> bool:
    span = locate(block, unit.start, unit.end)
    return span is not None and span.start <= lines.end and lines.start <= span.end


def _may_stand(passage: Passage, unit: Slice, entry: RecallEntry) -> bool:
    if entry.lines is None or passage.lines is None:
        return entry.place is None or passage.place == entry.place
    first, last = passage.lines.start, passage.lines.end
    if not (first <= entry.lines.end and entry.lines.start <= last):
        return False
    breaks = passage.text.count("\n")
    if breaks > last - first:
        return True
    # Headings that stand in its header, and items that are drawn together, leave some room.
    earliest = first + passage.text.count("\n", 0, unit.start)
    latest = last - passage.text.count("\n", unit.end)
    return earliest <= entry.lines.end and entry.lines.start <= latest


def _units_of(block: Block) -> tuple[Slice, ...]:
    return tuple(_units(block.text, by_line=block.kind in _LINE_KINDS))


def _units(text: str, *, by_line: bool) -> Iterator[Slice]:
    if by_line:
        yield from split_lines(text)
        return
    for sentence in split_sentences(text):
        # A list or a verse without a full stop is one long sentence; there it is the lines that say.
        if sentence.text.count("\n") < _LINES_OF_A_SENTENCE - 1:
            yield sentence
        else:
            for line in split_lines(sentence.text):
                yield Slice(line.text, sentence.start + line.start, sentence.start + line.end)
