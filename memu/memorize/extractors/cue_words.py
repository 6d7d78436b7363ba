"""The cue words that ship with memu: general lists per language, never tuned to one user's vocabulary.

All languages are tried on every text: sources mix them, and a language guess that failed would lose facts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import islice

__all__ = ["LANGUAGES", "Phrases", "load_phrases", "load_source_words"]

LANGUAGES = ("en", "de", "es", "zh")
_CJK = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[^\W_\u3400-\u9fff]+(?:['’.-][^\W_\u3400-\u9fff]+)*")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:['.-][a-z0-9]+)*")
# How many words, or Chinese characters, "…" stands for at most.
_GAP_WORDS = 4
_GAP_CHARS = ".{0,16}?"
_OPENING_TOKENS = 16
# So much is tokenised whole, which costs once for all lists; of more only the beginning is.
_SENTENCE_CHARS = 1200

_Tokens = tuple[str, ...]
_Phrase = tuple[_Tokens, ...]


@dataclass(frozen=True, slots=True)
class Phrases:
    """One list of phrases, ready to be looked for; ``words`` are the phrases themselves, in lower case.

    Phrases of alphabets are compared word by word, found by their first one, so that a text costs one look-up
    a word however long the list is; Chinese ones are looked for in the characters. ``_telling`` holds the longest
    word of each.
    """

    words: frozenset[str]
    _by_first: Mapping[str, tuple[_Phrase, ...]]
    _telling: frozenset[str]
    _wide: re.Pattern[str] | None
    _wide_opening: re.Pattern[str] | None

    def are_in(self, text: str) -> bool:
        """Whether any phrase stands in ``text`` as whole words."""
        if self._wide is not None and not text.isascii() and _CJK.search(text) and self._wide.search(text):
            return True
        tokens = _tokenise(text)
        # Most texts hold the "the" that some phrase begins with; few hold a word that tells.
        if self._telling.isdisjoint(tokens):
            return False
        places = [at for at, token in enumerate(tokens) if token in self._by_first]
        return any(self._match(tokens, at) for at in places)

    def open(self, text: str) -> bool:
        """Whether ``text`` begins with a phrase, punctuation and markup aside."""
        return self._find_opening(text) > 0

    def strip_from(self, text: str) -> str:
        """``text`` without the phrases that it begins with, one after another."""
        while end := self._find_opening(text):
            text = text[end:]
        return text

    def name(self, heading: str) -> bool:
        """Whether ``heading``, folded, is one of the phrases."""
        return heading.lower().strip(" .:!*_`#") in self.words

    def _find_opening(self, text: str) -> int:
        """Where the phrase that ``text`` begins with ends, or 0."""
        if self._wide_opening is not None and not text.isascii() and (wide := self._wide_opening.match(text)):
            return wide.end()
        # Nearly every text ends here: no phrase begins with its first word.
        if _find_first_word(text) not in self._by_first:
            return 0
        if len(text) <= _SENTENCE_CHARS and self._telling.isdisjoint(_tokenise(text)):
            return 0
        tokens, ends = _read_opening(text)
        count = self._match(tokens, 0)
        return ends[count - 1] if count else 0

    def _match(self, tokens: _Tokens, at: int) -> int:
        """Where the longest phrase that begins with word ``at`` ends, as a count of words, or 0."""
        ends = (_match_parts(phrase, tokens, at) for phrase in self._by_first.get(tokens[at], ()))
        return max(ends, default=0)


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
    wide = "|".join(
        _GAP_CHARS.join(map(re.escape, phrase.split("…")))
        for phrase in sorted(words, key=lambda phrase: (-len(phrase), phrase))
        if _CJK.search(phrase)
    )
    by_first: dict[str, list[_Phrase]] = {}
    telling: set[str] = set()
    for phrase in sorted(words):
        parts = tuple(filter(None, (_tokenise(part) for part in phrase.split("…"))))
        if parts and not _CJK.search(phrase):
            by_first.setdefault(parts[0][0], []).append(parts)
            telling.add(max((word for part in parts for word in part), key=len))
    return Phrases(
        words=words,
        _by_first={first: tuple(found) for first, found in by_first.items()},
        _telling=frozenset(telling),
        _wide=re.compile(wide, re.IGNORECASE) if wide else None,
        _wide_opening=re.compile(rf"[\W_]*(?:{wide})", re.IGNORECASE) if wide else None,
    )


def _match_parts(parts: _Phrase, tokens: _Tokens, at: int) -> int:
    """The count of words up to where ``parts``, the first at word ``at``, ends; 0 if they do not stand there."""
    end = at + len(parts[0])
    if tokens[at:end] != parts[0]:
        return 0
    if len(parts) == 1:
        return end
    gaps = range(end, min(end + _GAP_WORDS, len(tokens) - 1) + 1)
    return next((found for start in gaps if (found := _match_parts(parts[1:], tokens, start))), 0)


@lru_cache(maxsize=2048)
def _tokenise(text: str) -> _Tokens:
    if text.isascii():
        return tuple(_ASCII_TOKEN.findall(text.lower()))
    # Some letters fall in two when they are made small: those of a word are cut out first.
    return tuple(_fold(token) for token in _TOKEN.findall(text))


@lru_cache(maxsize=256)
def _find_first_word(text: str) -> str | None:
    """The word of an alphabet that ``text`` begins with, folded; many lists are asked for it."""
    first = _TOKEN.search(text)
    return None if first is None or _CJK.search(text, 0, first.start()) else _fold(first.group())


@lru_cache(maxsize=256)
def _read_opening(text: str) -> tuple[_Tokens, tuple[int, ...]]:
    """The first few words, folded, and where each ends."""
    marks = list(islice(_TOKEN.finditer(text), _OPENING_TOKENS))
    return tuple(_fold(mark.group()) for mark in marks), tuple(mark.end() for mark in marks)


def _fold(token: str) -> str:
    return token.lower().replace("’", "'")
