"""WebVTT and SubRip: a turn for each cue, with who speaks and when."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import assemble
from memu.ingest.readers.meeting import SPOKEN
from memu.ingest.readers.runs import NumberedLine, fold, number_lines, replace_text, spread
from memu.records import Kind

__all__ = ["CaptionsReader"]

_TIMING = re.compile(r"\s*((?:\d{1,3}:)?\d\d:\d\d[.,]\d{1,3})\s*-->\s*(?:\d{1,3}:)?\d\d:\d\d[.,]\d{1,3}")
_SRT_START = re.compile(r"\s*\d+[ \t]*\n" + _TIMING.pattern)
_VOICE = re.compile(r"\s*(?:-\s*)?<v(?:\.[^\s>]*)?\s+([^>]{1,200})>")
_BRACKETED = re.compile(r"\s*(?:-\s*)?\[([^\[\]:]{1,40})\][:：]?\s+(?=\S)")
_TAG = re.compile(r"</?(?:[a-z]+(?:\.[^\s>]*)?(?:\s[^>]*)?|\d[\d:.]*)>", re.IGNORECASE)
_SOUNDS = frozenset(["applause", "laughter", "music", "inaudible", "crosstalk", "silence", "noise"])


class CaptionsReader:
    """Meetings as captions."""

    name = "captions"
    suffixes = frozenset([".vtt", ".srt"])

    def recognises(self, source: Source) -> bool:
        head = source.text[:1000]
        return bool(re.match(r"\s*WEBVTT\b", head) or _SRT_START.match(head))

    def read(self, source: Source) -> Document:
        run = number_lines(source.text.split("\n"))
        first = next((line.text.strip() for line in run if line.text.strip()), "")
        title = first.removeprefix("WEBVTT").strip(" -–—\t") if first.startswith("WEBVTT") else ""
        blocks: list[Block] = []
        for time, lines in _cut_cues(run):
            for speaker, said in _cut_voices(lines):
                template = Block(kind=BlockKind.TURN, text="", lines=None, speaker=speaker, place=time)
                blocks += spread(template, fold(said))
        return assemble(source, kind=Kind.MEETING, title=title, blocks=blocks)


def _cut_cues(run: Sequence[NumberedLine]) -> Iterator[tuple[str, list[NumberedLine]]]:
    """Start time and text lines of each cue; headers, notes, styles and cue names stand outside of cues."""
    time: str | None = None
    held: list[NumberedLine] = []
    for line in run:
        match = _TIMING.match(line.text[:200])
        if match or not line.text.strip():
            if time is not None and held:
                # Without a blank line between two cues, the number before the timing is the next cue's name.
                yield time, held[:-1] if match and held[-1].text.strip().isdigit() else held
            time, held = match[1] if match else None, []
        elif time is not None:
            held.append(line)
    if time is not None and held:
        yield time, held


def _cut_voices(lines: Sequence[NumberedLine]) -> Iterator[tuple[str | None, list[NumberedLine]]]:
    speaker: str | None = None
    held: list[NumberedLine] = []
    for line in lines:
        found, text = _read_voice(line.text)
        if found is not None:
            if held:
                yield speaker, held
            speaker, held = found, []
        if text.strip():
            held.append(replace_text(line, text))
    if held:
        yield speaker, held


def _read_voice(text: str) -> tuple[str | None, str]:
    if match := _VOICE.match(text):
        return html.unescape(match[1]).strip(), _undo(text[match.end() :])
    said = _undo(text)
    if (match := _BRACKETED.match(said)) and match[1].lower() not in _SOUNDS:
        return match[1].strip(), said[match.end() :]
    stripped = said.lstrip(" ->")
    if match := SPOKEN.match(stripped[:300]):
        return match[1], stripped[match.end() :]
    return None, said


def _undo(text: str) -> str:
    return html.unescape(_TAG.sub("", text))
