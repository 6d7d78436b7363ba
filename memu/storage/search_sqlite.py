"""Search on SQLite: words by their ranking, cosine by numpy over the stored rows.

It is right on any database; one that can compute distances itself has a faster way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, LargeBinary, type_coerce

from memu.storage.conditions import findable, is_among, settle
from memu.storage.scoped import Scoped
from memu.storage.search import EVERYTHING, TRIED_AT_FIRST, ScoredPassage, SearchFilter, WordWeights
from memu.storage.tables import passage, passage_vector
from memu.storage.word_ranking import WordRanking
from memu.tokens import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SqliteSearch"]

_ROWS_AT_ONCE = 8192
# Cosines come from float32; beyond this a difference means nothing.
_COSINE_DIGITS = 6


class SqliteSearch:
    """``Search`` for one repository."""

    def __init__(self, scoped: Scoped) -> None:
        self._scoped = scoped
        self._connection = scoped.connection

    def words(
        self,
        terms: Sequence[QueryTerm],
        wanted: SearchFilter = EVERYTHING,
        limit: int = 100,
        weights: WordWeights | None = None,
    ) -> list[ScoredPassage]:
        """BM25 over the postings, best first."""
        return WordRanking(self._scoped).rank(terms, wanted, limit, weights)

    def nearest(
        self,
        vector: NDArray[np.float32],
        encoder_id: str,
        wanted: SearchFilter = EVERYTHING,
        limit: int = 100,
    ) -> list[ScoredPassage]:
        """Exact cosine, best first. A query vector of length zero, or that holds NaN, finds nothing."""
        import numpy as np

        length = float(np.linalg.norm(vector))
        if limit <= 0 or not math.isfinite(length) or length == 0:
            return []
        unit = (vector / length).astype(np.float32)
        ids: list[str] = []
        parts: list[NDArray[np.float32]] = []
        for some_ids, block in self._blocks(len(unit), encoder_id, wanted):
            lengths = np.linalg.norm(block, axis=1)
            good = lengths > 0
            parts.append((block[good] @ unit) / lengths[good])
            ids.extend(each for each, kept in zip(some_ids, good, strict=True) if kept)
        if not ids:
            return []
        cosines = np.concatenate(parts).astype(np.float64).round(_COSINE_DIGITS)
        return self._best_of(ids, cosines, wanted, limit)

    def _best_of(
        self, ids: Sequence[str], scores: NDArray[np.float64], wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """The best that pass the filter, tried on the highest scores first."""
        first = limit * TRIED_AT_FIRST
        if len(ids) > first:
            found = settle(self._scoped, _above(ids, scores, first), wanted, limit)
            if len(found) == limit:
                return found
            statement = self._scoped.select(passage.c.id, of=passage).where(findable(self._scoped, wanted))
            passing = set(self._connection.execute(statement).scalars())
            kept = [at for at, each in enumerate(ids) if each in passing]
            ids, scores = [ids[at] for at in kept], scores[kept]
        return settle(self._scoped, _above(ids, scores, limit, ties=True), wanted, limit)

    def _blocks(
        self, dimension: int, encoder_id: str, wanted: SearchFilter
    ) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Passage ids and their vectors, shape (n, dimension); rows of another size are passed over."""
        import numpy as np

        vector: ColumnElement[bytes] = passage_vector.c.vector
        # SQLite holds bytes: take them as they are, where the column type would look at each.
        stored = type_coerce(vector, LargeBinary) if self._connection.dialect.name == "sqlite" else vector
        statement = self._scoped.select(passage_vector.c.passage_id, stored, of=passage_vector).where(
            passage_vector.c.encoder_id == encoder_id
        )
        if wanted.among is not None:
            statement = statement.where(is_among(passage_vector.c.passage_id, wanted.among))
        for rows in self._connection.execute(statement).partitions(_ROWS_AT_ONCE):
            good = [(each, vector) for each, vector in rows if vector is not None and len(vector) == dimension]
            joined = np.frombuffer(b"".join([vector for _, vector in good]), dtype=np.int8)
            yield [each for each, _ in good], joined.reshape(len(good), dimension).astype(np.float32)


def _above(
    ids: Sequence[str], scores: NDArray[np.float64], count: int, *, ties: bool = False
) -> list[tuple[str, float]]:
    """The ``count`` best: with all that tie with the last one, or without any that do."""
    import numpy as np

    if len(ids) <= count:
        return [(each, float(score)) for each, score in zip(ids, scores, strict=True)]
    least = np.partition(scores, len(ids) - count)[len(ids) - count]
    chosen = np.flatnonzero(scores >= least if ties else scores > least)
    return [(ids[int(at)], float(scores[at])) for at in chosen]
