"""The state of the retrieve workflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memu.arguments import require_count
from memu.errors import ConfigurationError
from memu.records import Hit, Layer, RetrieveResult, Scope, Track
from memu.retrieve.bounds import choose, leave_out_pages
from memu.retrieve.ranking import Candidate
from memu.retrieve.turns import Cards
from memu.storage.owners import FoundPassage
from memu.storage.search import EVERYTHING, SearchFilter

__all__ = ["RetrieveState", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveState:
    """One question on its way to an answer.

    scopes, query: whose memory is asked, and what. layers: what may be a hit; tracks: of pages and entries.
    within: further bounds; its own layers and tracks are not looked at.
    max_hits, max_words: how much may be answered; None leaves the words open.
    min_score: the least rating of a hit. explain: say how the answer came about.

    text: the question as it is searched, bounded. language: its ISO 639-1 code, None if unsure.
    vector: the question's, shape (dimension,); None where words must do.
    names_only: it asks for identifiers by name. most_words: what no passage's score by words reaches.
    candidates, found: the passages that either side found.
    earlier: those whose place something takes that was said later.
    cards: of the turns of sessions that those belong to.
    scores: passage id → score, for those that are an answer; ratings: the same order, from 0 to 1.
    degraded: why a side could not take part.
    """

    scopes: tuple[Scope, ...]
    query: str
    layers: frozenset[Layer] = frozenset(Layer)
    tracks: frozenset[Track] = frozenset(Track)
    within: SearchFilter = EVERYTHING
    max_hits: int = 10
    max_words: int | None = None
    min_score: float = 0.0
    explain: bool = False

    text: str = ""
    language: str | None = None
    vector: tuple[float, ...] | None = None
    names_only: bool = False
    most_words: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    found: Mapping[str, FoundPassage] = field(default_factory=dict)
    cards: Cards = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    ratings: Mapping[str, float] = field(default_factory=dict)
    earlier: frozenset[str] = frozenset()
    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    result: RetrieveResult = RetrieveResult(hits=())


def ask(
    scopes: tuple[Scope, ...],
    query: str,
    *,
    layers: Iterable[Layer | str] | None,
    tracks: Iterable[Track | str] | None,
    max_hits: int,
    max_words: int | None,
    within: SearchFilter = EVERYTHING,
    min_score: float = 0.0,
    explain: bool = False,
) -> RetrieveState:
    """A question as it begins; None for ``layers`` or ``tracks`` means all of them.

    Raises:
        ConfigurationError: there is no such layer or track, or less than one hit or word is asked for; only pages
            are asked for, by bounds that no page can meet.
    """
    require_count("max_hits", max_hits)
    require_count("max_words", max_words)
    if not isinstance(min_score, int | float) or not 0 <= min_score <= 1:
        raise ConfigurationError(f"min_score is {min_score}; scores are from 0 to 1.")
    return RetrieveState(
        scopes=scopes,
        query=query,
        layers=leave_out_pages(within, choose(Layer, "layers", layers)),
        tracks=choose(Track, "tracks", tracks),
        within=within,
        max_hits=max_hits,
        max_words=max_words,
        min_score=min_score,
        explain=explain,
    )
