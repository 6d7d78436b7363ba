"""Where inline Markdown must not be cut: code spans, emphasis and strong emphasis."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

__all__ = ["find_spans", "is_inside"]

_MARKERS = re.compile(r"\\.|`+|\*+|_+|\n[ \t]*\n")
# What is longer is hardly a span: more likely two lone markers.
_LONGEST = 600


def find_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The spans of ``text``, apart from one another and in order: start and end, markers included.

    A marker that finds no partner within 600 characters of its paragraph is none. Linear in the text.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_pair(text)):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def is_inside(spans: tuple[tuple[int, int], ...], at: int) -> bool:
    """Whether a cut at ``at`` would leave two halves of a span."""
    place = bisect_right(spans, (at, 0)) - 1
    return place >= 0 and spans[place][0] < at < spans[place][1]


def _pair(text: str) -> Iterator[tuple[int, int]]:
    if "`" not in text and "*" not in text and "_" not in text:
        return
    begun: dict[str, int] = {}
    for match in _MARKERS.finditer(text):
        marker = match.group()
        if marker[0] == "\n":
            begun.clear()
        if marker[0] in "\\\n":
            continue
        start, code = begun.get(marker), marker[0] == "`"
        if start is not None and match.end() - start <= _LONGEST and (code or _may_close(text, match)):
            del begun[marker]
            if code:
                # Inside of code nothing else begins.
                begun = {other: at for other, at in begun.items() if at < start}
            yield start, match.end()
        elif code or _may_open(text, match):
            begun[marker] = match.start()


def _may_open(text: str, match: re.Match[str]) -> bool:
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return bool(after.strip()) and not before.isalnum()


def _may_close(text: str, match: re.Match[str]) -> bool:
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return bool(before.strip()) and not after.isalnum()
