"""What memu knows of human languages: scripts, stop words, Snowball stems, and which language a text is in.

Codes are ISO 639-1, and ``zxx`` of ISO 639-2 for what is in no language. Everything here is a pure function of its
arguments and of the package's own word lists.
"""

from __future__ import annotations

import importlib
import re
import threading
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from importlib import resources
from typing import Protocol

__all__ = [
    "MARKS",
    "NO_LANGUAGE",
    "STEMMED_LANGUAGES",
    "detect_language",
    "is_letters",
    "stem",
    "stop_words",
    "without_accents",
]

_SNOWBALL = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip
STEMMED_LANGUAGES = frozenset(_SNOWBALL)
NO_LANGUAGE = "zxx"
"""Of text that nobody speaks, like a lock file's: its words are indexed as they are, and no vector is made."""
_VOTING = ("cs", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pl", "pt", "ro", "sv", "tr")
_DETECT_CHARS = 20_000
_LEAST_VOTES = 0.5
_LEAST_SHARE = 0.06
_LEAST_LEAD = 1.1
# A character of Chinese or Korean says about as much as three letters.
_DENSE = {"han": 3, "hangul": 3}

_SCRIPTS = (
    (0x0041, 0x024F, "latin"), (0x0370, 0x03FF, "greek"), (0x0400, 0x052F, "cyrillic"),
    (0x0590, 0x05FF, "hebrew"), (0x0600, 0x06FF, "arabic"), (0x0900, 0x097F, "devanagari"),
    (0x0E00, 0x0E7F, "thai"), (0x1E00, 0x1EFF, "latin"), (0x1F00, 0x1FFF, "greek"),
    (0x3040, 0x30FF, "kana"), (0x3400, 0x9FFF, "han"), (0xAC00, 0xD7AF, "hangul"),
)  # fmt: skip
_LANGUAGE_OF = {"greek": "el", "hebrew": "he", "devanagari": "hi", "thai": "th", "han": "zh", "hangul": "ko"}
_STEMMER_OF = {"latin": "en", "cyrillic": "ru", "greek": "el", "arabic": "ar", "devanagari": "hi"}
_SCRIPT_OF = {"ru": "cyrillic", "uk": "cyrillic", "ar": "arabic", "fa": "arabic"} | {
    language: script for script, language in _LANGUAGE_OF.items()
}

# Combining marks are no word characters to ``re``; without them Indic words would fall apart.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c7\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0903"
    "\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0a3c-\u0a4d\u0abc-\u0acd\u0b3c-\u0b4d\u0bbe-\u0bcd\u0c3c-\u0c4d"
    "\u0cbc-\u0ccd\u0d3b-\u0d4d\u0dca-\u0ddf\u200c\u200d"
)
_MARK = re.compile(f"[{MARKS}]")
# Accents of Latin, Greek and Cyrillic (й stays a letter of its own), Hebrew points, Arabic vowel signs.
_ACCENT = re.compile("(?<!и)[\u0300-\u036f]|[\u0591-\u05c7\u064b-\u065f\u0670\u0640]")
_WORDS = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")
_ASCII_WORDS = re.compile("[a-z]+")


def detect_language(text: str) -> str | None:
    """The language of a text, or None when unsure: by script first, then by votes of stop words.

    Only the first 20,000 characters are looked at. The same text always gives the same answer.
    """
    sample = text[:_DETECT_CHARS]
    if sample.isascii():
        return _vote(sample)
    counts = Counter(map(_script, sample))
    del counts[""]
    if not counts:
        return None
    if counts["kana"] and counts["kana"] + counts["han"] > counts["latin"]:
        return "ja"
    script = max(sorted(counts), key=lambda name: counts[name] * _DENSE.get(name, 1))
    if script == "latin":
        return _vote(sample)
    if script == "cyrillic":
        return "uk" if re.search("[іїєґІЇЄҐ]", sample) else "ru"
    if script == "arabic":
        return "fa" if re.search("[پچژگ]", sample) else "ar"
    return _LANGUAGE_OF.get(script)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that carry grammar and no content, case-folded; empty where memu has no list."""
    source = resources.files("memu") / "stopwords" / f"{language}.txt"
    return frozenset(source.read_text(encoding="utf-8").split()) if source.is_file() else frozenset()


def is_letters(word: str) -> bool:
    """Whether a word is made of letters alone, their marks counted with them."""
    return word.isalpha() or (not word.isascii() and _MARK.sub("", word).isalpha())


def without_accents(word: str) -> str:
    """``résumé`` → ``resume``; a word of nothing else stays."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", word))) or word


def stem(word: str, language: str | None) -> str:
    """The Snowball stem of a case-folded word, without accents.

    ``language`` counts where it is written in the word's script; else the script's commonest stemmer is taken
    (English for Latin letters). What is not letters alone, or has no stemmer, loses only its accents.
    """
    if not is_letters(word):
        return without_accents(word)
    script = _script(word[0])
    spoken = language if language and _SCRIPT_OF.get(language, "latin") == script else _STEMMER_OF.get(script)
    return without_accents(_snowball(word, spoken) if spoken in STEMMED_LANGUAGES else word)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str:  # noqa: N802 - the library's name
        """The stem."""


# A stemmer object keeps its word while it works, so one thread at a time.
_stemming = threading.Lock()


@lru_cache(maxsize=100_000)
def _snowball(word: str, language: str) -> str:
    with _stemming:
        return _stemmer(language).stemWord(word)


@cache
def _stemmer(language: str) -> _Stemmer:
    name = _SNOWBALL[language]
    # Not ``snowballstemmer.stemmer()``: that takes another implementation's stems where one is installed.
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    stemmer: _Stemmer = getattr(module, f"{name.title()}Stemmer")()
    return stemmer


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    if not char.isalpha():
        return ""
    return next((name for low, high, name in _SCRIPTS if low <= ord(char) <= high), "other")


def _vote(text: str) -> str | None:
    """The Latin-script language whose stop words stand out. A word shared by several is shared as a vote."""
    counts = Counter((_ASCII_WORDS if text.isascii() else _WORDS).findall(text.casefold()))
    voters = _voters()
    least = max(_LEAST_VOTES, counts.total() * _LEAST_SHARE)
    shares: dict[str, float] = {}
    for word, count in counts.items():
        for language in voters.get(word, ()):
            shares[language] = shares.get(language, 0.0) + count / len(voters[word])
    ranked = sorted(shares.items(), key=lambda share: (-share[1], share[0]))
    if not ranked or ranked[0][1] < least:
        return None
    return None if len(ranked) > 1 and ranked[0][1] < ranked[1][1] * _LEAST_LEAD else ranked[0][0]


@cache
def _voters() -> dict[str, tuple[str, ...]]:
    voters: dict[str, tuple[str, ...]] = {}
    for language in _VOTING:
        for word in stop_words(language):
            voters[word] = (*voters.get(word, ()), language)
    return voters
