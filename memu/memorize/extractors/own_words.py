"""memu's own words in a source: what was copied from an exported page or an answer is no news and is not learned.

A page's comment and header, an answer's first line, and the footnotes that statements end in are memu's marks. A
footnote's name is the hash of the statement that it stands behind, so it can be told from somebody's own.
"""

from __future__ import annotations

import re

from memu.ingest.marks import COMMENT, GENERATOR
from memu.memorize.fold.marks import MARK_PATTERN, marks_for
from memu.tokens import text_key

__all__ = ["QUOTED_HEADS", "bears_mark", "repeats_memory"]

QUOTED_HEADS = ("Quoted from memory, best first.", "Quoted from memory, the newest session.")
"""How the blocks begin that an answer and ``recall`` give."""

_FOOTNOTE = re.compile(MARK_PATTERN)
_DIGIT = re.compile(r"[2-7]")
_FRONT = re.compile(r"^\s*(?:>\s*)?(?:[-*+]|\d+[.)])?\s*(?:\*\*.*?\*\* — )?", re.DOTALL)


def bears_mark(text: str) -> bool:
    """Whether a whole text is memu's: a page, or a block that it answered with."""
    return COMMENT in text or any(head in text for head in QUOTED_HEADS) or _has_generator(text)


def repeats_memory(statement: str) -> bool:
    """Whether a paragraph or item ends in a footnote of memu's."""
    marks = _FOOTNOTE.findall(statement)
    return bool(marks) and (any(map(_DIGIT.search, marks)) or _is_hashed(statement, marks))


def _is_hashed(statement: str, marks: list[str]) -> bool:
    """A name of letters alone may be anybody's; memu's is the hash of what stands before it."""
    key = text_key(_FRONT.sub("", _FOOTNOTE.sub("", statement), count=1))
    return any(mark.startswith(marks_for([key])[key]) for mark in marks)


def _has_generator(text: str) -> bool:
    return "generator:" in text and any(GENERATOR.fullmatch(line.strip()) for line in text.split("\n"))
