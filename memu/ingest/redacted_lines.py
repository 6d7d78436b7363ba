"""Secrets out of a text whose lines are records of their own: each line as if it stood alone.

So what is found in a log's line does not hang on the lines around it, and a log may be read on from any of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memu.ingest.redact import redact

__all__ = ["RedactedLines", "count_from", "redact_lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedLines:
    """A text with marks in place of its secrets, and how many of each kind were put into which line, from 1 on."""

    text: str
    by_line: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind were put in."""
        return count_from(self.by_line)


def redact_lines(text: str) -> RedactedLines:
    """The text without its secrets; lines in which one look at the whole finds none are not looked at again."""
    whole = redact(text).text
    if whole == text:
        return RedactedLines(text=text)
    by_line: dict[int, Mapping[str, int]] = {}
    lines = text.split("\n")
    for number, (line, told) in enumerate(zip(lines, whole.split("\n"), strict=True), 1):
        if line != told:
            alone = redact(line)
            lines[number - 1] = alone.text
            if alone.counts:
                by_line[number] = alone.counts
    return RedactedLines(text="\n".join(lines), by_line=by_line)


def count_from(by_line: Mapping[int, Mapping[str, int]], first: int = 1) -> dict[str, int]:
    """How many of each kind were put into the lines from ``first`` on."""
    counts: Counter[str] = Counter()
    for line, found in by_line.items():
        if line >= first:
            counts.update(found)
    return dict(sorted(counts.items()))
