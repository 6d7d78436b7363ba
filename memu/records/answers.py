"""What a search finds and what is shown of a thing by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memu.records.kinds import Layer, LineSpan, MemoryType, State, Track
from memu.records.plain import plain

__all__ = ["Hit", "Listing", "RetrieveResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer. ``score``, from 0 to 1, orders the hits; ``ranks`` gives the place in each list that found it.

    weak: the score is one that right answers seldom have; None where it is not known what this encoder's mean.
    scores: where an explanation was asked for, BM25 ("words"), "cosine", and what orders ("fused").

    turn, card: in an agent session, whose hits stand together by turn, turns in the order of their best.
    earlier: something that was said later names it as no more; that stands above it.
    """

    layer: Layer
    score: float
    text: str
    title: str
    track: Track | None = None
    heading: str = ""
    path: str | None = None
    lines: LineSpan | None = None
    place: str | None = None
    time: datetime | None = None
    id: str = ""
    ranks: Mapping[str, int] = field(default_factory=dict)
    turn: int | None = None
    card: str = ""
    weak: bool | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    earlier: bool = False

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"turn": self.turn, "card": self.card} if self.turn is not None else {}
        told |= {"earlier": True} if self.earlier else {}
        told |= {"scores": {name: round(each, 6) for name, each in self.scores.items()}} if self.scores else {}
        return {
            "layer": self.layer.value,
            "track": self.track.value if self.track else None,
            "title": self.title,
            "heading": self.heading,
            "path": self.path,
            "lines": [self.lines.start, self.lines.end] if self.lines else None,
            "place": self.place,
            "time": self.time.isoformat() if self.time else None,
            "score": round(self.score, 6),
            "weak": self.weak,
            "ranks": dict(self.ranks),
            "text": self.text,
            "id": self.id,
            **told,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveResult:
    """The answer to one query, best first. ``degraded`` says why part of the search could not take place.

    explanation: where it was asked for, what the answer was taken from ("filters"), how much was "found" by each
    list, the "most" that words could score, and what was cut ("cuts").
    """

    hits: tuple[Hit, ...]
    degraded: str | None = None
    explanation: Mapping[str, Mapping[str, Any]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form; it never echoes the query."""
        told = {"explanation": dict(self.explanation)} if self.explanation is not None else {}
        return {"schema": 1, "hits": [hit.to_dict() for hit in self.hits], "degraded": self.degraded, **told}

    def to_prompt(self, max_words: int = 800) -> str:
        """The hits as one block for a prompt: quoted, each with its source, at most ``max_words`` words in all."""
        from memu.quotation import to_prompt

        return to_prompt(self, max_words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One thing fetched by reference: a page, a source or an entry, with its text and where it comes from.

    text: in a list, a page's description and a source's caption instead.
    page: of an entry, the page that it stands on as ``track/name``, the first by name of several; None while it
        stands on none. notice: of a source, why the text is not that of its raw lines; None where it is.
    state: of a source in a list, how far it has come. damage: of a source, what of it had to be passed over.
    """

    reference: str
    layer: Layer
    title: str
    text: str
    track: Track | None = None
    path: str | None = None
    lines: LineSpan | None = None
    place: str | None = None
    id: str = ""
    memory_type: MemoryType | None = None
    page: str | None = None
    time: datetime | None = None
    notice: str | None = None
    state: State | None = None
    damage: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return plain(self)
