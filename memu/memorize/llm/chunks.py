"""A document as a model reads it: numbered lines, cut on headings and turns into chunks within a budget of tokens.

A line is one line of a block, or a piece of one where it is long; its number counts within its chunk. What a
program wrote (tool output, long tables, pasted text) is shown by its beginning only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.extractors.quotes import locate
from memu.memorize.extractors.sections import HEADING_JOINT
from memu.memorize.sentences import cut_pieces, split_sentences
from memu.providers.prices import estimate_tokens
from memu.records import Kind, LineSpan

__all__ = ["Chunk", "Line", "cut_chunks", "halve", "join_span"]

_LONG_LINE = 600
_PIECE = 400
_ANY_WORDS = 10_000
_PER_LINE = 2
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

    block: its block's index in the document; starts: whether it begins it.
    lines, place: where it stands in the source. heading, speaker, day: what is known of it besides.
    """

    text: str
    block: int
    kind: BlockKind
    prefix: str = ""
    starts: bool = True
    lines: LineSpan | None = None
    place: str | None = None
    heading: tuple[str, ...] = ()
    speaker: str = ""
    day: str = ""

    @property
    def shown(self) -> str:
        """The line without its number."""
        return f"{self.prefix}{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Lines that one prompt shows; the first is number 1."""

    lines: tuple[Line, ...]

    def show(self) -> str:
        """The chunk as a prompt shows it: ``12| text``, with headings and days in brackets where they change."""
        return "\n".join(_show(self.lines))

    def select(self, first: int, last: int) -> tuple[Line, ...]:
        """Lines number ``first`` to ``last``, as far as there are such."""
        return self.lines[max(0, first - 1) : max(0, last)]

    @property
    def plain(self) -> str:
        """The source's own text."""
        return "\n".join(line.text for line in self.lines)

    @property
    def span(self) -> LineSpan | None:
        """From its first to its last source line; None where the source has none."""
        return join_span(self.lines)


def cut_chunks(document: Document, tokens: int) -> tuple[Chunk, ...]:
    """The document in chunks of at most ``tokens`` (estimated), each as whole as it can be.

    A section stays together where it fits, else its blocks and turns, else its lines.
    """
    chunks: list[Chunk] = []
    held: list[Line] = []
    room = tokens
    for unit in _units(_read_lines(document), tokens):
        cost = sum(map(_cost, unit))
        if held and cost > room:
            chunks.append(Chunk(lines=tuple(held)))
            held, room = [], tokens
        held += unit
        room -= cost
    if held:
        chunks.append(Chunk(lines=tuple(held)))
    return tuple(chunks)


def halve(chunk: Chunk) -> tuple[Chunk, ...]:
    """Two chunks of about the same size, cut before a block where that is near the middle; () of a single line."""
    lines = chunk.lines
    if len(lines) < 2:
        return ()
    costs = [_cost(line) for line in lines]
    whole, sums = sum(costs), list(accumulate(costs))
    middle = min(range(1, len(lines)), key=lambda at: abs(2 * sums[at - 1] - whole))
    near = range(max(1, middle - len(lines) // 8), min(len(lines), middle + len(lines) // 8 + 1))
    cut = min((at for at in near if lines[at].starts), key=lambda at: abs(at - middle), default=middle)
    return Chunk(lines=lines[:cut]), Chunk(lines=lines[cut:])


def join_span(lines: Iterable[Line]) -> LineSpan | None:
    """The span from the first to the last source line of these; None where they have none."""
    spans = [line.lines for line in lines if line.lines is not None]
    return LineSpan(min(span.start for span in spans), max(span.end for span in spans)) if spans else None


def _cost(line: Line) -> int:
    return estimate_tokens(line.text) + estimate_tokens(line.prefix) + _PER_LINE


def _show(lines: Sequence[Line]) -> Iterator[str]:
    # None after a heading's own line: it says itself under what the next lines stand.
    heading: tuple[str, ...] | None = ()
    day = ""
    for number, line in enumerate(lines, 1):
        if line.kind is BlockKind.HEADING:
            if number == 1 and line.heading:
                yield f"[{HEADING_JOINT.join(line.heading)}]"
            heading = None
        else:
            if heading is not None and line.heading != heading:
                yield f"[{HEADING_JOINT.join(line.heading)}]"
            heading = line.heading
        if line.day and line.day != day:
            yield f"[{line.day}]"
            day = line.day
        yield f"{number}| {line.shown}"


def _units(lines: Iterable[Line], tokens: int) -> Iterator[list[Line]]:
    """Runs of lines that should not be parted: sections, else blocks, else lines."""
    section: list[Line] = []
    for line in lines:
        begins = line.starts and (
            line.kind is BlockKind.HEADING or (section and line.heading != section[-1].heading)
        )
        if section and begins and section[-1].kind is not BlockKind.HEADING:
            yield from _fitting(section, tokens)
            section = []
        section.append(line)
    yield from _fitting(section, tokens)


def _fitting(section: list[Line], tokens: int) -> Iterator[list[Line]]:
    if sum(map(_cost, section)) <= tokens:
        yield section
        return
    for _, block in groupby(section, key=lambda line: line.block):
        lines = list(block)
        if sum(map(_cost, lines)) <= tokens:
            yield lines
        else:
            yield from ([line] for line in lines)


def _read_lines(document: Document) -> Iterator[Line]:
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
    for number, (text, at) in enumerate(_cut_lines(_shorten(document.kind, block))):
        if block.kind in _CODE and number >= _MOST_CODE_LINES:
            return
        span = first
        # Where a text's lines are the source's, the first of them is one line.
        if first is not None and block.lines is not None and first.start == first.end:
            line = min(first.start + at, block.lines.end)
            span = LineSpan(line, line)
        begins = number == 0
        yield replace(like, text=text, prefix=like.prefix if begins else "", starts=begins, lines=span)


def _shorten(kind: Kind, block: Block) -> str:
    """What a model, or somebody's clipboard, wrote at length, by its beginning."""
    if block.kind is not BlockKind.TURN:
        return block.text
    if block.role in _ASSISTANTS:
        return block.text[:_SAID_BY_MODEL]
    return block.text[:_PASTED] if kind is Kind.SESSION else block.text


def _cut_lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text that are not blank, long ones in pieces, each with the index of its line."""
    for at, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        if len(line) <= _LONG_LINE:
            yield line.rstrip(), at
            continue
        yield from ((piece, at) for piece in _pieces(line))


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
