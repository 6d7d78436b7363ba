"""Words that name no page: read once from the data file beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from memu.memorize.assign.words import Word, split_words

__all__ = ["is_edge", "is_stop_phrase", "is_stop_words"]


@cache
def is_stop_phrase(text: str) -> bool:
    """Whether ``text`` says only what sort of text it is ("Notes", "Getting started"), or no word at all.

    >>> is_stop_phrase("Architecture decisions"), is_stop_phrase("Deploy process")
    (True, False)
    """
    return is_stop_words(split_words(text))


def is_stop_words(words: Sequence[Word]) -> bool:
    """The same for words already split; numbers count as nothing."""
    keys = [word.key for word in words if not word.key.isdigit()]
    return _is_covered(tuple(keys))


def is_edge(word: Word) -> bool:
    """Whether a name may begin and end with this word: no linking word and no opening verb."""
    return (word.key,) not in _load()[1]


def _is_covered(keys: tuple[str, ...]) -> bool:
    """Whether ``keys`` are nothing but stop phrases laid end to end."""
    phrases, _, longest = _load()
    reached = [True] + [False] * len(keys)
    for end in range(1, len(keys) + 1):
        for start in range(max(0, end - longest), end):
            if reached[start] and keys[start:end] in phrases:
                reached[end] = True
                break
    return reached[-1]


@cache
def _load() -> tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]], int]:
    """All stop phrases as word keys, those of them that no name begins or ends with, and the longest one."""
    text = resources.files("memu.memorize.assign").joinpath("stop_phrases.toml").read_text(encoding="utf-8")
    phrases: set[tuple[str, ...]] = set()
    edges: set[tuple[str, ...]] = set()
    for lists in tomllib.loads(text).values():
        for name, entries in lists.items():
            keys = {tuple(word.key for word in split_words(entry)) for entry in entries}
            phrases |= keys
            if name != "generic":
                edges |= keys
    return frozenset(phrases), frozenset(edges), max(map(len, phrases))
