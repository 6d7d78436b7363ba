"""What is looked for in a search by words: each word with its spellings, and how rare it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memu.tokens import QueryTerm

__all__ = ["Word", "group_variants", "idf", "part_words"]


@dataclass(frozen=True, slots=True)
class Word:
    """The spellings of a query's term that occur, in how many passages any of them does, and its idf."""

    spellings: tuple[str, ...]
    frequency: int
    rarity: float


def group_variants(terms: Sequence[QueryTerm]) -> list[tuple[str, ...]]:
    """The variants of each term, without those that an earlier term has."""
    seen: set[str] = set()
    groups: list[tuple[str, ...]] = []
    for term in terms:
        new = tuple(each for each in dict.fromkeys(term.variants) if each not in seen)
        seen.update(new)
        if new:
            groups.append(new)
    return groups


def idf(frequency: int, count: int) -> float:
    """How much a word tells that ``frequency`` of ``count`` passages have."""
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def part_words(words: Sequence[Word], common_above: int, wanted: int) -> tuple[list[Word], list[Word]]:
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
