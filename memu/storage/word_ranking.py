"""Search by words: BM25 over the postings of a scope."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memu.storage.conditions import SCORE_DIGITS, find_passing, settle
from memu.storage.counts import Counts
from memu.storage.scoped import Scoped, chunks
from memu.storage.search import EVERYTHING, TRIED_AT_FIRST, ScoredPassage, SearchFilter, WordWeights
from memu.storage.word_query import Word, group_variants, idf, part_words
from memu.storage.word_statements import (
    Shape,
    best_scores,
    count_either,
    count_postings,
    measure_passages,
    passing_scores,
)
from memu.storage.word_sums import WordSums, best_of
from memu.tokens import QueryTerm

__all__ = ["WordRanking"]

_DEFAULT_WEIGHTS = WordWeights()
_NOTHING: tuple[int, str | None, float] = (0, None, 0.0)
# SQLite takes 500 SELECTs in one statement, and each spelling is one.
_MOST_TERMS = 200
_MOST_SPELLINGS = 400
# Places for terms come by so many, so that few shapes of statements serve all queries.
_STEP = 4
# Of what rarer words find, so many times the passages that are wanted are scored by common words too.
_FINALISTS = 5
_SLOW_TO_COUNT = 500


class WordRanking:
    """The words of a query against the passages of one repository."""

    def __init__(self, scoped: Scoped) -> None:
        self._scoped = scoped
        self._counts = Counts(scoped.connection)

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
        groups = group_variants(terms)
        count, total = self._measure()
        if not groups or not count or limit <= 0:
            return []
        words = self._words(groups, count)
        if not words:
            return []
        weights = weights or _DEFAULT_WEIGHTS
        first = limit * TRIED_AT_FIRST
        rare, common = part_words(words, max(weights.common_from, int(weights.common_share * count)), first)
        average = max(1.0, total / count)
        if self._is_summed_here(rare, common):
            sums = WordSums(
                scoped=self._scoped,
                rare=rare,
                common=common,
                weights=weights,
                average=average,
                finalists=first * _FINALISTS,
            )
            return self._best_sums(sums, wanted, limit)
        shape, values = _arrange(rare, common, weights, wanted, across=len(self._scoped.scope_ids) > 1)
        return self._best(shape, values | {"finalists": first * _FINALISTS, "average": average}, wanted, limit)

    def most(self, terms: Sequence[QueryTerm], weights: WordWeights | None = None) -> float:
        """(k1+1) times the sum of the terms' idf, that of a word that occurs nowhere included."""
        groups = group_variants(terms)
        count, _ = self._measure()
        if not groups or not count:
            return 0.0
        frequencies = self._count_postings([each for group in groups for each in group])
        occurring = [tuple(filter(frequencies.get, group)) for group in groups]
        numbers = [self._frequency(spellings, frequencies) if spellings else 0 for spellings in occurring]
        k1 = (weights or _DEFAULT_WEIGHTS).k1
        return (k1 + 1) * math.fsum(idf(number, count) for number in numbers)

    def _words(self, groups: Sequence[tuple[str, ...]], count: int) -> list[Word]:
        """The terms that occur, with what of their variants does; of a very long query the rarest."""
        frequencies = self._count_postings([each for group in groups for each in group])
        occurring = [spellings for group in groups if (spellings := tuple(filter(frequencies.get, group)))]
        numbers = [self._frequency(spellings, frequencies) for spellings in occurring]
        chosen: list[int] = []
        room = _MOST_SPELLINGS
        for at in sorted(range(len(occurring)), key=lambda at: (numbers[at], at))[:_MOST_TERMS]:
            room -= len(occurring[at])
            if room >= 0:
                chosen.append(at)
        return [Word(occurring[at], numbers[at], idf(numbers[at], count)) for at in sorted(chosen)]

    def _measure(self) -> tuple[int, int]:
        """How many passages there are, and the sum of their lengths."""
        # No word of a text stands first in these, so that "length" is asked for like any other.
        keys = (None, "passages", self._scoped.scope_ids), (None, "length", self._scoped.scope_ids)
        known = [self._counts.find(key) for key in keys]
        if known[0] is not None and known[1] is not None:
            return known[0], known[1]
        count, total = self._scoped.run(measure_passages()).one()
        return self._counts.keep(keys[0], int(count)), self._counts.keep(keys[1], int(total or 0))

    def _count_postings(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many passages each term occurs; terms of none are left out."""
        scopes = self._scoped.scope_ids
        found = {term: n for term in terms if (n := self._counts.find((term, scopes)))}
        for piece in chunks([term for term in terms if term not in found]):
            for term, number in self._scoped.run(count_postings(), terms=piece):
                found[term] = int(number)
                if number >= _SLOW_TO_COUNT:
                    self._counts.keep((term, scopes), int(number))
        return found

    def _frequency(self, spellings: Sequence[str], frequencies: Mapping[str, int]) -> int:
        """Number of passages with any of the spellings."""
        if len(spellings) == 1:
            return frequencies[spellings[0]]
        key = (*spellings, self._scoped.scope_ids)
        known = self._counts.find(key)
        if known is not None:
            return known
        terms = {f"term_{at}": each for at, each in enumerate(spellings)}
        number = int(self._scoped.run(count_either(len(spellings)), **terms).scalar_one())
        return self._counts.keep(key, number) if number >= _SLOW_TO_COUNT else number

    def _is_summed_here(self, rare: Sequence[Word], common: Sequence[Word]) -> bool:
        """Whether a file's postings are brought together by us. One spelling has nothing to be summed with."""
        if self._scoped.connection.dialect.name != "sqlite" or len(self._scoped.scope_ids) > 1:
            return False
        return len(rare) + len(common) > 1 or len(rare[0].spellings) > 1

    def _best_sums(self, sums: WordSums, wanted: SearchFilter, limit: int) -> list[ScoredPassage]:
        """``_best`` of what is summed here."""
        first = limit * TRIED_AT_FIRST
        every = sums.find() if wanted.among is None else sums.score(sorted(wanted.among))
        done = sums.finish(every)
        if len(done) < first:
            return self._settle(done, wanted, limit)
        top = {each: _rounded(score) for each, score in best_of(done, first).items()}
        least = sorted(top.values(), reverse=True)[first - 1]
        found = self._settle({each: score for each, score in top.items() if score > least}, wanted, limit)
        if len(found) == limit:
            return found
        passing = find_passing(self._scoped, wanted, list(every))
        done = sums.finish({each: every[each] for each in passing})
        return self._settle(best_of(done, limit, slack=10.0**-SCORE_DIGITS), EVERYTHING, limit)

    def _best(
        self, shape: Shape, values: Mapping[str, Any], wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """The best that pass the filter, tried on the highest scores first: most filters leave much in."""
        first = limit * TRIED_AT_FIRST
        rows = self._scoped.run(best_scores(shape), **values, most=first)
        top = {each: _rounded(score) for each, score in rows}
        least = min(top.values(), default=0.0)
        # Others may tie with the last one, so what ties with it is not known whole.
        whole = {each: score for each, score in top.items() if score > least} if len(top) == first else top
        found = self._settle(whole, wanted, limit)
        if len(found) == limit or len(top) < first:
            return found
        statement = passing_scores(shape, replace(wanted, among=None))
        rows = self._scoped.run(statement, **values, most=limit)
        return self._settle({each: float(score) for each, score in rows}, wanted, limit)

    def _settle(self, scores: Mapping[str, float], wanted: SearchFilter, limit: int) -> list[ScoredPassage]:
        found = [(each, _rounded(score)) for each, score in scores.items()]
        return settle(self._scoped, found, wanted, limit)


def _rounded(score: float) -> float:
    return round(float(score), SCORE_DIGITS)


def _arrange(
    rare: Sequence[Word],
    common: Sequence[Word],
    weights: WordWeights,
    wanted: SearchFilter,
    *,
    across: bool,
) -> tuple[Shape, dict[str, Any]]:
    """The shape of a ranking's statement and the values of its parameters, but for numbers of the whole scope."""
    simple = [(0, word.spellings[0], word.rarity) for word in rare if len(word.spellings) == 1]
    varied = _spell_out([word for word in rare if len(word.spellings) > 1])
    others = _spell_out(common)
    shape = Shape(
        simple=_round_up(len(simple)),
        varied=_round_up(len(varied)),
        common=_round_up(len(others)),
        across=across,
        k1=weights.k1,
        b=weights.b,
        b_of_kind=tuple(sorted(weights.b_of_kind.items())),
        among=wanted.among is not None,
    )
    values: dict[str, Any] = {"among": sorted(wanted.among or ())}
    start = 0
    for size, rows in ((shape.simple, simple), (shape.varied, varied), (shape.common, others)):
        for at, (word, term, rarity) in enumerate([*rows, *[_NOTHING] * (size - len(rows))], start):
            values |= {f"word_{at}": word, f"term_{at}": term, f"rarity_{at}": rarity}
        start += size
    return shape, values


def _spell_out(words: Sequence[Word]) -> list[tuple[int, str, float]]:
    """(number of the word, spelling, idf) of each spelling."""
    return [(number, each, word.rarity) for number, word in enumerate(words) for each in word.spellings]


def _round_up(count: int) -> int:
    """How many places are made for so many terms. A word alone has nothing to be summed with."""
    if count <= 1:
        return count
    return -(-count // _STEP) * _STEP
