"""Search on SQLite: words by their ranking, cosine by numpy over the stored rows.

It is right on any database; one that can compute distances itself has a faster way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, LargeBinary, Select, bindparam, select, type_coerce

from memu.storage.conditions import findable, settle
from memu.storage.scoped import Scoped
from memu.storage.search import EVERYTHING, TRIED_AT_FIRST, ScoredPassage, SearchFilter, WordWeights
from memu.storage.statements import one_of, within
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
            statement = select(passage.c.id).where(findable(wanted))
            passing = set(self._scoped.run(statement).scalars())
            kept = [at for at, each in enumerate(ids) if each in passing]
            ids, scores = [ids[at] for at in kept], scores[kept]
        return settle(self._scoped, _above(ids, scores, limit, ties=True), wanted, limit)

    def _blocks(
        self, dimension: int, encoder_id: str, wanted: SearchFilter
    ) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Passage ids and their vectors, shape (n, dimension); rows of another size are passed over."""
        import numpy as np

        statement = _stored_vectors(self._scoped.connection.dialect.name == "sqlite", wanted.among is not None)
        found = self._scoped.run(statement, encoder_id=encoder_id, among=sorted(wanted.among or ()))
        for rows in found.partitions(_ROWS_AT_ONCE):
            good = [(each, vector) for each, vector in rows if vector is not None and len(vector) == dimension]
            joined = np.frombuffer(b"".join([vector for _, vector in good]), dtype=np.int8)
            yield [each for each, _ in good], joined.reshape(len(good), dimension).astype(np.float32)


@cache
def _stored_vectors(as_bytes: bool, among: bool) -> Select[Any]:
    """(passage id, vector) of one encoder; ``among``: of the passages ``among`` alone."""
    vector: ColumnElement[bytes] = passage_vector.c.vector
    # SQLite holds bytes: take them as they are, where the column type would look at each.
    stored = type_coerce(vector, LargeBinary) if as_bytes else vector
    statement = select(passage_vector.c.passage_id, stored).where(
        within(passage_vector), passage_vector.c.encoder_id == bindparam("encoder_id")
    )
    return statement.where(one_of(passage_vector.c.passage_id, "among")) if among else statement


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
