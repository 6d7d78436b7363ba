"""Cues of captions: the words of each and its time, also where the line of the time is damaged or missing.

A time that cannot be read is no time: nothing is guessed from the cues around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memu.ingest.readers.runs import NumberedLine

__all__ = ["SRT_START", "Cue", "cut_cues"]

_TIMING = re.compile(r"\s*((?:\d{1,3}:)?\d\d:\d\d[.,]\d{1,3})\s*-->\s*((?:\d{1,3}:)?\d\d:\d\d[.,]\d{1,3})")
SRT_START = re.compile(r"\s*\d+[ \t]*\n" + _TIMING.pattern)
"""What a file of captions without a header begins with."""

# Times as some write them, with whole seconds or fewer digits.
_TIME = re.compile(r"(?:[0-9]{1,3}:)?[0-9]{1,2}:[0-9]{2}(?:[.,][0-9]{1,3})?", re.ASCII)
# What may be left of a time: digits, what a bad copy made of them, and what stands between.
_REST = r"[\d.,;:?*#_xXlOoI\ufffd]{1,16}"
_SETTINGS = r"(?:[ \t]+[A-Za-z]{1,20}:\S{1,40}){0,8}"
_ARROW = re.compile(rf"(?P<start>{_REST})?\s*(?:[-–—=]{{0,3}}>|→)\s*(?P<end>{_REST})?{_SETTINGS}")
_CUT = re.compile(rf"(?P<start>{_REST})(?:\s*[-–—]{{0,3}}\s*(?P<end>{_REST})?)?")
_CLOCK = re.compile(r"\d:\d\d?[:.,]")
_THOUSANDTHS = re.compile(r":..?[.,]\d\d")
_HEADER = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)|(?:Style|Region):|::cue|##$")
_NAME = re.compile(r"(?=\S*[\d-])\S{1,100}")


@dataclass(frozen=True, slots=True)
class _Timing:
    """``start`` as written; it and ``end`` are None where they cannot be read."""

    start: str | None = None
    end: str | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Cue:
    """The words of a cue by their lines, and its time: as written, and in seconds when it begins and ends."""

    timing: _Timing
    lines: Sequence[NumberedLine]

    @property
    def time(self) -> str | None:
        return self.timing.start

    @property
    def began(self) -> float | None:
        return _to_seconds(self.timing.start)

    @property
    def ended(self) -> float | None:
        return _to_seconds(self.timing.end)

    @property
    def is_damaged(self) -> bool:
        return not self.timing.is_whole


def cut_cues(run: Sequence[NumberedLine]) -> Iterator[Cue]:
    """Every cue in order; headers, notes, styles and names stand outside of them. A damaged one may be empty."""
    waiting: _Timing | None = None
    in_cues = False
    for block in _cut_blocks(run):
        is_header = _HEADER.match(block[0].text.lstrip()) is not None
        lead, timed = _cut_block(block, is_header=is_header)
        lead = lead[:-1] if timed else lead
        words = [] if is_header else _find_words(lead, in_cues=in_cues)
        if words:
            yield Cue(waiting if waiting and words is lead else _Timing(), words)
        yield from (Cue(timing, lines) for timing, lines in timed if lines or not timing.is_whole)
        # A blank line may part a time from its words.
        waiting = replace(timed[-1][0], is_whole=True) if timed and not timed[-1][1] else None
        in_cues = bool(timed or words) or (in_cues and not is_header)


def _cut_blocks(run: Sequence[NumberedLine]) -> Iterator[list[NumberedLine]]:
    held: list[NumberedLine] = []
    for line in run:
        if line.text.strip():
            held.append(line)
        elif held:
            yield held
            held = []
    if held:
        yield held


def _cut_block(
    block: Sequence[NumberedLine], *, is_header: bool
) -> tuple[list[NumberedLine], list[tuple[_Timing, list[NumberedLine]]]]:
    """The lines before the first time, and the times with the lines behind each."""
    lead: list[NumberedLine] = []
    timed: list[tuple[_Timing, list[NumberedLine]]] = []
    for line in block:
        held = timed[-1][1] if timed else lead
        timing = _read_timing(line.text[:200], may_be_damaged=not is_header, opens=not timed and len(lead) < 2)
        if timing is None:
            held.append(line)
            continue
        # Without a blank line between two cues, the number before the timing is the next cue's name.
        if timed and held and held[-1].text.strip().isdigit():
            held.pop()
        timed.append((timing, []))
    return lead, timed


def _find_words(lead: list[NumberedLine], *, in_cues: bool) -> list[NumberedLine]:
    """What lines without a time say: those below a number, or among cues; in front of the first they say nothing.

    They are ``lead`` itself where no name of a cue stands above them.
    """
    if not lead:
        return []
    if lead[0].text.strip().isdigit():
        return lead[1:]
    if not in_cues:
        return []
    return lead[1:] if len(lead) > 1 and _NAME.fullmatch(lead[0].text.strip()) else lead


def _read_timing(text: str, *, may_be_damaged: bool, opens: bool) -> _Timing | None:
    """The time that a line tells, if it is the line of one. ``opens``: it stands where one is expected."""
    if (match := _TIMING.match(text)) is not None:
        return _Timing(match[1], match[2], is_whole=True)
    if not may_be_damaged:
        return None
    plain = text.strip()
    if (arrow := _ARROW.fullmatch(plain)) is not None:
        if ":" not in plain or not (opens or "-->" in plain or _THOUSANDTHS.search(plain)):
            return None
        start, end = (part if part and _TIME.fullmatch(part) else None for part in arrow.group("start", "end"))
        return _Timing(start, end, is_whole="-->" in plain and None not in (start, end))
    if (cut := _CUT.fullmatch(plain)) is not None and (_CLOCK if opens else _THOUSANDTHS).search(plain):
        start, end = (part if part and _TIME.fullmatch(part) else None for part in cut.group("start", "end"))
        return _Timing(start, end)
    return None


def _to_seconds(time: str | None) -> float | None:
    if time is None:
        return None
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds
