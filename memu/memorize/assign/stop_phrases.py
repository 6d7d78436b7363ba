"""Words that name no page: read once from the data file beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from memu.memorize.assign.words import Word, split_words

__all__ = ["is_edge", "is_stop_phrase", "is_stop_words"]


@cache
def is_stop_phrase(text: str) -> bool:
    """Whether a whole name says only what sort of text it is ("Notes", "Getting started"), or no word at all.

    Numbers count as nothing. A name of linking words and verbs alone ("IT", "Work") is one that somebody chose.

    >>> is_stop_phrase("Architecture decisions"), is_stop_phrase("Deploy process"), is_stop_phrase("Work")
    (True, False, False)
    """
    keys = _keys_of(split_words(text))
    return not keys or _is_covered(keys, with_generic=True)


def is_stop_words(words: Sequence[Word]) -> bool:
    """Whether words cut from a title are nothing but stop phrases, of whatever sort, and numbers."""
    return _is_covered(_keys_of(words), with_generic=False)


def is_edge(word: Word) -> bool:
    """Whether a name may begin and end with this word: no linking word and no opening verb."""
    return (word.key,) not in _load().edges


@dataclass(frozen=True, slots=True)
class _StopPhrases:
    """Stop phrases as word keys: generic ones, those no name begins or ends with, and the longest's length."""

    generic: frozenset[tuple[str, ...]]
    edges: frozenset[tuple[str, ...]]
    longest: int


def _keys_of(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.key for word in words if not word.key.isdigit())


def _is_covered(keys: tuple[str, ...], *, with_generic: bool) -> bool:
    """Whether ``keys`` are stop phrases laid end to end, one of them generic if so asked."""
    stop = _load()
    plain = [True] + [False] * len(keys)
    generic = [False] * (len(keys) + 1)
    for end in range(1, len(keys) + 1):
        for start in range(max(0, end - stop.longest), end):
            part = keys[start:end]
            if part in stop.generic and (plain[start] or generic[start]):
                generic[end] = True
            elif part in stop.edges:
                plain[end] = plain[end] or plain[start]
                generic[end] = generic[end] or generic[start]
    return generic[-1] or (plain[-1] and not with_generic)


@cache
def _load() -> _StopPhrases:
    text = resources.files("memu.memorize.assign").joinpath("stop_phrases.toml").read_text(encoding="utf-8")
    generic: set[tuple[str, ...]] = set()
    edges: set[tuple[str, ...]] = set()
    for lists in tomllib.loads(text).values():
        for name, entries in lists.items():
            keys = {tuple(word.key for word in split_words(entry)) for entry in entries}
            (generic if name == "generic" else edges).update(keys)
    return _StopPhrases(frozenset(generic), frozenset(edges), max(map(len, generic | edges)))
