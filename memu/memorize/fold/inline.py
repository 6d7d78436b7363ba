"""Inline Markdown: a quote's words written so that a page's structure stays ours, and marks found again.

A quote keeps its emphasis, code spans and plain links (the export leads a relative one to where it led from the
source). Whatever would change the structure (a block's start, a footnote, a reference link, HTML, an entity) gets
a backslash in front; the source's own backslash escapes stay. So the page shows what the source shows: taking
escapes out (``unescape``) gives the same characters for both.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from memu.memorize.fold.marks import MARK_PATTERN

__all__ = ["FoundMark", "escape", "escape_label", "find_marks", "unescape"]

_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_NEWLINE = re.compile(r"\r\n?|\n")
_TICKS = re.compile(r"`+")
# What could begin a block (or end one as a table's or heading's rule) at the start of a line; a list's number
# goes in front of the backslash.
_BLOCK_START = re.compile(
    r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|[>|]|~~~|=+\s*$|([-*_])(?:\s*\1){2,}\s*$|:?\s*-[\s:|-]*$"
    r"|(?P<number>\d{1,9})(?=[.)](?:\s|$))"
)
_TICK_OR_BACKSLASH = re.compile(r"`+|\\.?", re.DOTALL)
# What Markdown acts on within a line: escapes, hard breaks, links but plain ones, code, tags, entities.
_ACTIVE_TEXT = (
    rf"\\[{re.escape(_PUNCTUATION)}]|\\(?=\n|\Z)"
    r"|(?P<link>(?<!!)\[(?!\^)[^\[\]\\`<>&\n]+\]\([^\s()<>\\`\[\]&]+\))"
    r"|\[|`|<(?=[A-Za-z/!?])|&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
_ACTIVE = re.compile(_ACTIVE_TEXT)
# Within a word an underscore is never emphasis.
_ACTIVE_IN_LABEL = re.compile(rf"{_ACTIVE_TEXT}|[*~]|(?<![^\W_])_|_(?![^\W_])")
_ESCAPED = re.compile(rf"\\([{re.escape(_PUNCTUATION)}])")
_MARK = re.compile(MARK_PATTERN)


@dataclass(frozen=True, slots=True)
class FoundMark:
    """A mark in a text, and where it stands: ``text[start:end]`` is ``[^mark]``."""

    mark: str
    start: int
    end: int


def escape(text: str, *, at_line_start: bool = True) -> str:
    """A quote as inline Markdown; its line breaks stay, blank lines and outer white space go.

    at_line_start: whether the first line will begin a line of the page (else something stands in front).
    """
    lines = [line.strip() for line in _NEWLINE.split(text)]
    flat = _join_code("\n".join(line for line in lines if line))
    pieces = [piece if is_code else _ACTIVE.sub(_escape_match, piece) for piece, is_code in _split_code(flat)]
    escaped = "".join(pieces).split("\n")
    return "\n".join(
        _escape_line_start(line) if index or at_line_start else line for index, line in enumerate(escaped)
    )


def escape_label(text: str) -> str:
    """A label, on one line, with nothing of it read as Markdown but code spans."""
    flat = " ".join(text.split())
    return "".join(
        piece if is_code else _ACTIVE_IN_LABEL.sub(_escape_match, piece) for piece, is_code in _split_code(flat)
    )


def unescape(text: str) -> str:
    """The characters that escaped text stands for: no backslash before punctuation, but in code spans.

    >>> unescape(escape("[^abcde] `a\\\\*` b\\\\_c")) == "[^abcde] `a\\\\*` b_c"
    True
    """
    if "\\" not in text:
        return text
    return "".join(piece if is_code else _ESCAPED.sub(r"\1", piece) for piece, is_code in _split_code(text))


def find_marks(text: str) -> tuple[FoundMark, ...]:
    """The footnote marks in inline Markdown; what stands in code or behind a backslash is none."""
    found: list[FoundMark] = []
    if "[^" not in text:
        return ()
    offset = 0
    for piece, is_code in _split_code(text):
        if not is_code:
            matches = _MARK.finditer(re.sub(r"\\.", "  ", piece, flags=re.DOTALL))
            found.extend(FoundMark(match[1], offset + match.start(), offset + match.end()) for match in matches)
        offset += len(piece)
    return tuple(found)


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    """Pieces of ``text`` in order, each a code span or not: a run of backticks closes with one as long."""
    if "`" not in text:
        if text:
            yield text, False
        return
    runs: dict[int, list[int]] = defaultdict(list)
    for match in _TICKS.finditer(text):
        runs[len(match.group())].append(match.start())
    start = at = 0
    while (hit := _TICK_OR_BACKSLASH.search(text, at)) is not None:
        at = hit.end()
        if hit.group()[0] == "\\":
            continue
        places = runs[at - hit.start()]
        index = bisect_left(places, at)
        if index == len(places):
            continue
        if start < hit.start():
            yield text[start : hit.start()], False
        start, at = hit.start(), places[index] + at - hit.start()
        yield text[start:at], True
        start = at
    if start < len(text):
        yield text[start:], False


def _join_code(text: str) -> str:
    """Code spans on one line each: a block's start cannot be escaped inside of one."""
    return "".join(piece.replace("\n", " ") if is_code else piece for piece, is_code in _split_code(text))


def _escape_match(match: re.Match[str]) -> str:
    found = match.group()
    # An escape of the source's own acts on the page as it did there.
    return found if match["link"] or len(found) == 2 else f"\\{found}"


def _escape_line_start(line: str) -> str:
    match = _BLOCK_START.match(line)
    if match is None:
        return line
    digits = match["number"] or ""
    return f"{digits}\\{line[len(digits) :]}"
