"""The cue words that ship with memu: general lists per language, never tuned to one user's vocabulary.

All languages are tried on every text: sources mix them, and a language guess that failed would lose facts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["LANGUAGES", "Phrases", "load_phrases", "load_source_words"]

LANGUAGES = ("en", "de", "es", "zh")
_CJK = re.compile(r"[\u3400-\u9fff]")
# What may stand between the first and the last part of a phrase with "…".
_GAP = r"(?:\W+\w+){0,4}?\W+"
_CJK_GAP = r".{0,16}?"


@dataclass(frozen=True, slots=True)
class Phrases:
    """One list of phrases, ready to be looked for; ``words`` are the phrases themselves, lower case."""

    words: frozenset[str]
    _anywhere: re.Pattern[str]
    _opening: re.Pattern[str]

    def are_in(self, text: str) -> bool:
        """Whether any phrase stands in ``text`` as whole words."""
        return self._anywhere.search(text) is not None

    def open(self, text: str) -> bool:
        """Whether ``text`` begins with a phrase, punctuation and markup aside."""
        return self._opening.match(text) is not None

    def strip_from(self, text: str) -> str:
        """``text`` without the phrases that it begins with, one after another."""
        while (found := self._opening.match(text)) and found.end():
            text = text[found.end() :]
        return text

    def name(self, heading: str) -> bool:
        """Whether ``heading``, folded, is one of the phrases."""
        return heading.lower().strip(" .:!*_`#") in self.words


@cache
def load_phrases(*names: str) -> Phrases:
    """The phrases listed under these names in any language (a name that no file has is an error)."""
    return _compile(
        phrase for name in names for language in LANGUAGES for phrase in _entries(_read(language)[name])
    )


@cache
def load_source_words(name: str) -> frozenset[str]:
    """A list of ``sources.toml``, lower case."""
    return frozenset(word.lower() for word in _entries(_read("sources")[name]))


@cache
def _read(stem: str) -> Mapping[str, object]:
    text = resources.files(__package__).joinpath("cues").joinpath(f"{stem}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _entries(listed: object) -> tuple[str, ...]:
    if isinstance(listed, str):
        return tuple(listed.split())
    return tuple(str(item) for item in listed) if isinstance(listed, list) else ()


def _compile(phrases: Iterable[str]) -> Phrases:
    words = frozenset(phrase.lower() for phrase in phrases)
    # Longest first, so that "thanks a lot" is not read as "thanks".
    ordered = sorted(words, key=lambda phrase: (-len(phrase), phrase))
    wide = "|".join(_spell(phrase) for phrase in ordered if _CJK.search(phrase))
    narrow = "|".join(_spell(phrase) for phrase in ordered if not _CJK.search(phrase))
    choices = [rf"(?<!\w)(?:{narrow})(?!\w)"] if narrow else []
    choices += [f"(?:{wide})"] if wide else []
    either = "|".join(choices) or r"(?!)"
    return Phrases(
        words=words,
        _anywhere=re.compile(either, re.IGNORECASE),
        _opening=re.compile(rf"[\W_]*?(?:{either})", re.IGNORECASE),
    )


def _spell(phrase: str) -> str:
    gap = _CJK_GAP if _CJK.search(phrase) else _GAP
    parts = [r"\s+".join(_letters(word) for word in part.split()) for part in phrase.split("…")]
    return gap.join(parts)


def _letters(word: str) -> str:
    return re.escape(word).replace("'", "['’]")
