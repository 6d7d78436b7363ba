"""BM25 in one scope of an embedded store: a word's postings are read as two long strings, and summed here.

What SQLite takes longest over is not to read postings but to hand each over, or to bring together what is of one
passage (ADR 0092).
Scores are those of ``word_statements``, each gain by the same order of operations.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, Text, bindparam, func, literal, select

from memu.storage.scoped import Scoped
from memu.storage.search import WordWeights
from memu.storage.statements import listed
from memu.storage.tables import posting
from memu.storage.word_query import Word
from memu.storage.words import KIND_CODES

__all__ = ["WordSums", "best_of"]

# A posting's numbers in one: its frequency above its length above its kind's code.
_TF_BIT, _LENGTH_BIT = 32, 8
_LENGTHS, _KINDS = (1 << (_TF_BIT - _LENGTH_BIT)) - 1, (1 << _LENGTH_BIT) - 1


class _Gains(dict[str, float]):
    """What a word gains by a posting of these numbers, worked out when it is first met: few differ."""

    def __init__(self, rarity: float, average: float, weights: WordWeights) -> None:
        super().__init__()
        self._rarity, self._average, self._weights = rarity, average, weights
        self._b_of_code = {KIND_CODES[kind]: b for kind, b in weights.b_of_kind.items()}

    def __missing__(self, numbers: str) -> float:
        packed, k1 = int(numbers), self._weights.k1
        tf, length = packed >> _TF_BIT, packed >> _LENGTH_BIT & _LENGTHS
        b = self._b_of_code.get(packed & _KINDS, self._weights.b)
        norm = k1 * (1 - b + b * length / self._average)
        gain = self[numbers] = self._rarity * tf * (k1 + 1) / (tf + norm)
        return gain


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSums:
    """The scores of a query's words in one scope. ``finalists``: how many are scored by common words too."""

    scoped: Scoped
    rare: Sequence[Word]
    common: Sequence[Word]
    weights: WordWeights
    average: float
    finalists: int

    def find(self) -> dict[str, float]:
        """Passage id → sum by the words that find, of all that have one of them."""
        return self._sum({}, self.rare, None)

    def score(self, ids: Sequence[str]) -> dict[str, float]:
        """The same of these passages alone."""
        return self._sum({}, self.rare, ids)

    def finish(self, sums: Mapping[str, float]) -> dict[str, float]:
        """The best with what they gain by common words, all that tie with the last of them among them."""
        if not self.common:
            return dict(sums)
        final = best_of(sums, self.finalists)
        return self._sum(final, self.common, list(final))

    def _sum(
        self, begun: Mapping[str, float], words: Iterable[Word], among: Sequence[str] | None
    ) -> dict[str, float]:
        sums: defaultdict[str, float] = defaultdict(float, begun)
        for word in words:
            gains = _Gains(word.rarity, self.average, self.weights)
            for each, gain in self._gain(word, gains, among):
                sums[each] += gain
        return dict(sums)

    def _gain(self, word: Word, gains: _Gains, among: Sequence[str] | None) -> Iterable[tuple[str, float]]:
        """Passage id and gain of each that has the word, by its best spelling there."""
        if len(word.spellings) == 1:
            return self._read(word.spellings[0], gains, among)
        best: dict[str, float] = {}
        for spelling in word.spellings:
            for each, gain in self._read(spelling, gains, among):
                if gain > best.get(each, 0.0):
                    best[each] = gain
        return best.items()

    def _read(self, term: str, gains: _Gains, among: Sequence[str] | None) -> Iterable[tuple[str, float]]:
        values = {"the_scope": self.scoped.scope_ids[0], "term": term}
        statement = _postings() if among is None else _postings_among()
        ids, numbers = self.scoped.connection.execute(statement, values | {"among": among}).one()
        # Neither ids nor numbers hold the comma that they are joined by.
        return zip(ids.split(","), map(gains.__getitem__, numbers.split(",")), strict=True) if ids else ()


def best_of(sums: Mapping[str, float], count: int, *, slack: float = 0.0) -> dict[str, float]:
    """The ``count`` highest and all that tie with the last of them, or fall short of it by ``slack`` at most."""
    if len(sums) <= count:
        return dict(sums)
    least = heapq.nlargest(count, sums.values())[-1] - slack
    return {each: total for each, total in sums.items() if total >= least}


def _joined() -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    row = posting.c
    numbers = (
        row.tf.bitwise_lshift(literal(_TF_BIT, Integer))
        .bitwise_or(row.length.bitwise_lshift(literal(_LENGTH_BIT, Integer)))
        .bitwise_or(row.kind)
    )
    return func.group_concat(row.passage_id, type_=Text), func.group_concat(numbers, type_=Text)


def _of_term() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return posting.c.scope_id == bindparam("the_scope"), posting.c.term == bindparam("term")


@cache
def _postings() -> Select[Any]:
    """The passage ids and the numbers of all postings of ``term``, each in one string, in the same order."""
    return select(*_joined()).where(*_of_term())


@cache
def _postings_among() -> Select[Any]:
    """The same of the passages ``among``, looked up one by one."""
    return _postings().where(listed(posting.c.passage_id, "among"))
