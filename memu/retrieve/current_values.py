"""Questions for a value that changes: how many of something there are, or what somebody works as.

"How many languages do we support?" is answered by every count of languages that was ever told, and often best by
the first, in the words of the question; what is so now the last one says. None is left out, no page is changed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from memu.languages import stem, stop_words
from memu.supersession import list_names

__all__ = ["Asked", "find_asked"]

_LONGEST = 2000
_WORD = re.compile(r"\d[\d.,]*\d|\w+", re.UNICODE)
# "72 GPU hours": so many words may stand between a number and what it counts.
_APART = 2


class _Forms(NamedTuple):
    language: str
    many: re.Pattern[str] | None
    joints: frozenset[str]
    asked: re.Pattern[str]
    told: tuple[str, ...]
    changed: tuple[str, ...]
    words: tuple[str, ...]
    past: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    words: what finds statements of it that share no word with the question. past: what tells that a statement does
    not hold now. names: those in the question, in lower case: what names fewer of them tells of something else.
    """

    units: tuple[frozenset[str], ...]
    language: str
    past: re.Pattern[str]
    names: tuple[str, ...] = ()
    told: tuple[re.Pattern[str], ...] = ()
    changed: tuple[re.Pattern[str], ...] = ()
    words: tuple[str, ...] = ()

    def is_told(self, text: str) -> bool:
        """Whether a text tells a value of what is asked for."""
        told = any(each.search(text[:_LONGEST]) for each in (*self.told, *self.changed))
        return bool(self._count(text)) if self.units else told

    def is_newly_told(self, text: str) -> bool:
        """Whether a text tells a value that takes the place of those that were told before."""
        if self.past.search(text[:_LONGEST]):
            return False
        return self.is_told(text) if self.units else any(each.search(text[:_LONGEST]) for each in self.changed)

    def differ(self, one: str, other: str) -> bool:
        """Whether two texts that tell it tell different values."""
        return self._count(one) != self._count(other) if self.units else True

    def _count(self, text: str) -> tuple[str, ...]:
        """The number of each of the units; () unless all are counted."""
        words = [match[0].lower() for match in _WORD.finditer(text[:_LONGEST])]
        stems = [stem(word, self.language) for word in words]
        found: list[str] = []
        for unit in self.units:
            counted = (
                word
                for at, word in enumerate(words)
                if word[0].isdigit() and not unit.isdisjoint(stems[at + 1 : at + 2 + _APART])
            )
            number = next(counted, None)
            if number is None:
                return ()
            found.append(number)
        return tuple(found)


def find_asked(question: str) -> Asked | None:
    """The value that a question asks for; None where it asks for none that changes.

    >>> [sorted(unit) for unit in find_asked("How many languages and experts am I using?").units]
    [['languag'], ['expert']]
    """
    for forms in _load():
        counted = forms.many.search(question[:_LONGEST]) if forms.many else None
        units = tuple(_cut_units(counted["things"], forms)) if counted else ()
        if units:
            return Asked(units, forms.language, forms.past, _list_names(question))
        if forms.asked.search(question[:_LONGEST]):
            # Compiled only now: few questions ask so, and every fresh process would wait for it.
            told, changed = _compile_all(forms.told), _compile_all(forms.changed)
            return Asked((), forms.language, forms.past, _list_names(question), told, changed, forms.words)
    return None


def _list_names(question: str) -> tuple[str, ...]:
    """The names behind its first word, which has a capital anyway."""
    return tuple(name.lower() for name in list_names([question[:_LONGEST].strip().partition(" ")[2]]))


def _cut_units(things: str, forms: _Forms) -> Iterator[frozenset[str]]:
    """The stems of the words for each thing that is counted, up to where the question goes on."""
    held: set[str] = set()
    for match in _WORD.finditer(things):
        word = match[0].lower()
        if word in forms.joints and held:
            yield frozenset(held)
            held = set()
        elif word in stop_words(forms.language):
            break
        else:
            held.add(stem(word, forms.language))
    if held:
        yield frozenset(held)


@cache
def _load() -> tuple[_Forms, ...]:
    written = resources.files("memu.retrieve").joinpath("current_values.toml").read_text(encoding="utf-8")
    return tuple(_compile(language, lists) for language, lists in tomllib.loads(written).items())


def _compile(language: str, lists: Mapping[str, list[str]]) -> _Forms:
    many = "|".join(map(re.escape, lists["many"]))
    return _Forms(
        language=language,
        many=re.compile(rf"\b(?:{many})\b(?P<things>[^.!?\n]{{2,80}})", re.IGNORECASE) if many else None,
        joints=frozenset(lists["joints"]),
        asked=re.compile("|".join(lists["asked"]), re.IGNORECASE),
        told=tuple(lists["told"]),
        changed=tuple(lists["changed"]),
        words=tuple(lists["words"]),
        past=re.compile(_any_of(lists["past"], whole=language != "zh"), re.IGNORECASE),
    )


def _any_of(words: Sequence[str], *, whole: bool) -> str:
    joined = "|".join(map(re.escape, words))
    return rf"(?<!\w)(?:{joined})(?!\w)" if whole else joined


def _compile_all(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
