"""WebVTT and SubRip: a turn for each cue, with who speaks and when; a sentence over several cues is one turn."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import assemble
from memu.ingest.readers.caption_cues import SRT_START, Cue, cut_cues
from memu.ingest.readers.meeting import SPOKEN
from memu.ingest.readers.runs import NumberedLine, ends_sentence, fold, number_lines, replace_text, spread
from memu.records import Kind

__all__ = ["CaptionsReader"]

# A voice's beginning with its name, or its end.
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,80})?\s+(?P<name>[^>]{1,200})>|</v>")
_BRACKETED = re.compile(r"\s*(?:-\s*)?\[([^\[\]:]{1,40})\][:：]?\s+(?=\S)")
_TAG = re.compile(r"</?(?:[a-z]+(?:\.[^\s>]*)?(?:\s[^>]*)?|\d[\d:.]*)>", re.IGNORECASE)
_SOUNDS = frozenset(["applause", "laughter", "music", "inaudible", "crosstalk", "silence", "noise"])
_INNER_END = re.compile(r"[.!?…]\s|[。！？]")
_LONGEST_TURN = 1_200
_LONGEST_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class _Turn:
    """What one says in one cue, or in several; ``time`` as written, the others in seconds, all None if unknown."""

    speaker: str | None
    time: str | None
    began: float | None
    ended: float | None
    lines: tuple[NumberedLine, ...]

    @property
    def text(self) -> str:
        return " ".join(line.text.strip() for line in self.lines)


class CaptionsReader:
    """Meetings as captions."""

    name = "captions"
    suffixes = frozenset([".vtt", ".srt"])

    def recognises(self, source: Source) -> bool:
        head = source.text[:1000]
        return bool(re.match(r"\s*WEBVTT\b", head) or SRT_START.match(head))

    def read(self, source: Source) -> Document:
        run = number_lines(source.text.split("\n"))
        first = next((line.text.strip() for line in run if line.text.strip()), "")
        title = first.removeprefix("WEBVTT").strip(" -–—\t") if first.startswith("WEBVTT") else ""
        blocks: list[Block] = []
        cues = list(cut_cues(run))
        for turn in _join_turns(_cut_turns(cues)):
            template = Block(kind=BlockKind.TURN, text="", lines=None, speaker=turn.speaker, place=turn.time)
            blocks += spread(template, fold(turn.lines))
        damage = {"untimed_cue": sum(cue.is_damaged for cue in cues)}
        return assemble(source, kind=Kind.MEETING, title=title, blocks=blocks, damage=damage)


def _cut_turns(cues: Sequence[Cue]) -> Iterator[_Turn]:
    for cue in cues:
        for speaker, said in _cut_voices(cue.lines):
            yield _Turn(speaker, cue.time, cue.began, cue.ended, tuple(said))


def _join_turns(turns: Iterator[_Turn]) -> Iterator[_Turn]:
    """Turns of one speaker are one up to the end of the sentence; without any full stop they stay as they are."""
    held: list[_Turn] = []
    for turn in turns:
        if held and not _goes_on(held, turn):
            yield from _close(held)
            held = []
        held.append(turn)
        if ends_sentence(turn.text):
            yield from _close(held)
            held = []
    yield from _close(held)


def _goes_on(held: Sequence[_Turn], turn: _Turn) -> bool:
    size = sum(len(each.text) for each in held)
    began, ended = turn.began, held[-1].ended
    # Nobody knows a pause beside a time that cannot be read.
    pause = 0.0 if began is None or ended is None else began - ended
    return turn.speaker == held[0].speaker and pause <= _LONGEST_PAUSE and size + len(turn.text) <= _LONGEST_TURN


def _close(held: Sequence[_Turn]) -> Iterator[_Turn]:
    text = " ".join(each.text for each in held)
    if len(held) > 1 and (ends_sentence(text) or _INNER_END.search(text)):
        first, last = held[0], held[-1]
        lines = tuple(line for each in held for line in each.lines)
        yield _Turn(first.speaker, first.time, first.began, last.ended, lines)
    else:
        yield from held


def _cut_voices(lines: Sequence[NumberedLine]) -> Iterator[tuple[str | None, list[NumberedLine]]]:
    """Who says what in one cue, in order: several may speak in it, also on one line."""
    speaker: str | None = None
    held: list[NumberedLine] = []
    for line in lines:
        for is_new, found, text in _read_voices(line.text):
            if is_new:
                if held:
                    yield speaker, held
                speaker, held = found, []
            if text.strip():
                held.append(replace_text(line, text))
    if held:
        yield speaker, held


def _read_voices(text: str) -> Iterator[tuple[bool, str | None, str]]:
    """What a line says: whether somebody else begins to speak there, who (None where nobody is named), and what.

    A voice lasts until the next or its end, over the end of a line.
    """
    tags = list(_VOICE.finditer(text))
    ends = [tag.start() for tag in tags] + [len(text)]
    # A dash before a voice says that somebody else speaks.
    lead = text[: ends[0]].rstrip(" \t-") if tags else text
    if lead or not tags:
        found, said = _read_name(lead)
        yield found is not None, found, said
    for tag, end in zip(tags, ends[1:], strict=True):
        said = text[tag.end() : end].strip()
        said = said if end == len(text) and said != "-" else said.rstrip(" \t-")
        if tag["name"] is not None:
            yield True, html.unescape(tag["name"]).strip() or None, _undo(said)
        else:
            yield True, *_read_name(said)


def _read_name(text: str) -> tuple[str | None, str]:
    """Who is named in front of what is said, where no tag tells."""
    said = _undo(text)
    if (match := _BRACKETED.match(said)) and match[1].lower() not in _SOUNDS:
        return match[1].strip(), said[match.end() :]
    stripped = said.lstrip(" ->")
    if match := SPOKEN.match(stripped[:300]):
        return match[1], stripped[match.end() :]
    return None, said


def _undo(text: str) -> str:
    return html.unescape(_TAG.sub("", text))
