"""A document as a model reads it: numbered lines, cut on headings and turns into chunks within a budget of tokens.

A number counts within its chunk, so that a change elsewhere in the source changes no prompt but its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from memu.ingest.document import BlockKind, Document
from memu.memorize.extractors.sections import HEADING_JOINT
from memu.memorize.llm.lines import Line, join_span, read_lines
from memu.providers.prices import estimate_tokens
from memu.records import LineSpan

__all__ = ["Chunk", "cut_chunks", "halve"]

_PER_LINE = 2


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
    for unit in _units(read_lines(document), tokens):
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
