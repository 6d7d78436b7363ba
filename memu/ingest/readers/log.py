"""Logs: a block for each record, its terminal colours left out, with time, level and service where it has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, TERMINAL, assemble, find_suffix
from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.runs import NumberedLine, keep, number_lines, replace_text, spread
from memu.records import Kind

__all__ = ["LogReader"]

_ISO = r"\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?"
_TIME = re.compile(rf"[\[(<]?({_ISO})")
_STARTS = re.compile(
    rf"[\[(<]?{_ISO}"
    r"|(?:<\d{1,3}>\d? ?)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|\S{1,60} \S{1,60} \S{1,60} \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d"
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\]?[ :\t|]"
    r"|[\[(]?\d{1,2}:\d\d:\d\d[.,]\d{3}[\])]?[ \t]"
    r"|\d{10}(?:\.\d{1,9})? "
)
_SERVICE = re.compile(r"([A-Za-z][\w.-]{0,80}[-_]\d{1,4})[ \t]+\|(?: |$)")
_CLF_TIME = re.compile(r"\[(\d\d/[A-Z][a-z]{2}/\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\]")
_LEVEL = re.compile(
    r"(?<![\w/.-])(?:(TRACE|DEBUG|VERBOSE)|(INFO|NOTICE)|(WARN(?:ING)?)|"
    r"(ERROR|ERR|CRIT(?:ICAL)?|FATAL|SEVERE|ALERT|EMERG|PANIC))(?![\w/.-])"
)
_SPELLED_LEVEL = re.compile(
    r"\b(?:level|severity|lvl)\"?[=:] ?\"?"
    r"(?:(trace|debug)|(info|notice)|(warn(?:ing)?)|(err(?:or)?|crit(?:ical)?|fatal))\b"
    r"|(?:^|[\s\]:])(?:()()([Ww]arning)|()()()([Ee]rror|[Ff]atal|panic|[A-Z]\w+(?:Error|Exception))):",
)
_LEVELS = ("debug", "info", "warning", "error")
_LEVEL_REACH = 240
_SAMPLE = 40
_LEAST_LINES = 3
_LONGEST_RECORD = 60
_OTHER_SUFFIXES = re.compile(
    r"\.(?:csv|tsv|md|markdown|jsonl?|ndjson|ya?ml|toml|xml|html?|rst|vtt|srt|eml|ipynb|py|sql)"
)


class LogReader:
    """Application, system and container logs."""

    name = "log"
    suffixes = frozenset([".log"])

    def recognises(self, source: Source) -> bool:
        if _OTHER_SUFFIXES.fullmatch(find_suffix(source.path)):
            return False
        lines = [TERMINAL.sub("", line) for line in source.text[:HEAD].split("\n") if line.strip()][:_SAMPLE]
        opened = sum(bool(_STARTS.match(line) or _SERVICE.match(line)) for line in lines)
        return opened >= _LEAST_LINES and opened >= len(lines) * 0.4

    def read(self, source: Source) -> Document:
        blocks: list[Block] = []
        for run in _cut_records(number_lines(source.text.split("\n"))):
            service = _SERVICE.match(run[0].text)
            lines = (
                [replace_text(run[0], run[0].text[service.end() :].lstrip()), *run[1:]] if service else list(run)
            )
            template = Block(
                kind=BlockKind.LOG_LINE,
                text="",
                lines=None,
                speaker=service[1] if service else None,
                time=_find_time(lines[0].text),
                level=_find_level(lines),
            )
            blocks += spread(template, keep(lines))
        times = [block.time for block in blocks if block.time]
        return assemble(source, kind=Kind.LOG, blocks=blocks, happened_at=min(times) if times else None)


def _cut_records(run: Sequence[NumberedLine]) -> Iterator[Sequence[NumberedLine]]:
    """The lines of each record: what is indented, and any line in a log whose records have a form, goes on."""
    plain = [replace_text(line, TERMINAL.sub("", line.text)) for line in run]
    formed = any(_STARTS.match(line.text) for line in plain[:_SAMPLE])
    held: list[NumberedLine] = []
    for line in plain:
        opens = bool(_STARTS.match(line.text) or _SERVICE.match(line.text))
        goes_on = bool(held) and not opens and (formed or line.text[:1] in (" ", "\t"))
        if held and (not goes_on or len(held) >= _LONGEST_RECORD):
            yield held
            held = []
        if line.text.strip() or held:
            held.append(line)
    if held:
        yield held


def _find_time(text: str) -> datetime | None:
    if match := _TIME.match(text):
        return parse_time(match[1].replace("_", " ").replace("/", "-"))
    if match := _CLF_TIME.search(text[:200]):
        day, clock, zone = match.groups()
        return parse_time(f"{day.replace('/', ' ')} {clock} {zone}")
    return None


def _find_level(run: Sequence[NumberedLine]) -> str:
    head = run[0].text[:_LEVEL_REACH]
    match = _LEVEL.search(head) or _SPELLED_LEVEL.search(head)
    if match is None or match.lastindex is None:
        return ""
    return _LEVELS[(match.lastindex - 1) % len(_LEVELS)]
