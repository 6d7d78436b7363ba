"""The parts of a text that may be statements of their own.

A text is looked at whole, by sentences, by lines, by sentences of lines, by what stands behind a label, a marker
or a log's time ("Alice: …", "1. …", "10:02 INFO …"), in quotes or in a table's cell, and, where it is long, by the
pieces that passages and candidates are cut to. A full stop ends one, whatever follows it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from memu.memorize.candidate import MAX_CHARS, MAX_WORDS
from memu.memorize.forget.runs import LEVELS, MARKERS, follows_marker
from memu.memorize.passages import MAX_PASSAGE_CHARS, MAX_PASSAGE_WORDS
from memu.memorize.sentences import Slice, cut_pieces, split_lines, split_sentences

__all__ = ["list_joined", "list_units"]

_BOUNDS = ((MAX_PASSAGE_WORDS, MAX_PASSAGE_CHARS), (MAX_WORDS, MAX_CHARS))
_LONGEST = 2 * MAX_CHARS
_LONG = MAX_PASSAGE_CHARS // 3
_OPENING = re.compile(
    r"(?:[:|\])>=]|\s[-–—]|^\s*[-*+]|^\s*\d{1,3}[.)])\s+|：\s*|(?:^|(?<=\s))(?:#+|//+|/\*+|;+|%+|--|(?i:rem\b))\s*"
)
_MARKER = re.compile(rf"(?:^|(?<=\s)){MARKERS}\s+")
_LOG_HEAD = re.compile(
    rf"\s*(?:(?:[\[(]?\d+(?:[:./-][\d:.,/+TZ-]+|\d{{8}})[\])]?|\[[^\[\]\n]{{1,60}}\]|\[?{LEVELS}[\]:]*)\s+){{1,6}}"
)
_FULL_STOP = re.compile(r"[.!?…]{1,20}[\"'”’»)\]*_]{0,20}(?:\s+|$)")
# A cell of a table; in prose a comma is followed by a space.
_CELL = re.compile(r'"[^"\n]+"|(?<!\w)\'[^\'\n]+\'(?!\w)|[“„][^“”„\n]+[“”]|(?:[^|\t;,"\n]|,(?=\s))+')
_MOST_IN_A_RUN = 12
_HEAD = 80


def list_units(text: str) -> Iterator[Slice]:
    """The parts of ``text`` that may be statements of their own, some of them inside others."""
    seen: set[tuple[int, int]] = set()
    for unit in _units(text):
        if unit.text and (unit.start, unit.end) not in seen:
            seen.add((unit.start, unit.end))
            yield unit


def list_joined(text: str, units: Sequence[Slice]) -> Iterator[Slice]:
    """Runs of sentences, or of lines, around these: a short one among them goes with the others."""
    places = {(unit.start, unit.end) for unit in units}
    for row in (split_sentences(text), split_lines(text)):
        found = (at for at, unit in enumerate(row) if (unit.start, unit.end) in places)
        for first, last in sorted({run for at in found for run in _runs_around(at, len(row))}):
            start, end = row[first].start, row[last].end
            # A bracket at the end adds nothing to what is known by itself.
            if _has_words(row[first].text) and _has_words(row[last].text):
                yield Slice(text[start:end], start, end)


def _units(text: str) -> Iterator[Slice]:
    yield _within(Slice(text, 0, len(text)), 0, len(text))
    sentences, lines = split_sentences(text), split_lines(text)
    yield from sentences
    yield from lines
    for part in (*sentences, *lines):
        yield from _finer(part)


def _finer(part: Slice) -> Iterator[Slice]:
    if "\n" not in part.text:
        for sentence in split_sentences(part.text):
            yield _within(part, sentence.start, sentence.end)
        yield from _stretches(part)
        for cell in _CELL.finditer(part.text):
            yield _within(part, cell.start(), cell.end())
    if len(part.text) > _LONG:
        for words, chars in _BOUNDS:
            for piece in cut_pieces(part.text, words, chars):
                yield _within(part, piece.start, piece.end)


def _stretches(part: Slice) -> Iterator[Slice]:
    """What stands between a label or full stop and the next full stop, or the end."""
    stops = [match.end() for match in _FULL_STOP.finditer(part.text)]
    text = part.text
    marked = (match.end() for match in _MARKER.finditer(text))
    starts = {0, *stops, *(match.end() for match in _OPENING.finditer(text))}
    starts |= {at for at in marked if follows_marker(text[max(0, at - _HEAD) : at], text[at : at + 1])}
    if head := _LOG_HEAD.match(part.text):
        starts.add(head.end())
    for start in sorted(starts):
        nearest = bisect_right(stops, start)
        for end in {len(part.text), *stops[nearest : nearest + 1]}:
            # No statement is longer, so nothing longer is one.
            if end - start <= _LONGEST:
                yield _within(part, start, end)


def _within(outer: Slice, start: int, end: int) -> Slice:
    raw = outer.text[start:end]
    left = start + len(raw) - len(raw.lstrip())
    text = raw.strip()
    return Slice(text, outer.start + left, outer.start + left + len(text))


def _runs_around(at: int, count: int) -> Iterator[tuple[int, int]]:
    for first in range(max(0, at - _MOST_IN_A_RUN + 1), at + 1):
        for last in range(max(at, first + 1), min(first + _MOST_IN_A_RUN, count)):
            yield first, last


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)
