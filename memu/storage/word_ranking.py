"""Search by words: BM25 over the postings of a scope."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memu.storage.conditions import settle
from memu.storage.counts import Counts
from memu.storage.scoped import Scoped, chunks
from memu.storage.search import EVERYTHING, TRIED_AT_FIRST, ScoredPassage, SearchFilter, WordWeights
from memu.storage.word_statements import (
    Shape,
    best_scores,
    count_either,
    count_postings,
    measure_passages,
    passing_scores,
)
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


@dataclass(frozen=True, slots=True)
class _Word:
    """The spellings of a query's term that occur, in how many passages, and its idf."""

    spellings: tuple[str, ...]
    frequency: int
    rarity: float


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
        groups = _group_variants(terms)
        count, total = self._measure()
        if not groups or not count or limit <= 0:
            return []
        words = self._words(groups, count)
        if not words:
            return []
        weights = weights or _DEFAULT_WEIGHTS
        first = limit * TRIED_AT_FIRST
        rare, common = _part(words, max(weights.common_from, int(weights.common_share * count)), first)
        shape, values = _arrange(rare, common, weights, wanted, across=len(self._scoped.scope_ids) > 1)
        values["finalists"] = first * _FINALISTS
        values["average"] = max(1.0, total / count)
        return self._best(shape, values, wanted, limit)

    def most(self, terms: Sequence[QueryTerm], weights: WordWeights | None = None) -> float:
        """(k1+1) times the sum of the terms' idf, that of a word that occurs nowhere included."""
        groups = _group_variants(terms)
        count, _ = self._measure()
        if not groups or not count:
            return 0.0
        frequencies = self._count_postings([each for group in groups for each in group])
        occurring = [tuple(filter(frequencies.get, group)) for group in groups]
        numbers = [self._frequency(spellings, frequencies) if spellings else 0 for spellings in occurring]
        k1 = (weights or _DEFAULT_WEIGHTS).k1
        return (k1 + 1) * math.fsum(_idf(number, count) for number in numbers)

    def _words(self, groups: Sequence[tuple[str, ...]], count: int) -> list[_Word]:
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
        return [_Word(occurring[at], numbers[at], _idf(numbers[at], count)) for at in sorted(chosen)]

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

    def _best(
        self, shape: Shape, values: Mapping[str, Any], wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """The best that pass the filter, tried on the highest scores first: most filters leave much in."""
        first = limit * TRIED_AT_FIRST
        top = [(each, float(score)) for each, score in self._scoped.run(best_scores(shape), **values, most=first)]
        if len(top) < first:
            return settle(self._scoped, top, wanted, limit)
        # Others may tie with the last one, so what ties with it is not known whole.
        found = settle(self._scoped, [item for item in top if item[1] > top[-1][1]], wanted, limit)
        if len(found) == limit:
            return found
        statement = passing_scores(shape, replace(wanted, among=None))
        rows = self._scoped.run(statement, **values, most=limit)
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


def _idf(frequency: int, count: int) -> float:
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def _part(words: Sequence[_Word], common_above: int, wanted: int) -> tuple[list[_Word], list[_Word]]:
    """The words that find passages and those that are scored on what these find, each in their order.

    Common ones join the finders, the rarest first, until together they occur in as many passages as are wanted.
    """
    by_rarity = sorted(range(len(words)), key=lambda at: (words[at].frequency, at))
    finders: set[int] = set()
    enough = 0
    for at in by_rarity:
        if words[at].frequency <= common_above or enough < wanted:
            finders.add(at)
            enough += words[at].frequency
    common = [each for at, each in enumerate(words) if at not in finders]
    return [words[at] for at in sorted(finders)], common


def _arrange(
    rare: Sequence[_Word],
    common: Sequence[_Word],
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


def _spell_out(words: Sequence[_Word]) -> list[tuple[int, str, float]]:
    """(number of the word, spelling, idf) of each spelling."""
    return [(number, each, word.rarity) for number, word in enumerate(words) for each in word.spellings]


def _round_up(count: int) -> int:
    """How many places are made for so many terms. A word alone has nothing to be summed with."""
    if count <= 1:
        return count
    return -(-count // _STEP) * _STEP
