"""BM25 in SQL over the postings, the same on every database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Double,
    Numeric,
    Select,
    case,
    cast,
    func,
    literal,
    select,
    union,
    union_all,
)

from memu.storage.conditions import SCORE_DIGITS, findable, is_among, settle
from memu.storage.scoped import Scoped, chunks, linked
from memu.storage.search import EVERYTHING, TRIED_AT_FIRST, ScoredPassage, SearchFilter, WordWeights
from memu.storage.tables import passage, posting
from memu.storage.words import KIND_CODES
from memu.tokens import QueryTerm

__all__ = ["WordRanking"]

_DEFAULT_WEIGHTS = WordWeights()
_MOST_TERMS = 200
# SQLite takes 500 SELECTs in one statement, of which a term with many variants needs several.
_SELECTS_AT_ONCE = 20
_KEYS = (posting.c.scope_id, posting.c.passage_id)


class WordRanking:
    """The words of a query against the passages of one repository."""

    def __init__(self, scoped: Scoped) -> None:
        self._scoped = scoped
        self._connection = scoped.connection

    def rank(
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
        groups = _group_variants(terms)
        count, average = self._statistics()
        if not groups or not count or limit <= 0:
            return []
        rarities = self._rarities(groups, count)
        chosen = weights or _DEFAULT_WEIGHTS
        parts = [
            self._gains(groups[at], rarity, average, wanted, chosen) for at, rarity in sorted(rarities.items())
        ]
        if not parts:
            return []
        return self._best(self._sum(parts).cte("scored"), wanted, limit)

    def _statistics(self) -> tuple[int, float]:
        """Number of passages in the scope and their average length."""
        statement = self._scoped.select(func.count(), func.sum(passage.c.length), of=passage)
        count, total = self._connection.execute(statement).one()
        return int(count), max(1.0, float(total or 0) / max(1, count))

    def _rarities(self, groups: Sequence[tuple[str, ...]], count: int) -> dict[int, float]:
        """Place of the term → its idf, for the terms that occur; of a very long query the rarest terms."""
        counts: list[Select[Any]] = []
        for at, variants in enumerate(groups):
            if len(variants) == 1:
                counts.append(self._postings(variants[0], literal(at), func.count()))
            else:
                passages = union(*(self._postings(each, *_KEYS) for each in variants)).subquery()
                columns: tuple[Any, ...] = (literal(at), func.count())
                counts.append(select(*columns).select_from(passages))
        frequencies = {
            int(at): int(n)
            for piece in chunks(counts, _SELECTS_AT_ONCE)
            for at, n in self._connection.execute(union_all(*piece))
            if n
        }
        rarest = sorted(frequencies, key=lambda at: (frequencies[at], at))[:_MOST_TERMS]
        return {at: math.log(1 + (count - frequencies[at] + 0.5) / (frequencies[at] + 0.5)) for at in rarest}

    def _postings(self, term: str, *columns: ColumnElement[Any]) -> Select[Any]:
        # One SELECT a term: given several at once to group, SQLite would walk the index by passage instead.
        return self._scoped.select(*columns, of=posting).where(posting.c.term == term)

    def _gains(
        self,
        variants: Sequence[str],
        rarity: float,
        average: float,
        wanted: SearchFilter,
        weights: WordWeights,
    ) -> Select[Any]:
        """(scope, passage id, gain) of the passages with a term: read from its postings alone."""

        def rows_of(variant: str) -> Select[Any]:
            rows = self._postings(variant, *_KEYS, posting.c.tf, posting.c.length, posting.c.kind)
            return rows if wanted.among is None else rows.where(is_among(posting.c.passage_id, wanted.among))

        rows = (
            union_all(*map(rows_of, variants)).subquery() if len(variants) > 1 else rows_of(variants[0]).subquery()
        )
        b = _b(weights, rows.c.kind)
        norm = weights.k1 * (1 - b + b * rows.c.length / literal(average, Double))
        gain = literal(rarity, Double) * rows.c.tf * (weights.k1 + 1) / (rows.c.tf + norm)
        keys = (rows.c.scope_id, rows.c.passage_id)
        if len(variants) == 1:
            return select(*keys, gain.label("gain"))
        # The more often a word occurs the more it gains, so the best variant is the most frequent one.
        return select(*keys, func.max(gain).label("gain")).group_by(*keys)

    def _sum(self, parts: Sequence[Select[Any]]) -> Select[Any]:
        gains = union_all(*parts).subquery("gains") if len(parts) > 1 else parts[0].subquery("gains")
        keys = (gains.c.scope_id, gains.c.passage_id)
        total = gains.c.gain if len(parts) == 1 else func.sum(gains.c.gain)
        score = func.round(cast(total, Numeric(asdecimal=False)), SCORE_DIGITS).label("score")
        statement = select(*keys, score)
        return statement if len(parts) == 1 else statement.group_by(*keys)

    def _best(self, scored: CTE, wanted: SearchFilter, limit: int) -> list[ScoredPassage]:
        """The best that pass the filter, tried on the highest scores first: most filters leave much in."""
        first = limit * TRIED_AT_FIRST
        statement = select(scored.c.passage_id, scored.c.score).order_by(scored.c.score.desc()).limit(first)
        top = [(each, float(score)) for each, score in self._connection.execute(statement)]
        if len(top) < first:
            return settle(self._scoped, top, wanted, limit)
        # Others may tie with the last one, so what ties with it is not known whole.
        found = settle(self._scoped, [item for item in top if item[1] > top[-1][1]], wanted, limit)
        if len(found) == limit:
            return found
        passing = (
            select(scored.c.passage_id.label("id"), scored.c.score)
            .join(passage, linked(scored, "passage_id", passage))
            .where(findable(self._scoped, wanted))
            .cte("passing")
        )
        best = select(passing.c.score).order_by(passing.c.score.desc()).limit(limit).subquery()
        least = select(func.min(best.c.score)).scalar_subquery()
        rows = self._connection.execute(select(passing.c.id, passing.c.score).where(passing.c.score >= least))
        return settle(self._scoped, [(each, float(score)) for each, score in rows], wanted, limit)


def _group_variants(terms: Sequence[QueryTerm]) -> list[tuple[str, ...]]:
    """The variants of each term, without those that an earlier term has."""
    seen: set[str] = set()
    groups: list[tuple[str, ...]] = []
    for term in terms:
        new = tuple(each for each in dict.fromkeys(term.variants) if each not in seen)
        seen.update(new)
        if new:
            groups.append(new)
    return groups


def _b(weights: WordWeights, kind: ColumnElement[int]) -> ColumnElement[float]:
    of_kind = {KIND_CODES[each]: b for each, b in weights.b_of_kind.items()}
    return case(of_kind, value=kind, else_=weights.b) if of_kind else literal(weights.b, Double)
