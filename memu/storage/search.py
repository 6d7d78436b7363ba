"""Search as the rest of memu sees it: what may be asked, and the port that each database's search obeys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from memu.records import Kind, Layer, MemoryType, Track
from memu.tokens import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EVERYTHING", "TRIED_AT_FIRST", "ScoredPassage", "Search", "SearchFilter", "WordWeights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """What may be found. None leaves a side open.

    layers: whose passages: those of pages, entries or sources.
    tracks: of pages and entries; a source's passage has no track and is ruled by ``layers`` alone.
    kinds: of the source; passages without a kind (a page's) are left out where kinds are named.
    path_glob: ``docs/**``, ``*.md``; without a slash it is matched against the file's name, else against the
        whole path; a trailing slash means all below. Pages lie at no path and are left out.
    memory_types: of entries; where they are named nothing else is found.
    workspace_id: sources and entries of one workspace, and the pages that rest on one of its entries.
    since, until: bounds of ``happened_at``, both included; what has no time is left out.
    changed_since, changed_until: bounds of when a source's file last changed, both included; pages are left out.
    among: only these passages, to score them all.
    """

    layers: frozenset[Layer] | None = None
    tracks: frozenset[Track] | None = None
    kinds: frozenset[Kind] | None = None
    path_glob: str | None = None
    memory_types: frozenset[MemoryType] | None = None
    workspace_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    changed_since: datetime | None = None
    changed_until: datetime | None = None
    among: frozenset[str] | None = None


EVERYTHING = SearchFilter()
# How many times the wanted number of passages the filter is tried on before all are filtered.
TRIED_AT_FIRST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WordWeights:
    """BM25's constants. ``b_of_kind`` says how much length counts where it is not ``b``.

    A word in more than ``common_share`` of the passages, and in more than ``common_from``, finds nothing by itself
    while a rarer one does: it is scored on what the rarer ones rank best. It tells little, and to look at each of
    its passages is what takes the time in a large scope.
    """

    common_share: float = 0.1
    common_from: int = 1000
    k1: float = 1.2
    b: float = 0.75
    # Chat turns are short because people are, not because they say less: measured +0.012.
    b_of_kind: Mapping[Kind, float] = field(default_factory=lambda: {Kind.CHAT: 0.4})


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage and how well it fits; higher is better."""

    id: str
    score: float


class Search(Protocol):
    """Search within the scope(s) of a repository. Equal scores are ordered by (path, line, ordinal)."""

    def words(
        self,
        terms: Sequence[QueryTerm],
        wanted: SearchFilter = EVERYTHING,
        limit: int = 100,
        weights: WordWeights | None = None,
    ) -> list[ScoredPassage]:
        """BM25 over the postings, best first. The variants of one term are alternatives; terms are OR-ed."""
        ...

    def most(self, terms: Sequence[QueryTerm], weights: WordWeights | None = None) -> float:
        """What no score of ``words`` reaches for these terms: that of each word many times in a short passage.

        A word that occurs nowhere counts as the rarest would. 0.0 where there are no passages or no terms.
        """
        ...

    def nearest(
        self,
        vector: NDArray[np.float32],
        encoder_id: str,
        wanted: SearchFilter = EVERYTHING,
        limit: int = 100,
    ) -> list[ScoredPassage]:
        """Exact cosine, best first. Stored vectors of another size or of length zero are passed over."""
        ...
