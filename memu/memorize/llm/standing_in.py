"""Which of the source's own words stand in for a chunk that a model lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memu.memorize.candidate import Candidate
from memu.memorize.llm.chunks import Chunk
from memu.records import LineSpan, Origin

__all__ = ["share_out"]

_HEAD = 40


def share_out(candidates: Sequence[Candidate], chunks: Sequence[Chunk]) -> tuple[tuple[Candidate, ...], ...]:
    """Each candidate to the one chunk that shows its words, as stand-ins: a tuple for each chunk."""
    shares: list[list[Candidate]] = [[] for _ in chunks]
    plain = [chunk.plain for chunk in chunks]
    spans = [chunk.span for chunk in chunks]
    places = [{line.place for line in chunk.lines if line.place} for chunk in chunks]
    for each in candidates:
        if not chunks:
            break
        near = [at for at in range(len(chunks)) if _holds(spans[at], places[at], each)] or list(range(len(chunks)))
        head = each.text.split("\n", 1)[0][:_HEAD].strip()
        home = near[0] if len(near) == 1 else next((at for at in near if head in plain[at]), near[-1])
        shares[home].append(replace(each, origin=Origin.STAND_IN))
    return tuple(map(tuple, shares))


def _holds(span: LineSpan | None, places: set[str], candidate: Candidate) -> bool:
    """Whether a candidate begins within a chunk, as far as lines and places tell."""
    if candidate.lines is None or span is None:
        return candidate.place in places
    return span.start <= candidate.lines.start <= span.end
