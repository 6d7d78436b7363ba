"""Numbers and dates as they stand in text of several languages, folded so that two ways to write one meet."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["Figures", "is_calendar_word", "load_words", "read_figures", "strange_figures"]

Day = tuple[int | None, int | None, int | None]
"""Year, month and day; None where it is not said."""

_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?![\d.]*\d)")
_SHORT = re.compile(r"(?<![\d./-])(\d{1,2})([./-])(\d{1,2})\2((?:19|20)?\d\d)(?![\d/-])")
_WIDE = re.compile(r"(?:((?:19|20)\d\d)\s*年)?\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号])?|((?:19|20)\d\d)\s*年")
_DAY = r"(\d{1,2})(?:st|nd|rd|th|º)?"
_DAYS = rf"(?:{_DAY}\.?\s*(?:[-–/]|to|bis|al?|and|und|y)\s*)?{_DAY}"
_YEAR = r"(?:,?\s*(?:of\s+|del?\s+)?((?:19|20)\d\d))?"
_NUMBER = re.compile(r"(?<![A-Za-z_\u00c0-\u024f\d])(?<!\d[.,:'’])\d+(?:[.,:'’\u00a0\u202f]\d+)*")
_ANY_NUMBER = re.compile(r"\d+(?:[.,:'’\u00a0\u202f]\d+)*")
_DIGIT = re.compile(r"\d")
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?")
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_WIDE_NUMBER = re.compile(
    r"([二两三四五六七八九十百千万〇零][一二两三四五六七八九十百千万〇零]*)"
    r"(?=[个天年月日号时点分秒次人元块台条项倍份件名位层页步周小])"
)
_WIDE_WEEKDAY = re.compile(r"(?:周|星期|礼拜)[一二三四五六日天]")
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a text holds: numbers in canonical forms, dates as readings, weekdays (0 is Monday)."""

    numbers: frozenset[str]
    days: frozenset[Day]
    weekdays: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Mention:
    """Text as written, and what it may mean."""

    text: str
    start: int
    end: int
    readings: frozenset[Day]


def read_figures(text: str) -> Figures:
    """All figures of a text, taken liberally: a date's parts count as numbers, and so do digits inside words."""
    mentions = list(_find_dates(text))
    days = {day for mention in mentions for day in mention.readings}
    numbers = {form for match in _ANY_NUMBER.finditer(text) for form in _forms(match.group())}
    numbers |= {str(part) for day in days for part in day if part is not None}
    numbers |= {str(value) for _, value in _number_words(text)}
    words = [word.casefold() for word in _WORD.findall(text)]
    months = (_calendar()["months"].get(word) for word in words)
    days |= {(None, month, None) for month in months if month is not None}
    weekdays = {day for word in words if (day := _calendar()["weekdays"].get(word)) is not None}
    weekdays |= {_calendar()["weekdays"][match] for match in _WIDE_WEEKDAY.findall(text)}
    return Figures(numbers=frozenset(numbers), days=frozenset(days), weekdays=frozenset(weekdays))


def strange_figures(text: str, known: Figures) -> Iterator[str]:
    """The numbers, dates, months and weekdays of ``text``, as written, that ``known`` does not hold."""
    bare = text
    for mention in _find_dates(text):
        if not any(_holds(known, day) for day in mention.readings):
            yield mention.text.strip(" .,")
        blank = " " * (mention.end - mention.start)
        bare = bare[: mention.start] + blank + bare[mention.end :]
    for match in _NUMBER.finditer(bare):
        if known.numbers.isdisjoint(_forms(match.group())):
            yield match.group()
    for word, value in _number_words(bare):
        if word.casefold() not in load_words("ambiguous") and str(value) not in known.numbers:
            yield word
    for word in _WORD.findall(bare):
        folded = word.casefold()
        month, weekday = _calendar()["months"].get(folded), _calendar()["weekdays"].get(folded)
        # "may" is a verb, "May" at a text's beginning may be one.
        if folded in load_words("ambiguous") or not (word[0].isupper() or folded in load_words("lower_case")):
            continue
        strange_month = month is not None and not any(day[1] == month for day in known.days)
        if strange_month or (weekday is not None and weekday not in known.weekdays):
            yield word
    for written in _WIDE_WEEKDAY.findall(bare):
        if _calendar()["weekdays"][written] not in known.weekdays:
            yield written


def is_calendar_word(word: str) -> bool:
    """Whether a word is a month's or a weekday's name, in any language known here."""
    folded = word.casefold()
    return folded in _calendar()["months"] or folded in _calendar()["weekdays"]


def _holds(known: Figures, day: Day) -> bool:
    """Whether a source says this date; the year alone may stand elsewhere in it."""
    year, month, number = day
    if month is None:
        return str(year) in known.numbers
    for other_year, other_month, other_number in known.days:
        if other_month != month or (number is not None and other_number != number):
            continue
        if year is None or other_year == year or (other_year is None and str(year) in known.numbers):
            return True
    return False


def _find_dates(text: str) -> Iterator[_Mention]:
    """Dates in figures and with months' names, none inside another."""
    if not _DIGIT.search(text):
        return
    taken: list[tuple[int, int]] = []
    for mention in sorted((*_numeric_dates(text), *_named_dates(text)), key=lambda each: each.start - each.end):
        if mention.readings and all(mention.end <= start or mention.start >= end for start, end in taken):
            taken.append((mention.start, mention.end))
            yield mention


def _numeric_dates(text: str) -> Iterator[_Mention]:
    for match in _ISO.finditer(text):
        yield _mention(match, [(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)])
    for match in _SHORT.finditer(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        year += 2000 if year < 100 else 0
        yield _mention(match, [(year, second, first), (year, first, second)])
    for match in _WIDE.finditer(text):
        if match[4]:
            yield _mention(match, [(int(match[4]), None, None)])
            continue
        day = int(match[3]) if match[3] else None
        yield _mention(match, [(int(match[1]) if match[1] else None, int(match[2]), day)])


def _named_dates(text: str) -> Iterator[_Mention]:
    month_of = _calendar()["months"]
    # The patterns try every month at every word; few texts name one.
    if month_of.keys().isdisjoint(word.casefold() for word in _WORD.findall(text)):
        return
    before, after, alone = _patterns()
    for pattern, name, numbers in ((before, 1, (2, 3)), (after, 3, (1, 2))):
        for match in pattern.finditer(text):
            year = int(match[4]) if match[4] else None
            month = month_of[match[name].casefold()]
            yield _mention(match, [(year, month, int(match[number])) for number in numbers if match[number]])
    for match in alone.finditer(text):
        yield _mention(match, [(int(match[2]), month_of[match[1].casefold()], None)])


def _mention(match: re.Match[str], days: list[Day]) -> _Mention:
    sound = [
        day for day in days if (day[1] is None or 1 <= day[1] <= 12) and (day[2] is None or 1 <= day[2] <= 31)
    ]
    return _Mention(match.group(), match.start(), match.end(), frozenset(sound))


def _forms(token: str) -> set[str]:
    """The ways a number may be meant: ``1.000`` is a thousand or one, ``09:00`` is nine."""
    plain = token.replace("’", "'").replace("\u00a0", " ").replace("\u202f", " ")
    parts = [part.lstrip("0") or "0" for part in re.split(r"[.,:' ]", plain)]
    forms = {".".join([parts[0], *re.split(r"[.,:' ]", plain)[1:]])}
    if _GROUPED.fullmatch(token):
        forms.add("".join(re.split(r"[.,:' ]", plain)).lstrip("0"))
        last = re.search(r"[.,](\d{1,2})$", plain)
        if last:
            forms.add("".join(re.split(r"[.,:' ]", plain[: last.start()])) + "." + last[1])
    if len(parts) > 1 and set(parts[1:]) == {"0"}:
        forms.add(parts[0])
    return forms


def _number_words(text: str) -> Iterator[tuple[str, int]]:
    for word in _WORD.findall(text):
        value = _calendar()["numbers"].get(word.casefold())
        if value is not None:
            yield word, value
    for match in _WIDE_NUMBER.finditer(text):
        yield match.group(), _read_wide(match.group())


def _read_wide(written: str) -> int:
    """三十二 → 32."""
    total, section = 0, 0
    for char in written:
        power = _POWERS.get(char)
        if power is None:
            section = section * 10 + _DIGITS[char] if section and char in "零〇" else _DIGITS[char]
        elif power == 10_000:
            total, section = (total + section or 1) * power, 0
        else:
            total, section = total + (section or 1) * power, 0
    return total + section


@cache
def _words() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _calendar() -> Mapping[str, Mapping[str, int]]:
    """Words to months (from 1), weekdays (from 0) and numbers."""
    words = _words()
    return {
        "months": {word: at for at, listed in enumerate(words["months"], 1) for word in listed.split()},
        "weekdays": {word: at for at, listed in enumerate(words["weekdays"]) for word in listed.split()},
        "numbers": {word: int(value) for value, listed in words["numbers"].items() for word in listed.split()},
    }


@cache
def load_words(name: str) -> frozenset[str]:
    """A list of ``words.toml``."""
    return frozenset(str(_words()[name]).split())


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A month before its day, a day before its month, a month before its year."""
    names = "|".join(sorted(_calendar()["months"], key=lambda name: (-len(name), name)))
    month = rf"\b({names})\b\.?"
    written = (
        rf"{month}\s+{_DAYS}(?!\d){_YEAR}",
        rf"(?<!\d){_DAYS}\.?\s+(?:of\s+|de\s+)?{month}{_YEAR}",
        rf"{month}\s+(?:of\s+|del?\s+)?((?:19|20)\d\d)\b",
    )
    before, after, alone = (re.compile(pattern, re.IGNORECASE) for pattern in written)
    return before, after, alone
