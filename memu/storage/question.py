"""What searching is on every database: words by their ranking, and a vector that is asked with in its direction.

How near stored vectors are is each database's own (``search_sqlite``, ``search_postgres``).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memu.storage.scoped import Scoped
from memu.storage.search import EVERYTHING, ScoredPassage, SearchFilter, WordWeights
from memu.storage.word_ranking import WordRanking
from memu.tokens import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["COSINE_DIGITS", "FILTERS_KEPT", "Questioned"]

# Cosines come from float32; beyond this a difference means nothing.
COSINE_DIGITS = 6
# Of how many filters a database's statements are kept.
FILTERS_KEPT = 128


class Questioned(ABC):
    """``Search`` but for how near vectors are."""

    def __init__(self, scoped: Scoped) -> None:
        self._scoped = scoped

    def words(
        self,
        terms: Sequence[QueryTerm],
        wanted: SearchFilter = EVERYTHING,
        limit: int = 100,
        weights: WordWeights | None = None,
    ) -> list[ScoredPassage]:
        """BM25 over the postings, best first."""
        return WordRanking(self._scoped).rank(terms, wanted, limit, weights)

    def most(self, terms: Sequence[QueryTerm], weights: WordWeights | None = None) -> float:
        """What no score of ``words`` reaches for these terms."""
        return WordRanking(self._scoped).most(terms, weights)

    def nearest(
        self,
        vector: NDArray[np.float32],
        encoder_id: str,
        wanted: SearchFilter = EVERYTHING,
        limit: int = 100,
    ) -> list[ScoredPassage]:
        """Cosine, best first. A query vector of length zero, or that holds NaN, finds nothing."""
        import numpy as np

        length = float(np.linalg.norm(vector))
        if limit <= 0 or not math.isfinite(length) or length == 0:
            return []
        return self._nearest((vector / length).astype(np.float32), encoder_id, wanted, limit)

    @abstractmethod
    def _nearest(
        self, unit: NDArray[np.float32], encoder_id: str, wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """What is nearest to a vector of length one; ``limit`` is at least one."""
