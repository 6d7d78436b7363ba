"""Dates that a person wrote into a title or a file name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date

__all__ = ["find_path_date", "split_date"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar enero ene janvier janv",
            "february feb februar febrero février fevrier fév",
            "march mar märz maerz marzo mars",
            "april apr abril abr avril avr",
            "may mai mayo",
            "june jun juni junio juin",
            "july jul juli julio juillet juil",
            "august aug agosto ago août aout",
            "september sept sep septiembre septembre",
            "october oct oktober okt octubre octobre",
            "november nov noviembre novembre",
            "december dec dezember dez diciembre dic décembre decembre déc",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_Y = r"(?P<y>(?:19|20)\d\d)"
_DAY = r"(?P<d>0?[1-9]|[12]\d|3[01])"
_M = r"(?P<m>0?[1-9]|1[0-2])"
_CLOCK = r"(?:[T _-]+(?:at[ _-])?[0-2]?\d[:.\-h_][0-5]\d(?:[:.\-_][0-5]\d)?Z?)?"

# The most telling form first. Two digits and a slash are left alone: which of them is the month is not known.
_FORMS = tuple(
    re.compile(rf"(?<![\w.]){form}(?![^\W_])", re.IGNORECASE)
    for form in (
        rf"{_Y}(?P<sep>[-_./ ]){_M}(?P=sep){_DAY}{_CLOCK}",
        r"(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?:[T_-]?[0-2]\d[0-5]\d(?:[0-5]\d)?Z?)?",
        rf"{_Y}年{_M}月(?:{_DAY}[日号])?",
        rf"{_DAY}\.{_M}\.{_Y}",
        rf"{_DAY}(?:st|nd|rd|th|\.|er)?[ _-](?:of |de )?(?P<month>{_MONTH})\.?,?[ _-](?:de )?{_Y}",
        rf"(?P<month>{_MONTH})\.?[ _-]{_DAY}(?:st|nd|rd|th)?,?[ _-]{_Y}",
        rf"{_Y}[-_ ]?W(?P<w>0[1-9]|[1-4]\d|5[0-3])",
        rf"(?P<month>{_MONTH})\.?[ _-]{_Y}",
        rf"{_Y}[ _-]?Q(?P<q>[1-4])",
        rf"Q(?P<q>[1-4])[ _-]{_Y}",
        rf"{_Y}-{_M}(?![-\d])",
    )
)
# Chinese dates stand against the next word.
_UNSPACED_FORMS = (re.compile(rf"{_Y}\s*年\s*{_M}\s*月(?:\s*{_DAY}\s*[日号])?"),)
_PATH_FORM = re.compile(rf"(?:^|/){_Y}/{_M}(?:/{_DAY})?(?=[/._ -]|$)")
_LOOSE = " \t-–—_,.:;·|/()[]"


def split_date(text: str) -> tuple[str, str | None]:
    """``text`` without the first date in it, and that date as "2024-01-05" or, with no day, "2024-01".

    >>> split_date("Stand-up, 5 January 2024"), split_date("Budget")
    (('Stand-up', '2024-01-05'), ('Budget', None))
    """
    text = unicodedata.normalize("NFC", text)
    for form in _UNSPACED_FORMS + _FORMS:
        for match in form.finditer(text):
            found = _iso(match.groupdict().get)
            if found:
                before, after = text[: match.start()].rstrip(_LOOSE), text[match.end() :].lstrip(_LOOSE)
                rest = f"{before} {after}" if before and after else before or after
                return rest.strip(_LOOSE), found
    return text.strip(), None


def find_path_date(folder: str) -> str | None:
    """The date that folders spell, as in ``journal/2024/01/05``."""
    match = _PATH_FORM.search(folder)
    return _iso(match.groupdict().get) if match else None


def _iso(part: Callable[[str], str | None]) -> str | None:
    """The date of a match's named parts; None where the calendar knows no such day."""
    year, month, day = int(part("y") or 0), part("month") or part("m"), part("d")
    try:
        if part("w"):
            return date.fromisocalendar(year, int(part("w") or 0), 1).isoformat()
        if part("q"):
            return f"{year:04}-{int(part('q') or 0) * 3 - 2:02}"
        number = _MONTHS.get((month or "").casefold()) or int(month or 0)
        return date(year, number, int(day)).isoformat() if day else f"{year:04}-{number:02}"
    except ValueError:
        return None
