"""Which statement takes an older one's place, told without a model: the newer one names what is no more.

"We're switching from Obsidian to Notion" makes "I use Obsidian for my notes" an earlier statement. Nothing is
concluded where the newer one does not name the old value, where the value is no name ("from coffee to tea"), or
where nobody can say which of the two is newer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from memu.languages import detect_language, stem, stop_words
from memu.records import Kind

__all__ = [
    "TOLD",
    "Replaced",
    "Statement",
    "find_replaced",
    "find_superseded",
    "holds_name",
    "is_later",
    "list_names",
    "split_told",
    "supersedes",
]

TOLD = frozenset({Kind.CHAT, Kind.SESSION, Kind.MEETING})
"""The sorts of source in which people tell what is so: a document's "instead of" is advice."""

_LONGEST = 2000
_OLD = r"(?P<old>[^\s.,;:!?()—–]\S{0,40}?(?: [^\s;:!?()—–]{1,40}){0,4}?)"
_WIDE_OLD = r"(?P<old>[^，。！？、；\s]{2,16}?)"
# At the end of a pattern nothing says where the value ends, but that names come to an end.
_LAST_OLD = r"(?P<old>[^\s,;:!?()—–]+(?: [^\s,;:!?()—–]+){0,4})"
_COUNT = r"(?P<count>\d[\d.,]*\w?)(?: (?P<unit>[^\W\d]\w+))?"
_NEW_COUNT = r"\d[\d.,]*\w?(?: (?P<new_unit>[^\W\d]\w+))?"
_WIDE_END = r"(?=[，。！？、；了\s]|$)"
_SENTENCES = re.compile(r"(?<=[.!?])\s+|[。！？\n]+")
_TOKEN = re.compile(r"[\w#+&@'’.-]*[\w#+]", re.UNICODE)
_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]")
_NUMBERS = re.compile(r"\d+")
# In German every noun has a capital, so that a lone one may be no name.
_NOUN = re.compile(r"[A-ZÄÖÜ][a-zäöüß]+")
_LEAST = 2
_SHORT = 3
_LONG_WORD = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something told: its words, whose they are, and what says when. ``speaker`` is "" where nobody is named."""

    text: str
    speaker: str = ""
    time: datetime | None = None
    path: str = ""
    line: int = 0
    ordinal: int = 0


class Replaced(NamedTuple):
    """What is no more, in lower case. ``doubtful``: it is a name that many things bear, or perhaps none."""

    name: str
    doubtful: bool


class _Cues(NamedTuple):
    language: str
    signs: tuple[str, ...]
    doubtful: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    counted: tuple[re.Pattern[str], ...]
    articles: frozenset[str]
    joint: re.Pattern[str]
    unreal: re.Pattern[str]


def supersedes(newer: Statement, older: Statement) -> bool:
    """Whether ``newer`` is of a later time, and names as no more what ``older`` names as being so."""
    return bool(find_superseded(newer, older))


def find_superseded(newer: Statement, older: Statement) -> frozenset[str]:
    """The names, in lower case, of what ``older`` names as being so and ``newer``, of a later time, as no more."""
    if newer.speaker != older.speaker or not is_later(newer, older):
        return frozenset()
    return frozenset(
        each.name
        for each in find_replaced(newer.text) - find_replaced(older.text)
        if holds_name(older.text, each.name)
        and (not each.doubtful or _share_word(newer.text, older.text, each.name))
    )


def is_later(one: Statement, other: Statement) -> bool:
    """Whether ``one`` was said after ``other``: by time, in one source by line, else by the numbers of two
    sources that are called alike but for those (``session_1``, ``session_3``)."""
    if one.path == other.path and not (one.time and other.time and one.time != other.time):
        return (one.line, one.ordinal) > (other.line, other.ordinal)
    if one.time is not None and other.time is not None:
        return one.time > other.time
    if _NUMBERS.sub("0", one.path) != _NUMBERS.sub("0", other.path):
        return False
    return [*map(int, _NUMBERS.findall(one.path))] > [*map(int, _NUMBERS.findall(other.path))]


@lru_cache(maxsize=4096)
def find_replaced(text: str) -> frozenset[Replaced]:
    """What the text says is no more.

    >>> sorted(each.name for each in find_replaced("I moved everything from Unity and C# to Godot."))
    ['c#', 'unity']
    """
    folded = text[:_LONGEST].lower()
    spoken = [cues for cues in _load() if any(sign in folded for sign in cues.signs)]
    sentences = _SENTENCES.split(text[:_LONGEST]) if spoken else ()
    return frozenset(
        each
        for sentence in sentences
        for cues in spoken
        if not cues.unreal.search(sentence)
        for each in (*_search(sentence, cues), *_search_counts(sentence, cues))
    )


def list_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Each word of the texts that may be a name, or a number, once: a newer statement would name it as no more."""
    words = (match[0] for text in texts for match in _TOKEN.finditer(text[:_LONGEST]))
    return tuple(dict.fromkeys(word for word in words if _is_name(word) or word.isdigit()))


def _search(sentence: str, cues: _Cues) -> Iterator[Replaced]:
    for pattern in cues.patterns:
        for found in pattern.finditer(sentence):
            for part in cues.joint.split(found["old"]):
                name = _cut_name(part, cues)
                if name:
                    is_noun = cues.language == "de" and _NOUN.fullmatch(name) is not None
                    yield Replaced(name.lower(), is_noun or name.lower() in cues.doubtful)


def _search_counts(sentence: str, cues: _Cues) -> Iterator[Replaced]:
    """How many of something there are no more: "72 hours", "20 languages"."""
    for pattern in cues.counted:
        for found in pattern.finditer(sentence):
            unit = (found["unit"] or found["new_unit"] or "").lower()
            if unit and unit not in stop_words(cues.language):
                yield Replaced(f"{found['count']} {unit}".lower(), doubtful=False)


def _cut_name(part: str, cues: _Cues) -> str:
    """The name that a part begins with, articles aside; "" where it is none."""
    if cues.language == "zh" and _CJK.search(part):
        return part.strip() if len(part.strip()) >= _LEAST else ""
    words = [match[0] for match in _TOKEN.finditer(part)]
    while words and words[0].lower() in cues.articles:
        words.pop(0)
    kept: list[str] = []
    for word in words:
        if not (_is_name(word) or (kept and word.isdigit())):
            break
        kept.append(word)
    return " ".join(kept)


def _is_name(word: str) -> bool:
    """Whether a word has a capital, or letters and digits; one letter alone is no name."""
    if len(word) < _LEAST:
        return False
    return any(map(str.isupper, word)) or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))


def split_told(text: str) -> tuple[str, ...]:
    """The sentences of a text, roughly: an abbreviation ends one too."""
    return tuple(each for each in _SENTENCES.split(text) if each.strip())


def holds_name(text: str, value: str) -> bool:
    """Whether a text has a name, given in lower case, as whole words."""
    if _CJK.search(value):
        return value in text.lower()
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _share_word(one: str, other: str, but: str) -> bool:
    """Whether both have another word of some weight."""
    shared = _words_of(one) & _words_of(other)
    return any(word not in but for word in shared)


def _words_of(text: str) -> frozenset[str]:
    language = detect_language(text)
    words = (match[0].lower() for match in _TOKEN.finditer(text[:_LONGEST]))
    stops = stop_words(language or "en") | stop_words("en")
    return frozenset(stem(word, language) for word in words if len(word) > _SHORT and word not in stops)


@cache
def _load() -> tuple[_Cues, ...]:
    written = resources.files("memu").joinpath("supersession.toml").read_text(encoding="utf-8")
    return tuple(_compile(language, lists) for language, lists in tomllib.loads(written).items())


def _compile_unreal(words: list[str], language: str) -> re.Pattern[str]:
    """What finds a word of these; of several words, the last may go on."""
    if language == "zh":
        return re.compile("|".join(map(re.escape, words)))
    ends = (re.escape(word) + ("" if " " in word or len(word) > _LONG_WORD else r"(?!\w)") for word in words)
    return re.compile(rf"(?<![\w])(?:{'|'.join(ends)})|n['’]t (?:switch|mov|migrat|chang)", re.IGNORECASE)


def _compile(language: str, lists: Mapping[str, list[str]]) -> _Cues:
    old, last = (_WIDE_OLD, _WIDE_OLD + _WIDE_END) if language == "zh" else (_OLD, _LAST_OLD)

    def complete(pattern: str) -> re.Pattern[str]:
        whole = pattern.replace("{old}", last if pattern.endswith("{old}") else old)
        whole = whole.replace("{count}", _COUNT).replace("{new}", _NEW_COUNT)
        return re.compile(whole, re.IGNORECASE)

    words = "|".join(map(re.escape, lists["joints"]))
    joint = rf"[/,、]|[{words}]" if language == "zh" else rf"[/,]|\s(?:{words})\s"
    return _Cues(
        language=language,
        signs=tuple(lists["signs"]),
        doubtful=frozenset(lists["doubtful"]),
        patterns=tuple(map(complete, lists["patterns"])),
        counted=tuple(map(complete, lists["counted"])),
        articles=frozenset(lists["articles"]),
        joint=re.compile(joint),
        unreal=_compile_unreal(lists["unreal"], language),
    )
