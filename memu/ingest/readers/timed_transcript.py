"""Transcripts as Teams and its like save them: a line with who speaks and when, and below it what is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.dates import find_dateline
from memu.ingest.readers.runs import NumberedLine, fold, number_lines, spread
from memu.records import Kind

__all__ = ["TimedTranscriptReader"]

_STAMP = re.compile(
    r"(?:\*\*)?\[?(?P<name>[^\W\d_][^\n:\[\]*<>|=/\\]{0,58}?)\]?(?:\*\*)?[ \t\u00a0]{1,8}"
    r"(?P<time>(?:\d{1,2}:)?\d{1,2}:\d\d)[ \t]*"
)
# Names have their own form: a few words, each with a capital where its script has capitals.
_NAME = re.compile(r"[^\W\d_][\w.'’\-]{0,30}(?:,? (?:\(?[^\W_][\w.'’\-]{0,30}\)?)){0,5}")
_PARTICLES = frozenset(
    [
        *("al", "bin", "da", "de", "del", "den", "der", "di", "dos", "du", "el", "la", "le", "ten", "ter"),
        "van",
        "von",
    ]
)
_SUFFIXES = frozenset([".txt", ".text", ".md", ".markdown", ""])
_LEAST = 2
_MANY = 4
_LONGEST_LEAD = 12


class TimedTranscriptReader:
    """A turn for each such line, with its time as the place."""

    name = "timed_transcript"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        if find_suffix(source.path) not in _SUFFIXES:
            return False
        run = [line for line in number_lines(source.text[:HEAD].split("\n")) if line.text.strip()]
        turns = list(_cut_turns(run))
        lead = sum(1 for turn in turns if turn.speaker is None for _ in turn.lines)
        spoken = [turn for turn in turns if turn.speaker is not None]
        if len(spoken) < _LEAST or lead > _LONGEST_LEAD:
            return False
        # Chapters have times too; but none comes back, and they say nothing or lie in no order.
        names = {turn.speaker for turn in spoken}
        comes_back = len(spoken) < _MANY or len(names) < len(spoken)
        silent = sum(not turn.lines for turn in spoken[:-1])
        ordered = all(one.seconds <= other.seconds for one, other in pairwise(spoken))
        return comes_back and silent == 0 and ordered

    def read(self, source: Source) -> Document:
        blocks: list[Block] = []
        for turn in _cut_turns(number_lines(source.text.split("\n"))):
            kind = BlockKind.TURN if turn.speaker else BlockKind.PARAGRAPH
            template = Block(kind=kind, text="", lines=None, speaker=turn.speaker, place=turn.time)
            blocks += spread(template, fold(turn.lines))
        lead = [block.text for block in blocks[:_LONGEST_LEAD] if block.kind is BlockKind.PARAGRAPH]
        return assemble(
            source,
            kind=Kind.MEETING,
            blocks=blocks,
            happened_at=next(filter(None, map(find_dateline, lead)), None),
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    speaker: str | None
    time: str | None
    lines: list[NumberedLine]

    @property
    def seconds(self) -> int:
        total = 0
        for part in (self.time or "0").split(":"):
            total = total * 60 + int(part)
        return total


def _cut_turns(run: Sequence[NumberedLine]) -> Iterator[_Turn]:
    """What stands before the first, each of its lines by itself, and then the turns."""
    turn: _Turn | None = None
    for line in run:
        stamp = _STAMP.fullmatch(line.text[:200].strip())
        if stamp is not None and _is_name(stamp["name"]):
            if turn is not None:
                yield turn
            turn = _Turn(stamp["name"].strip(), stamp["time"], [])
        elif turn is not None:
            turn.lines.append(line)
        elif line.text.strip():
            yield _Turn(None, None, [line])
    if turn is not None:
        yield turn


def _is_name(name: str) -> bool:
    if _NAME.fullmatch(name) is None:
        return False
    words = [word for word in re.split("[ ,()]+", name) if word and word not in _PARTICLES]
    return bool(words) and not any(word[0].islower() for word in words)
