"""Cutting text into sentences and bounded pieces, each a contiguous slice of the text it came from.

Latin, Cyrillic and Greek sentences end at ``. ! ? …`` before a space, unless an abbreviation, an initial, an
ordinal or a lower-case letter says that the sentence goes on; Chinese and Japanese ones at ``。！？`` anywhere.
Every function takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memu.memorize.spans import find_spans, is_inside

__all__ = ["Slice", "are_within", "count_words", "cut_pieces", "measure", "split_lines", "split_sentences"]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_CHAR = re.compile(f"[{_CJK}]")
_WORD = re.compile(rf"[^\s{_CJK}]+")
_CLOSERS = "\"'”’»)\\]*_"
# One set of characters in front, so that a search skips to the next of them at once.
_BOUNDARY = re.compile(
    rf"[。！？.!?…\n](?:(?<=[。！？])(?P<wide>[。！？]*[」』”’）】]*)"
    rf"|(?<=[.!?…])(?P<narrow>[.!?…]*+[{_CLOSERS}]*+)(?=\s|$|[{_CJK}])"
    rf"|(?<=\n)(?P<gap>[ \t]*\n))"
)
_OPENERS = re.compile(r"[(\[\"'“„«]")
_BREAKS = re.compile(r"[,;:，；、：]\s*|\s+")
# These never end a sentence; "etc." and "p.m." may, so they are left to the case of the next letter.
_ABBREVIATION = re.compile(
    r"(?i:e\.g|i\.e|cf|vs|viz|approx|ca|incl|excl|resp|ph\.d|eds?|z\.b|d\.h|u\.a|u\.ä|o\.ä|s\.o|s\.u|i\.d\.r|bzw|vgl"
    r"|evtl|ggf|inkl|exkl|zzgl|bspw|sog|hrsg|mio|mrd|p\.ej|aprox)"
    r"|Mr|Mrs|Ms|Dr|Prof|St|Rev|Gen|Col|Sgt|Capt|Gov|Sr|Sra|Srta|Dra|Uds?|Hr|Fr|Tel|Str"
)
_BEFORE_NUMBER = re.compile(
    r"nos?|nr|figs?|sec|ch|pp?|vol|abs|art|ziff|núm|págs?|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)
_WEEKDAY_OR_MONTH = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    r"|Jahrhundert|Stock|Etage|Klasse)\b"
)
# No longer word is an abbreviation, an ordinal or an initial.
_LONGEST_SHORT = 6
_CHARS_PER_WORD = 9


@dataclass(frozen=True, slots=True)
class Slice:
    """``text`` is ``source[start:end]``."""

    text: str
    start: int
    end: int


def count_words(text: str) -> int:
    """Words between spaces, plus half of the Chinese, Japanese and Korean characters, rounded up.

    >>> count_words("a plain sentence"), count_words("部署在周二")
    (3, 3)
    """
    if text.isascii():
        return len(text.split())
    return len(_WORD.findall(text)) + (len(_CJK_CHAR.findall(text)) + 1) // 2


def measure(text: str) -> int:
    """Words, but never under one for each nine characters, so that dense text (code, hashes) is bounded too."""
    return max(count_words(text), len(text) // _CHARS_PER_WORD)


def are_within(text: str, max_words: int, max_chars: int) -> bool:
    """Whether ``text`` has no more words and characters than these."""
    # No text has more words than characters.
    return len(text) <= max_chars and (len(text) <= max_words or count_words(text) <= max_words)


@lru_cache(maxsize=512)
def split_sentences(text: str) -> tuple[Slice, ...]:
    """The sentences of ``text`` without the space around them; blank lines end a sentence too.

    None is cut inside a code span or emphasis of up to 600 characters.

    >>> [part.text for part in split_sentences("Ask Dr. Roe, e.g. by mail. He knows! 周二部署。没有问题！")]
    ['Ask Dr. Roe, e.g. by mail.', 'He knows!', '周二部署。', '没有问题！']
    """
    found: list[Slice] = []
    start = 0
    spans = find_spans(text)
    for mark in _BOUNDARY.finditer(text):
        if spans and is_inside(spans, mark.end()):
            continue
        if mark.lastgroup == "narrow" and _goes_on(text, start, mark):
            continue
        _keep(found, text, start, mark.end())
        start = mark.end()
    _keep(found, text, start, len(text))
    return tuple(found)


def split_lines(text: str) -> tuple[Slice, ...]:
    """The non-blank lines of ``text`` without the space around them."""
    found: list[Slice] = []
    start = 0
    for line in text.split("\n"):
        _keep(found, text, start, start + len(line))
        start += len(line) + 1
    return tuple(found)


def cut_pieces(text: str, max_words: int, max_chars: int) -> tuple[Slice, ...]:
    """Whole ``text`` if it is within both bounds, else pieces of it at clause, word or, last, any border."""
    pieces: list[Slice] = []
    start = _skip_space(text, 0)
    while start < len(text):
        end = _find_cut(text, start, max_words, max_chars)
        _keep(pieces, text, start, end)
        start = _skip_space(text, end)
    return tuple(pieces)


def _find_cut(text: str, start: int, max_words: int, max_chars: int) -> int:
    window_end = min(len(text), start + max_chars)
    window = text[start:window_end]
    if window_end < len(text) or count_words(window) > max_words:
        window_end = start + _bound_words(window, max_words)
        clause, space = 0, 0
        for mark in _BREAKS.finditer(text, start + 1, window_end):
            space = mark.end()
            clause = mark.end() if not mark.group().isspace() else clause
        half = start + (window_end - start) // 2
        return clause if clause > half else (space or window_end)
    return window_end


def _bound_words(window: str, max_words: int) -> int:
    """The offset at which ``window`` holds ``max_words`` words, or its length."""
    doubled = 0
    for token in _tokens(window):
        doubled += 1 if _CJK_CHAR.match(token.group()) else 2
        if doubled > 2 * max_words:
            return max(1, token.start())
    return len(window)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"[{_CJK}]|[^\s{_CJK}]+", text)


def _goes_on(text: str, start: int, mark: re.Match[str]) -> bool:
    at, end = mark.span()
    sign = text[at:end]
    rest = text[end : end + 40].lstrip()
    if rest and rest[0].islower() and (sign.startswith((".", "…")) or ")" in sign):
        return True
    if not sign.startswith(".") or len(sign.rstrip("\"'”’»)]*_")) > 1:
        return False
    word = _find_last_word(text[max(start, at - 24) : at])
    if not word or len(word) > _LONGEST_SHORT:
        return False
    if _ABBREVIATION.fullmatch(word):
        return bool(rest)
    if rest[:1].isdigit() and _BEFORE_NUMBER.fullmatch(word):
        return True
    if len(word) == 1 and word.isalpha() and word.isupper() and word != "I":
        return bool(rest)
    return word.isdigit() and len(word) <= 2 and (_is_alone(text, start, mark) or _names_day(rest))


def _find_last_word(text: str) -> str:
    """The word, without marks around it, that ``text`` ends with, or ""."""
    text = text.removesuffix("\n")
    if not text or text[-1].isspace():
        return ""
    return _OPENERS.split(text.split()[-1])[-1].strip("*_`")


def _is_alone(text: str, start: int, mark: re.Match[str]) -> bool:
    return mark.start() - start <= 8 and text[start : mark.start()].strip().isdigit()


def _names_day(rest: str) -> bool:
    return _WEEKDAY_OR_MONTH.match(rest) is not None


def _skip_space(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _keep(found: list[Slice], text: str, start: int, end: int) -> None:
    raw = text[start:end]
    kept = raw.strip()
    if kept:
        left = start + len(raw) - len(raw.lstrip())
        found.append(Slice(kept, left, left + len(kept)))
