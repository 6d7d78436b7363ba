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

__all__ = ["COSINE_DIGITS", "FILTERS_KEPT", "Questioned", "in_whole_numbers", "length_of"]

# Beyond this a difference means nothing.
COSINE_DIGITS = 6
_EXACT = 2**24 - 1
_LARGEST = 127
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
        return self._nearest(in_whole_numbers(vector), encoder_id, wanted, limit)

    @abstractmethod
    def _nearest(
        self, asked: NDArray[np.float32], encoder_id: str, wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """What is nearest to a vector of whole numbers (``in_whole_numbers``); ``limit`` is at least one."""


def in_whole_numbers(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The direction of a finite vector, shape (n,), in whole numbers.

    They are as large as lets its product with a row of int8, and each sum on the way there, be a whole number that
    float32 holds exactly. So in whatever order a database adds, both come to the same cosines, and rows that are
    equal tie; what is rounded away moves a cosine by less than 0.0002.
    """
    import numpy as np

    parts = vector.astype(np.float64)
    # Rounding may add a half to each component.
    room = _EXACT / _LARGEST - len(parts) / 2
    whole: NDArray[np.float32] = np.rint(parts * (room / np.abs(parts).sum())).astype(np.float32)
    return whole


def length_of(asked: NDArray[np.float32]) -> float:
    """How long a vector of whole numbers is."""
    import numpy as np

    return float(np.linalg.norm(asked.astype(np.float64)))
