"""The records of a session's log: JSON lines, one by one, or the items of one JSON text, each with its lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memu.ingest.readers.json_tree import Json, list_values, parse_json
from memu.ingest.readers.runs import LineIndex
from memu.ingest.sessions.fields import PlacedText
from memu.records import LineSpan

__all__ = [
    "LINES_THAT_TELL",
    "LONGEST_LINE",
    "Record",
    "are_lines",
    "load_line",
    "read_lines",
    "read_log",
    "read_records",
]

LONGEST_LINE = 8 << 20
"""Characters; a longer line is passed over and counted."""

LINES_THAT_TELL = 40
"""By so many lines at its beginning it is told whether a text is JSON lines."""

# What a crash leaves where a line was to be written: NULs, which are stored as U+FFFD.
_FILL = " \t\r\x00\ufffd\ufeff"
_LEAST_WHOLE = 4
_HOLDERS = ("loglines", "messages", "history", "trajectory", "conversation", "events", "items")


class Record(NamedTuple):
    """One record and the lines that it stands on."""

    value: Mapping[str, object]
    lines: LineSpan


def are_lines(text: str) -> bool:
    """Whether a text is JSON lines: its first line is a whole record, or most of its first forty are.

    Where the first begins like a record and is none, a quarter will do: of a JSON text of many lines hardly any is
    a record by itself.
    """
    lines = text.split("\n", LINES_THAT_TELL)[:LINES_THAT_TELL]
    sample = [line for line in lines if line.strip()]
    if not sample or not any("{" in line for line in sample):
        return False
    if _is_whole(sample[0]):
        return True
    whole = sum(map(_is_whole, sample))
    begun = sample[0].lstrip(_FILL).startswith("{")
    return whole > 1 and (_LEAST_WHOLE if begun else 2) * whole > len(sample) - begun


def _is_whole(line: str) -> bool:
    bare = line.strip(_FILL)
    if bare[:1] != "{" or bare[-1:] != "}" or len(line) > LONGEST_LINE:
        return False
    return _parse_line(line, 1, Counter()) is not None


def load_line(line: str) -> object:
    """What stands on a line as JSON, without what fills a hole around it.

    Raises:
        ValueError: it is no JSON. RecursionError: it is nested too deep.
    """
    return json.loads(line.strip(_FILL))


def read_records(text: str, damage: Counter[str]) -> Iterator[Record]:
    """The records of a log, whichever form it has. What cannot be read is counted in ``damage``."""
    if are_lines(text):
        yield from read_log(text, damage)
        return
    index = LineIndex(text)
    for each in _list_roots(text, damage):
        value = _place(each, index)
        if isinstance(value, Mapping):
            yield from _open(Record(value, index.span(each.start, each.end)), each, index)
        else:
            damage["bad_record"] += 1


def _list_roots(text: str, damage: Counter[str]) -> list[Json]:
    values, whole = list_values(text)
    if values:
        damage["bad_syntax"] += not whole
        return values
    parsed = parse_json(text)
    damage.update(parsed.faults)
    if parsed.root is None:
        return []
    return parsed.root.items if parsed.root.form == "array" else [parsed.root]


def read_log(text: str, damage: Counter[str], first: int = 1) -> Iterator[Record]:
    """The records of a log of JSON lines, the first of which has the number ``first``."""
    *lines, last = text.split("\n")
    yield from read_lines(lines, damage, first)
    # A line without an end is still being written; when it is whole it is read.
    cut: Counter[str] = Counter()
    yield from read_lines([last], cut, first + len(lines))
    damage["cut_line"] += cut.pop("bad_record", 0)
    damage.update(cut)


def read_lines(lines: Iterable[str], damage: Counter[str], first: int = 1) -> Iterator[Record]:
    """The records of JSON lines, the first of which has the number ``first``."""
    for number, line in enumerate(lines, first):
        record = _parse_line(line, number, damage)
        if record is not None and record.value.get("long_line") is True:
            damage["long_line"] += 1
            continue
        if record is not None:
            yield from _open(record, None, None)


def _parse_line(line: str, number: int, damage: Counter[str]) -> Record | None:
    if len(line) > LONGEST_LINE:
        damage["long_line"] += 1
        return None
    if not line.strip():
        return None
    try:
        value = load_line(line)
    except (ValueError, RecursionError):
        damage["bad_record"] += 1
        return None
    if not isinstance(value, dict):
        damage["bad_record"] += 1
        return None
    return Record(value, LineSpan(number, number))


def _open(record: Record, tree: Json | None, index: LineIndex | None) -> Iterator[Record]:
    """The records that one object holds where it is a whole log, else the object itself."""
    value = record.value
    held = next((name for name in _HOLDERS if isinstance(value.get(name), list)), None)
    if held is None or "role" in value or "message" in value or "payload" in value:
        yield record
        return
    trees = tree.get(held) if tree is not None else None
    items = value[held]
    assert isinstance(items, list)
    for at, item in enumerate(items):
        if isinstance(item, Mapping):
            own = trees.items[at] if trees is not None and at < len(trees.items) else None
            yield Record(item, index.span(own.start, own.end) if own is not None and index else record.lines)


def _place(value: Json, index: LineIndex) -> object:
    """The value as ``json`` would give it, its strings knowing their lines. Depth is bounded by the parser."""
    if value.form == "string":
        text = PlacedText(value.text)
        text.lines = index.span(value.start, value.end)
        return text
    if value.form == "array":
        return [_place(item, index) for item in value.items]
    if value.form == "object":
        return {key.text: _place(item, index) for key, item in zip(value.keys, value.items, strict=False)}
    try:
        return json.loads(value.text)
    except ValueError:
        return None
