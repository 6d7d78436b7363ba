"""Names that a model gave to pages, joined where they are spellings of one: never two pages for one thing.

Only what is surely one name is joined by rule (case, spaces, hyphens, an English plural). What merely may be is
offered as pairs, for somebody to decide; two names are never joined because they look alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import resources
from itertools import islice

from memu.memorize.assign.words import Word, plain_title, split_words
from memu.records import Track

__all__ = ["PageName", "find_doubtful", "follow", "join_spellings"]

PageName = tuple[Track, str]
_MOST_PAIRS = 40


def join_spellings(names: Iterable[PageName]) -> dict[PageName, PageName]:
    """Each name → the one that is used for all its spellings: the shortest, then the first by code point.

    >>> names = [(Track.MEMORY, "Feature-Flags"), (Track.MEMORY, "feature flag")]
    >>> join_spellings(names)[Track.MEMORY, "Feature-Flags"][1]
    'feature flag'
    """
    groups: dict[tuple[Track, str], list[str]] = {}
    for track, name in sorted(set(names)):
        groups.setdefault((track, _key_of(name)), []).append(name)
    return {
        (track, name): (track, min(spellings, key=lambda each: (len(each), each)))
        for (track, _), spellings in groups.items()
        for name in spellings
    }


def find_doubtful(new: Collection[PageName], known: Collection[PageName]) -> tuple[tuple[PageName, PageName], ...]:
    """Pairs of a new name and another one, new or known, of the same track that may mean the same thing.

    They share half of the shorter one's words, or one is the other's initials. Boundedly many, in a settled order.
    """
    pairs = (
        (one, other)
        for one in sorted(new)
        for other in sorted({*new, *known} - {one})
        if one[0] is other[0] and (other in known or one < other) and _may_be_one(one[1], other[1])
    )
    return tuple(islice(pairs, _MOST_PAIRS))


def follow(joined: Mapping[PageName, PageName], name: PageName) -> PageName:
    """Where a name ends up when joins are followed one after another; a ring of them ends where it began."""
    seen = {name}
    while (onward := joined.get(name, name)) not in seen:
        seen.add(onward)
        name = onward
    return name


def _key_of(name: str) -> str:
    return "".join(word.key for word in split_words(plain_title(name))) or name.casefold()


def _may_be_one(one: str, other: str) -> bool:
    words, others = split_words(one), split_words(other)
    if _are_told_apart({word.key for word in words}, {word.key for word in others}):
        return False
    mine, theirs = _long_words(words), _long_words(others)
    if mine and theirs and 2 * len(mine & theirs) >= min(len(mine), len(theirs)):
        return True
    return _initials(words) == _key_of(other) or _initials(others) == _key_of(one)


def _are_told_apart(words: set[str], others: set[str]) -> bool:
    """Whether names differ by numbers, single letters or words of one series: they name two things."""
    mine, theirs = words - others, others - words
    if any(map(_counts_things, mine)) and any(map(_counts_things, theirs)):
        return True
    return any(not series.isdisjoint(mine) and not series.isdisjoint(theirs) for series in _series())


def _counts_things(word: str) -> bool:
    return len(word) == 1 or any(char.isdigit() for char in word)


@cache
def _series() -> tuple[frozenset[str], ...]:
    """Words of which each excludes the others, in the form that names are compared in."""
    text = resources.files(__package__).joinpath("series.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(frozenset(word.key for word in split_words(line)) for line in lines)


def _long_words(words: Iterable[Word]) -> set[str]:
    return {word.key for word in words if len(word.key) > 2}


def _initials(words: Iterable[Word]) -> str:
    found = "".join(word.key[0] for word in words)
    return found if len(found) > 1 else ""
