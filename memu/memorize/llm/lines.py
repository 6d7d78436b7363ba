"""The lines of a document that a model is shown, each knowing where it stands in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.extractors.quotes import locate
from memu.memorize.sentences import cut_pieces, split_sentences
from memu.records import Kind, LineSpan

__all__ = ["Line", "join_span", "read_lines"]

_LONG_LINE = 600
_PIECE = 400
_ANY_WORDS = 10_000
_MOST_ROWS = 20
_MOST_CODE_LINES = 40
_SAID_BY_MODEL = 1200
_PASTED = 1500
_MACHINES = frozenset({"system", "tool", "function", "developer"})
_ASSISTANTS = frozenset({"assistant", "model", "ai", "bot"})
_ROWS = frozenset({BlockKind.TABLE, BlockKind.ROW, BlockKind.LOG_LINE})
_CODE = frozenset({BlockKind.FENCE, BlockKind.CODE, BlockKind.DATA})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One numbered line. ``text`` is the source's, ``prefix`` what is shown in front (``- ``, ``Alice: ``).

    block: its block's index in the document; starts: whether it begins it; offset: where in the block's text.
    lines, place: where it stands in the source. heading, speaker, day: what is known of it besides.
    """

    text: str
    block: int
    kind: BlockKind
    prefix: str = ""
    starts: bool = True
    offset: int = 0
    lines: LineSpan | None = None
    place: str | None = None
    heading: tuple[str, ...] = ()
    speaker: str = ""
    day: str = ""

    @property
    def shown(self) -> str:
        """The line without its number."""
        return f"{self.prefix}{self.text}"


def join_span(lines: Iterable[Line]) -> LineSpan | None:
    """The span from the first to the last source line of these; None where they have none."""
    spans = [line.lines for line in lines if line.lines is not None]
    return LineSpan(min(span.start for span in spans), max(span.end for span in spans)) if spans else None


def read_lines(document: Document) -> Iterator[Line]:
    """The lines in source order; what a program wrote (tool output, long tables) by its beginning only."""
    rows = 0
    for index, block in enumerate(document.blocks):
        rows = rows + 1 if block.kind in _ROWS else 0
        if rows > _MOST_ROWS or (block.kind is BlockKind.TURN and block.role in _MACHINES):
            continue
        yield from _lines_of(document, index, block)


def _lines_of(document: Document, index: int, block: Block) -> Iterator[Line]:
    like = Line(
        text="",
        prefix=_prefix(block),
        block=index,
        kind=block.kind,
        lines=locate(block, 0, 0),
        place=block.place,
        heading=block.heading,
        speaker=block.speaker or "",
        day=block.time.date().isoformat() if block.time else "",
    )
    first = like.lines
    for number, (text, at, offset) in enumerate(_cut_lines(_shorten(document.kind, block))):
        if block.kind in _CODE and number >= _MOST_CODE_LINES:
            return
        span = first
        # Where a text's lines are the source's, the first of them is one line.
        if first is not None and block.lines is not None and first.start == first.end:
            line = min(first.start + at, block.lines.end)
            span = LineSpan(line, line)
        begins = number == 0
        yield replace(
            like, text=text, prefix=like.prefix if begins else "", starts=begins, offset=offset, lines=span
        )


def _shorten(kind: Kind, block: Block) -> str:
    """What a model, or somebody's clipboard, wrote at length, by its beginning."""
    if block.kind is not BlockKind.TURN:
        return block.text
    if block.role in _ASSISTANTS:
        return block.text[:_SAID_BY_MODEL]
    return block.text[:_PASTED] if kind is Kind.SESSION else block.text


def _cut_lines(text: str) -> Iterator[tuple[str, int, int]]:
    """The lines of a text that are not blank, long ones in pieces, each with its line's index and offset."""
    offset = 0
    for at, line in enumerate(text.split("\n")):
        if len(line) > _LONG_LINE:
            yield from ((piece, at, offset) for piece in _pieces(line))
        elif line.strip():
            yield line.rstrip(), at, offset
        offset += len(line) + 1


def _pieces(line: str) -> Iterator[str]:
    """Sentences gathered up to some 400 characters; a longer sentence is cut at clauses or words."""
    held = ""
    for sentence in split_sentences(line):
        if held and len(held) + len(sentence.text) > _PIECE:
            yield held
            held = ""
        if len(sentence.text) > _LONG_LINE:
            yield from (piece.text for piece in cut_pieces(sentence.text, _ANY_WORDS, _PIECE))
        else:
            held = f"{held} {sentence.text}".strip()
    if held:
        yield held


def _prefix(block: Block) -> str:
    if block.kind is BlockKind.HEADING:
        return "#" * max(1, min(block.depth, 6)) + " "
    if block.kind is BlockKind.BULLET:
        return "  " * min(block.depth, 4) + "- "
    if block.kind is BlockKind.STEP:
        return "  " * min(block.depth, 4) + (f"{block.number}. " if block.number is not None else "- ")
    if block.kind is BlockKind.QUOTE:
        return "> "
    who = block.speaker or block.role
    return f"{who}: " if who and block.kind is BlockKind.TURN else ""
