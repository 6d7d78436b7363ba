"""Numbered lines, and how a run of them becomes bounded pieces of text that still know their lines.

Nothing downstream should meet a text without an end, so no piece is longer than ``LIMIT`` characters. A run is
cut between lines where it can be, so that each piece's span stays narrow, and inside a line only where the
line alone is too long.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memu.ingest.document import Block, Row
from memu.records import LineSpan

__all__ = [
    "LIMIT",
    "LineIndex",
    "NumberedLine",
    "Piece",
    "dedent",
    "ends_sentence",
    "fold",
    "keep",
    "number_lines",
    "shorten",
    "split_long",
    "spread",
]

LIMIT = 4_000
_SENTENCE_END = re.compile(r"[.!?。！？…]['\")\]”’」』]*$")
_BREAKS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line's text and the raw lines ``first`` to ``last`` that it comes from (more than one when decoded)."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of at most ``LIMIT`` characters, its raw lines, and where each of several begins in it."""

    text: str
    lines: LineSpan
    rows: tuple[Row, ...] = ()


class LineIndex:
    """Line numbers of character offsets in one text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_at(self, offset: int) -> int:
        """The number of the line that holds the character at ``offset``."""
        return bisect.bisect_right(self._starts, offset)

    def span(self, start: int, end: int) -> LineSpan:
        """The lines of the characters from ``start`` up to, not including, ``end``."""
        return LineSpan(self.line_at(start), self.line_at(max(start, end - 1)))


def number_lines(lines: Iterable[str], first: int = 1) -> list[NumberedLine]:
    """The lines with their numbers, counted from ``first``."""
    return [NumberedLine(number, number, line) for number, line in enumerate(lines, first)]


def fold(run: Sequence[NumberedLine]) -> list[Piece]:
    """Running text: every run of white space becomes one space, line ends too."""
    folded = (replace_text(line, " ".join(line.text.split())) for line in run)
    return list(_gather([line for line in folded if line.text], " "))


def keep(run: Sequence[NumberedLine]) -> list[Piece]:
    """Text whose lines matter (code, data): kept as it stands, blank lines at either end left out."""
    start, end = 0, len(run)
    while start < end and not run[start].text.strip():
        start += 1
    while end > start and not run[end - 1].text.strip():
        end -= 1
    pieces = _gather(run[start:end], "\n")
    return [piece for piece in pieces if piece.text.strip()]


def replace_text(line: NumberedLine, text: str) -> NumberedLine:
    """The same line numbers with another text."""
    return NumberedLine(line.first, line.last, text)


def dedent(run: Sequence[NumberedLine]) -> list[NumberedLine]:
    """The run without the indentation that all its lines share."""
    indents = [len(line.text) - len(line.text.lstrip()) for line in run if line.text.strip()]
    shared = min(indents, default=0)
    return [replace_text(line, line.text[shared:].rstrip()) for line in run]


def spread(template: Block, pieces: Iterable[Piece]) -> list[Block]:
    """One block like ``template`` for each piece."""
    return [replace(template, text=piece.text, lines=piece.lines, rows=piece.rows) for piece in pieces]


def ends_sentence(text: str) -> bool:
    """Whether a sentence ends where the text does."""
    return _SENTENCE_END.search(text) is not None


def split_long(text: str, limit: int = LIMIT) -> list[str]:
    """The text in parts of at most ``limit`` characters, cut after sentences, else at spaces, else anywhere."""
    parts: list[str] = []
    start = 0
    while len(text) - start > limit:
        cut = _cut_point(text, start, limit)
        parts.append(text[start:cut].strip())
        start = cut
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def shorten(text: str, limit: int) -> str:
    """The text's beginning, at most ``limit`` characters, cut at a space: for labels, never for quotes."""
    folded = " ".join(text[: 4 * limit].split())
    return folded if len(folded) <= limit else split_long(folded[: limit + 1], limit)[0]


def _gather(run: Sequence[NumberedLine], joint: str) -> Iterator[Piece]:
    held: list[NumberedLine] = []
    size = 0
    for line in run:
        if held and size + len(joint) + len(line.text) > LIMIT:
            yield _join(held, joint)
            held, size = [], 0
        if len(line.text) > LIMIT:
            for part in split_long(line.text):
                yield Piece(part, LineSpan(line.first, line.last))
            continue
        held.append(line)
        size += len(line.text) + (len(joint) if len(held) > 1 else 0)
        if joint == " " and size > LIMIT * 3 // 4 and _SENTENCE_END.search(line.text):
            yield _join(held, joint)
            held, size = [], 0
    if held:
        yield _join(held, joint)


def _join(run: Sequence[NumberedLine], joint: str) -> Piece:
    rows: list[Row] = []
    if len(run) > 1:
        start = 0
        for line in run:
            rows.append(Row(start, line.first, line.last))
            start += len(line.text) + len(joint)
    return Piece(joint.join(line.text for line in run), LineSpan(run[0].first, run[-1].last), tuple(rows))


def _cut_point(text: str, start: int, limit: int) -> int:
    least, most = start + limit // 2, start + limit
    cut = max((match.end() for match in _BREAKS.finditer(text, least, most)), default=-1)
    if cut > least:
        return cut
    space = text.rfind(" ", least, most)
    return space + 1 if space > 0 else most
