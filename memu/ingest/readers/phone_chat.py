"""Chats exported from a phone as text: a line opens with date, time and who spoke (WhatsApp and its like)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.runs import NumberedLine, keep, number_lines, replace_text, spread
from memu.records import Kind

__all__ = ["PhoneChatReader"]

_SPACE = "[ _\u00a0\u202f\u2009]"
_DATE = r"(?P<first>\d{1,4})(?P<joint>[./-])(?P<second>\d{1,2})(?P=joint)(?P<third>\d{1,4})"
_CLOCK = (
    rf"(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<seconds>\d\d))?"
    rf"(?:{_SPACE}?(?P<half>[AaPp])\.?{_SPACE}?[Mm]\.?)?"
)
_STAMP = re.compile(
    rf"[\u200e\u200f\u202a-\u202e\ufeff]*(?:\[{_DATE},?{_SPACE}{{1,2}}{_CLOCK}\]{_SPACE}?"
    rf"|{_DATE.replace('P<', 'P<b_').replace('P=', 'P=b_')},?{_SPACE}{{1,2}}"
    rf"{_CLOCK.replace('P<', 'P<b_')}{_SPACE}[-–]{_SPACE})",
    re.ASCII,
)
_SPEAKER = re.compile("[\u200e\u200f\u202a-\u202e]*(?:~[ \u00a0\u202f])?(?P<name>[^:\n]{1,60}?): ?")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
# What the app writes where a message's picture or text would stand.
_STAND_IN = re.compile(
    r"<[^<>\n]{1,40} (?:omitted|weggelassen|omitido|ausgeschlossen)>|(?:image|video|audio|sticker|GIF|document"
    r"|Contact card) omitted|(?:This message was deleted|You deleted this message|Missed (?:voice|video) call)\.?"
    r"|null",
    re.IGNORECASE,
)
_LEAST = 3
_SUFFIXES = frozenset([".txt", ".text", ".log", ""])


class PhoneChatReader:
    """One turn for each message, its further lines included. Lines without a speaker are the app's own."""

    name = "phone_chat"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        if find_suffix(source.path) not in _SUFFIXES:
            return False
        lines = [line for line in source.text[:HEAD].split("\n") if line.strip()]
        opened = [line[match.end() :] for line in lines if (match := _STAMP.match(line))]
        spoken = sum(_SPEAKER.match(rest) is not None for rest in opened)
        # A message may have many lines of its own; a text of another sort does not begin with one.
        starts = any(_STAMP.match(line) for line in lines[:2])
        return starts and spoken >= _LEAST and 2 * spoken >= len(opened) and 8 * len(opened) >= len(lines)

    def read(self, source: Source) -> Document:
        messages = list(_cut_messages(number_lines(source.text.split("\n"))))
        order = _find_order([message.stamp for message in messages])
        blocks: list[Block] = []
        for message in messages:
            time = _read_time(message.stamp, order)
            turn = Block(kind=BlockKind.TURN, text="", lines=None, speaker=message.speaker, time=time)
            blocks += spread(turn, keep(message.lines))
        times = [block.time for block in blocks if block.time]
        return assemble(source, kind=Kind.CHAT, blocks=blocks, happened_at=min(times) if times else None)


@dataclass(frozen=True, slots=True)
class _Message:
    stamp: re.Match[str]
    speaker: str
    lines: list[NumberedLine]


def _cut_messages(run: Sequence[NumberedLine]) -> Iterator[_Message]:
    held: _Message | None = None
    for line in run:
        stamp = _STAMP.match(line.text)
        if stamp is None:
            if held is not None:
                held.lines.append(replace_text(line, line.text.rstrip()))
            continue
        if held is not None and _says_something(held):
            yield held
        spoken = _SPEAKER.match(line.text, stamp.end())
        held = None
        if spoken is not None:
            name = _INVISIBLE.sub("", spoken["name"]).strip()
            held = _Message(stamp, name, [replace_text(line, line.text[spoken.end() :].strip())])
    if held is not None and _says_something(held):
        yield held


def _says_something(message: _Message) -> bool:
    text = _INVISIBLE.sub("", "\n".join(line.text for line in message.lines)).strip()
    return text != "" and _STAND_IN.fullmatch(text) is None


def _field(stamp: re.Match[str], name: str) -> str | None:
    return stamp[name] or stamp[f"b_{name}"]


def _numbers(stamp: re.Match[str]) -> tuple[int, int, int]:
    return int(_field(stamp, "first") or 0), int(_field(stamp, "second") or 0), int(_field(stamp, "third") or 0)


def _find_order(stamps: Sequence[re.Match[str]]) -> str:
    """Which number is the day where the year stands last: "dmy" or "mdy", or "" where the file does not tell."""
    dates = [_numbers(stamp) for stamp in stamps if len(_field(stamp, "first") or "") < 4]
    day_first = any(first > 12 for first, _, _ in dates)
    month_first = any(second > 12 for _, second, _ in dates)
    if day_first != month_first:
        return "dmy" if day_first else "mdy"
    return ""


def _read_time(stamp: re.Match[str], order: str) -> datetime | None:
    first, second, third = _numbers(stamp)
    if len(_field(stamp, "first") or "") == 4:
        year, month, day = first, second, third
    elif order or first == second:
        year = third if third > 99 else 2000 + third
        day, month = (first, second) if order == "dmy" else (second, first)
    else:
        return None
    hour = int(_field(stamp, "hour") or 0)
    if (half := _field(stamp, "half")) is not None:
        hour = hour % 12 + 12 * (half in "Pp")
    try:
        return datetime(
            year,
            month,
            day,
            hour,
            int(_field(stamp, "minute") or 0),
            int(_field(stamp, "seconds") or 0),
            tzinfo=UTC,
        )
    except ValueError:
        return None
