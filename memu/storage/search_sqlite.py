"""Search on SQLite: BM25 in SQL over the postings, cosine by numpy over the rows that pass the filter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, and_, case, cast, distinct, func, literal, select
from sqlalchemy.types import Double, Numeric

from memu.storage.conditions import SCORE_DIGITS, findable, settle
from memu.storage.scoped import Scoped, linked
from memu.storage.search import EVERYTHING, ScoredPassage, SearchFilter, WordWeights
from memu.storage.tables import passage, passage_vector, posting
from memu.tokens import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SqliteSearch"]

_DEFAULT_WEIGHTS = WordWeights()
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
        """BM25, best first: idf·tf·(k1+1)/(tf + k1·(1−b+b·length/average)), idf = ln(1+(N−n+½)/(n+½)).

        N, the average length and n (passages with the term) are counted over the whole scope, whatever the filter.
        A variant that two terms share counts for the first; of a term's variants in a passage the most frequent.
        """
        numbers = _number_variants(terms)
        count, average = self._statistics()
        if not numbers or not count or limit <= 0:
            return []
        frequencies = self._document_frequencies(numbers)
        if not frequencies:
            return []
        idf = {at: math.log(1 + (count - n + 0.5) / (n + 0.5)) for at, n in frequencies.items()}
        scored = self._scored(numbers, idf, average, wanted, weights or _DEFAULT_WEIGHTS).cte("scored")
        best = select(scored.c.score).order_by(scored.c.score.desc()).limit(limit).subquery()
        # Every passage that ties with the last one comes along, so that the order among them can be settled.
        least = select(func.min(best.c.score)).scalar_subquery()
        rows = self._connection.execute(select(scored.c.id, scored.c.score).where(scored.c.score >= least))
        return settle(self._scoped, [(each, float(score)) for each, score in rows], limit)

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
        cosines = np.round(np.concatenate(parts).astype(np.float64), _COSINE_DIGITS)
        kept = min(limit, len(ids))
        least = np.partition(cosines, len(ids) - kept)[len(ids) - kept]
        chosen = np.flatnonzero(cosines >= least)
        return settle(self._scoped, [(ids[at], float(cosines[at])) for at in chosen], limit)

    def _statistics(self) -> tuple[int, float]:
        """Number of passages in the scope and their average length."""
        statement = self._scoped.select(func.count(), func.sum(passage.c.length), of=passage)
        count, total = self._connection.execute(statement).one()
        return int(count), max(1.0, float(total or 0) / max(1, count))

    def _document_frequencies(self, numbers: Mapping[str, int]) -> dict[int, int]:
        """Term's number → how many passages have any of its variants."""
        number = _number_of(numbers)
        statement = self._scoped.select(number, func.count(distinct(posting.c.passage_id)), of=posting)
        statement = statement.where(posting.c.term.in_(list(numbers))).group_by(number)
        return {int(at): int(n) for at, n in self._connection.execute(statement)}

    def _scored(
        self,
        numbers: Mapping[str, int],
        idf: Mapping[int, float],
        average: float,
        wanted: SearchFilter,
        weights: WordWeights,
    ) -> Select[Any]:
        number = _number_of(numbers).label("number")
        matched = (
            self._scoped.select(
                posting.c.scope_id, posting.c.passage_id, number, func.max(posting.c.tf).label("tf"), of=posting
            )
            .where(posting.c.term.in_(list(numbers)))
            .group_by(posting.c.scope_id, posting.c.passage_id, number)
            .subquery()
        )
        rarity = case(dict(idf), value=matched.c.number, else_=0.0)
        norm = weights.k1 * (1 - _b(weights) + _b(weights) * passage.c.length / literal(average, Double))
        gain = rarity * matched.c.tf * (weights.k1 + 1) / (matched.c.tf + norm)
        score = func.round(cast(func.sum(gain), Numeric(asdecimal=False)), SCORE_DIGITS)
        return (
            select(passage.c.id.label("id"), score.label("score"))
            .select_from(passage)
            .join(matched, linked(matched, "passage_id", passage))
            .where(findable(self._scoped, wanted))
            .group_by(passage.c.scope_id, passage.c.id)
        )

    def _blocks(
        self, dimension: int, encoder_id: str, wanted: SearchFilter
    ) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Passage ids and their vectors, shape (n, dimension); rows of another size are passed over."""
        import numpy as np

        statement = (
            self._scoped.select(passage_vector.c.passage_id, passage_vector.c.vector, of=passage_vector)
            .join(passage, linked(passage_vector, "passage_id", passage))
            .where(and_(passage_vector.c.encoder_id == encoder_id, findable(self._scoped, wanted)))
        )
        for rows in self._connection.execute(statement).partitions(_ROWS_AT_ONCE):
            good = [(each, vector) for each, vector in rows if vector is not None and len(vector) == dimension]
            joined = np.frombuffer(b"".join(vector for _, vector in good), dtype=np.int8)
            yield [each for each, _ in good], joined.reshape(len(good), dimension).astype(np.float32)


def _number_variants(terms: Sequence[QueryTerm]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for at, term in enumerate(terms):
        for variant in term.variants:
            numbers.setdefault(variant, at)
    return numbers


def _number_of(numbers: Mapping[str, int]) -> ColumnElement[int]:
    return case(dict(numbers), value=posting.c.term)


def _b(weights: WordWeights) -> ColumnElement[float]:
    of_kind = {kind.value: b for kind, b in weights.b_of_kind.items()}
    if not of_kind:
        return literal(weights.b, Double)
    return case(of_kind, value=passage.c.kind, else_=weights.b)
