"""The lines of a document that a model is shown, each knowing where it stands in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.extractors.own_words import bears_mark
from memu.memorize.extractors.quotes import locate, locate_words
from memu.memorize.sentences import Slice, cut_pieces, split_sentences
from memu.records import Kind, LineSpan

__all__ = ["Line", "explain_width", "join_span", "read_lines"]

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


def explain_width(lines: Sequence[Line], most: int) -> tuple[str, str] | None:
    """Why one statement cannot cite these lines together, and what to do instead; None where it can.

    What has no lines in its source is cited by its place, which has to hold all of it.
    """
    if len(lines) > most:
        return "wide_lines", f"name at most {most} lines"
    if len({line.place for line in lines if line.lines is None}) > 1:
        return "wide_place", "name lines of one page, sheet or slide"
    return None


def read_lines(document: Document) -> Iterator[Line]:
    """The lines in source order; what a program wrote (tool output, long tables) by its beginning only."""
    rows, said = 0, 0
    turn: tuple[object, ...] = ()
    for index, block in enumerate(document.blocks):
        rows = rows + 1 if block.kind in _ROWS else 0
        said_by_none = block.kind is BlockKind.TURN or block.event is not None
        if rows > _MOST_ROWS or (said_by_none and (block.role in _MACHINES or bears_mark(block.text))):
            continue
        # A long turn is several blocks.
        same = (block.kind, block.role, block.speaker, block.time)
        turn, said = same, (said if same == turn else 0)
        most = _most_said(document.kind, block)
        text = block.text if most is None else block.text[: max(0, most - said)]
        said += len(block.text)
        yield from _lines_of(index, block, text)


def _most_said(kind: Kind, block: Block) -> int | None:
    """How much of a turn is shown: what a model, or somebody's clipboard, wrote goes on for ever."""
    if block.kind is not BlockKind.TURN:
        return None
    if block.role in _ASSISTANTS:
        return _SAID_BY_MODEL
    return _PASTED if kind is Kind.SESSION else None


def _lines_of(index: int, block: Block, shown: str) -> Iterator[Line]:
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
    for number, (text, at, offset) in enumerate(_cut_lines(shown)):
        if block.kind in _CODE and number >= _MOST_CODE_LINES:
            return
        span = locate_words(block, offset, offset + len(text)) if block.rows else first
        # Where a text's lines are the source's, the first of them is one line.
        if not block.rows and first is not None and block.lines is not None and first.start == first.end:
            line = min(first.start + at, block.lines.end)
            span = LineSpan(line, line)
        begins = number == 0
        yield replace(
            like, text=text, prefix=like.prefix if begins else "", starts=begins, offset=offset, lines=span
        )


def _cut_lines(text: str) -> Iterator[tuple[str, int, int]]:
    """The lines of a text that are not blank, long ones in pieces, each with its line's index and offset."""
    offset = 0
    for at, line in enumerate(text.split("\n")):
        if len(line) > _LONG_LINE:
            yield from ((piece.text, at, offset + piece.start) for piece in _pieces(line))
        elif line.strip():
            yield line.rstrip(), at, offset
        offset += len(line) + 1


def _pieces(line: str) -> Iterator[Slice]:
    """Sentences gathered up to some 400 characters; a longer sentence is cut at clauses or words."""
    start = end = 0
    for sentence in split_sentences(line):
        if end > start and end - start + len(sentence.text) > _PIECE:
            yield Slice(line[start:end], start, end)
            start = end = sentence.start
        if len(sentence.text) > _LONG_LINE:
            for piece in cut_pieces(sentence.text, _ANY_WORDS, _PIECE):
                yield Slice(piece.text, sentence.start + piece.start, sentence.start + piece.end)
            start = end = sentence.end
        else:
            start, end = start if end > start else sentence.start, sentence.end
    if end > start:
        yield Slice(line[start:end], start, end)


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
