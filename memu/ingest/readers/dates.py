"""Times as sources write them. A time without a zone is taken as UTC; what cannot be read is None."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

__all__ = ["find_dateline", "find_path_date", "parse_time"]

_PATH_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_./]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)", re.ASCII)
_SLASHED = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})", re.ASCII)
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", re.ASCII)
_CJK = re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]", re.ASCII)
_EPOCH = re.compile(r"\d{10}(?:\d{3})?(?:\.\d+)?", re.ASCII)
_WORDED_FORMS = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y")
_DATELINE = re.compile(
    r"^\W{0,4}(?:date|created|日期|时间|datum|fecha)\W{0,4}[:：]\W{0,4}(.{4,40})$", re.IGNORECASE
)
_YEARS = range(1900, 2201)


def parse_time(value: str) -> datetime | None:
    """The moment that ``value`` names: ISO 8601, epoch seconds or milliseconds, RFC 2822 or a worded date."""
    text = value.strip()[:60]
    if not text:
        return None
    for read in (_read_iso, _read_epoch, _read_numbered, _read_worded, _read_mail):
        try:
            moment = read(text)
        except (ValueError, TypeError, OverflowError, OSError, IndexError):
            continue
        if moment is not None:
            return _settle(moment)
    return None


def find_path_date(path: str) -> datetime | None:
    """The date that a path bears (``notes/2026-11-30.md``, ``2026/11/30/x.md``, ``20261130_standup.txt``).

    The last one counts, for a file's name says more than its folder's.
    """
    found: datetime | None = None
    for match in _PATH_DATE.finditer(path):
        year, _, month, day = match.groups()
        try:
            found = datetime(int(year), int(month), int(day), tzinfo=UTC)
        except ValueError:
            continue
    return found


def find_dateline(text: str) -> datetime | None:
    """The date of a line that says nothing else (``Date: 2017-08-01``)."""
    match = _DATELINE.match(text.strip()) if len(text) < 80 else None
    return parse_time(match[1].strip(" *_`")) if match else None


def _read_iso(text: str) -> datetime | None:
    if not text[:4].isdigit() or _EPOCH.fullmatch(text):
        return None
    return datetime.fromisoformat(text.replace(",", "."))


def _read_epoch(text: str) -> datetime | None:
    if not _EPOCH.fullmatch(text):
        return None
    seconds = float(text)
    return datetime.fromtimestamp(seconds / 1000 if seconds >= 1e12 else seconds, UTC)


def _read_numbered(text: str) -> datetime | None:
    if match := _SLASHED.match(text) or _CJK.match(text):
        year, month, day = match.groups()
    elif match := _DOTTED.match(text):
        day, month, year = match.groups()
    else:
        return None
    return datetime(int(year), int(month), int(day), tzinfo=UTC)


def _read_worded(text: str) -> datetime | None:
    for form in _WORDED_FORMS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _read_mail(text: str) -> datetime | None:
    # The library takes far too much for a date; a mail date names its month and a clock time.
    return parsedate_to_datetime(text) if re.search(r"[A-Za-z]{3} \d{4} \d\d:\d\d", text) else None


def _settle(moment: datetime | date) -> datetime | None:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if moment.year not in _YEARS:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
