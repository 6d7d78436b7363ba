"""Chats exported from a phone as text: a line opens with date, time and who spoke (WhatsApp and its like)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import PurePosixPath

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.runs import NumberedLine, keep, number_lines, replace_text, spread
from memu.records import Kind

__all__ = ["PhoneChatReader"]

_SPACE = "[ _\u00a0\u202f\u2009]"
_DATE = r"(?P<first>\d{1,4})(?P<joint>[./-])(?P<second>\d{1,2})(?P=joint)(?P<third>\d{1,4})"
# Which half of the day it is stands behind the time, or before it ("下午3:48").
_CLOCK = (
    r"(?P<before>[上下]午|午[前后後]|오[전후])?"
    rf"{_SPACE}?(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<seconds>\d\d))?"
    rf"(?:{_SPACE}?(?P<half>[AaPp])\.?{_SPACE}?[Mm]\.?)?"
)
# "klo" and "um" are how Finnish and German phones lead over to the time.
_LEAD = rf",?{_SPACE}{{1,2}}(?:(?:klo|um|at|às|kl\.?){_SPACE})?"
_STAMP = re.compile(
    rf"[\u200e\u200f\u202a-\u202e\ufeff]*(?:\[{_DATE}{_LEAD}{_CLOCK}\]{_SPACE}?"
    rf"|{_DATE.replace('P<', 'P<b_').replace('P=', 'P=b_')}{_LEAD}"
    rf"{_CLOCK.replace('P<', 'P<b_')}{_SPACE}[-–]{_SPACE})",
    re.ASCII,
)
_SPEAKER = re.compile("[\u200e\u200f\u202a-\u202e]*(?:~[ \u00a0\u202f])?(?P<name>[^:\n]{1,60}?): ?")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
# What the app writes where a message's picture or text would stand.
_STAND_IN = re.compile(
    r"<[^<>\n]{1,40} (?:omitted|weggelassen|omitido|ausgeschlossen)>|(?:image|video|audio|sticker|GIF|document"
    r"|Contact card) omitted|<attached: [^<>\n]{1,200}>|[^\n]{1,200} \(file attached\)"
    r"|(?:This message was deleted|You deleted this message|Missed (?:voice|video) call)\.?"
    r"|null",
    re.IGNORECASE,
)
# On an iPhone the app marks what it writes itself by a character without width.
_BY_APP = "\u200e"
_TRAILER = re.compile(
    r"(?<![ \u200e])[ \u200e]*<(?:This message was edited|Diese Nachricht wurde bearbeitet"
    r"|Se editó este mensaje\.?|attached: [^<>\n]{1,200})>$"
)
_UNNAMED = "_chat"
_AFTERNOON = frozenset(["下午", "午后", "午後", "오후"])
_LEAST = 3
# One or two messages are a chat only in the name of somebody, and of no logger or note.
_NAME = re.compile("[+~]|[^\x00-\x7f]|[A-Z]")
_NO_NAME = re.compile(
    r"\b(?i:error|warn(?:ing)?|info|debug|notice|trace|fatal|critical|notes?|status|total|todo|https?)\b|[=<>{}/\\|\[\]]"
)
_LEADS = re.compile(r",|[a-zàè]{2} |[上下]午|午[前后後]|오[전후]")
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
        if spoken < _LEAST:
            return _is_short_chat(lines)
        return starts and 2 * spoken >= len(opened) and 8 * len(opened) >= len(lines)

    def read(self, source: Source) -> Document:
        messages = list(_cut_messages(number_lines(source.text.split("\n"))))
        order = _find_order([message.stamp for message in messages])
        blocks: list[Block] = []
        for message in messages:
            time = _read_time(message.stamp, order)
            turn = Block(kind=BlockKind.TURN, text="", lines=None, speaker=message.speaker, time=time)
            blocks += spread(turn, keep(message.lines))
        times = [block.time for block in blocks if block.time]
        return assemble(
            source,
            kind=Kind.CHAT,
            title=_find_title(source.path),
            titled=False,
            blocks=blocks,
            happened_at=min(times) if times else None,
        )


def _is_short_chat(lines: Sequence[str]) -> bool:
    """Whether one or two messages are all there is, as an app writes them.

    Nothing stands in front; a comma, a word or the half of the day leads over to the time, as no logger has it.
    """
    stamps = [match for line in lines if (match := _STAMP.match(line))]
    if not stamps or _STAMP.match(lines[0]) is None or 8 * len(stamps) < len(lines):
        return False
    spoken = [match for stamp in stamps if (match := _SPEAKER.match(stamp.string, stamp.end()))]
    names = [_INVISIBLE.sub("", match["name"]).strip() for match in spoken]
    named = all(_NAME.match(name) and not _NO_NAME.search(name) for name in names)
    return bool(names) and named and all(_LEADS.search(stamp[0]) for stamp in stamps)


def _find_title(path: str) -> str | None:
    """An iPhone calls every chat the same; the archive that it came in, and so the folder, says whose it is."""
    pure = PurePosixPath(path)
    return pure.parent.name if pure.stem == _UNNAMED and pure.parent.name else None


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
                held.lines.append(replace_text(line, _TRAILER.sub("", line.text.rstrip())))
            continue
        if held is not None and _says_something(held):
            yield held
        spoken = _SPEAKER.match(line.text, stamp.end())
        held = None
        if spoken is not None:
            name = _INVISIBLE.sub("", spoken["name"]).strip()
            text = line.text[spoken.end() :].strip()
            by_app = text.startswith(_BY_APP) and "[" in stamp[0]
            held = None if by_app else _Message(stamp, name, [replace_text(line, _TRAILER.sub("", text))])
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
    """Which number is the day where the year stands last: "dmy" or "mdy", or "" where the file does not tell.

    A number over twelve tells; else that messages follow one another in time, if they do so in one order only.
    """
    written = [stamp for stamp in stamps if len(_field(stamp, "first") or "") < 4]
    dates = [_numbers(stamp) for stamp in written if _field(stamp, "joint") != "."]
    day_first = any(first > 12 for first, _, _ in dates)
    month_first = any(second > 12 for _, second, _ in dates)
    if day_first != month_first:
        return "dmy" if day_first else "mdy"
    if day_first:
        return ""
    by_day = _is_sorted([(year, month, day) for day, month, year in dates])
    by_month = _is_sorted([(year, month, day) for month, day, year in dates])
    return "" if by_day == by_month else "dmy" if by_day else "mdy"


def _is_sorted(days: Sequence[tuple[int, int, int]]) -> bool:
    return all(one <= other for one, other in pairwise(days))


def _read_time(stamp: re.Match[str], order: str) -> datetime | None:
    first, second, third = _numbers(stamp)
    # With dots the day stands first wherever people write so.
    order = "dmy" if _field(stamp, "joint") == "." else order
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
    elif (before := _field(stamp, "before")) is not None:
        hour = hour % 12 + 12 * (before in _AFTERNOON)
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
