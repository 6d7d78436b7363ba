"""The mark that stands in the place of forgotten words, at the ends of what is left. Pure functions."""

from __future__ import annotations

import re

__all__ = ["MARK", "find_unmarked", "is_marks_only", "trim_marks"]

MARK = "[forgotten]"
"""What stands in the place of forgotten words."""

_ANY_MARK = re.compile(re.escape(MARK))
_FIRST_MARKS = re.compile(rf"(?:\s*{re.escape(MARK)})+\s*")
_LAST_MARKS = re.compile(rf"(?<!\s)\s*(?:{re.escape(MARK)}\s*)+$")


def trim_marks(text: str) -> str:
    """``text`` without the marks that it begins or ends with; what is left is still a quote."""
    start, end = find_unmarked(text)
    return text[start:end]


def find_unmarked(text: str) -> tuple[int, int]:
    """Where what is between the marks at both ends of ``text`` begins and ends."""
    first = _FIRST_MARKS.match(text)
    start = first.end() if first else 0
    last = _LAST_MARKS.search(text, start)
    return start, last.start() if last else len(text)


def is_marks_only(text: str) -> bool:
    """Whether nothing but marks is left, or nothing at all."""
    return not any(char.isalnum() for char in _ANY_MARK.sub("", text))
