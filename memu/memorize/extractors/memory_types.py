"""Which sort of thing a statement is, by its cue words."""

from __future__ import annotations

import re

from memu.memorize.extractors.cue_words import load_phrases
from memu.records import MemoryType

__all__ = ["classify_personal", "classify_statement", "classify_written", "has_date", "has_number"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo"
    r"|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_DATE = re.compile(
    rf"\b(?:19|20)\d\d-\d\d?-\d\d?\b|\b\d{{1,2}}[./]\d{{1,2}}[./](?:19|20)?\d\d\b"
    rf"|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:of\s+|de\s+)?{_MONTH}\b"
    r"|\d{1,2}\s*月\s*\d{1,2}\s*[日号]|(?:19|20)\d\d\s*年",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
# What every date has: figures joined as in one, or how a month's name begins.
_FIGURES = re.compile(r"\d(?:[-./]\d|\s*[月年])")
_MONTH_STARTS = re.findall(r"\w+", "jan feb mar apr may jun jul aug sep oct nov dec mai dez ene abr ago okt dic")


def has_date(text: str) -> bool:
    """Whether a calendar day or year is written out in ``text``."""
    # To look for what every date has is many times faster than to look for one.
    return has_number(text) and _may_date(text) and _DATE.search(text) is not None


def _may_date(text: str) -> bool:
    lowered = text.lower()
    named = not text.isascii() or any(start in lowered for start in _MONTH_STARTS)
    return named or _FIGURES.search(text) is not None


def has_number(text: str) -> bool:
    """Whether a digit stands in ``text``."""
    return _NUMBER.search(text) is not None


def classify_personal(text: str) -> MemoryType:
    """The type of something that a person says of themselves or their work."""
    if load_phrases("preferences").are_in(text):
        return MemoryType.BEHAVIOR
    if load_phrases("identity").are_in(text):
        return MemoryType.PROFILE
    return classify_statement(text)


def classify_statement(text: str) -> MemoryType:
    """The type of something that a person says will be done, was decided or is so."""
    if load_phrases("decisions").are_in(text):
        return MemoryType.DECISION
    if load_phrases("actions").are_in(text):
        return MemoryType.ACTION
    return classify_written(text)


def classify_written(text: str) -> MemoryType:
    """The type of a document's sentence. Documents speak of the future throughout, so that shows no action."""
    if load_phrases("decisions").are_in(text):
        return MemoryType.DECISION
    return MemoryType.EVENT if has_date(text) else MemoryType.KNOWLEDGE
