"""JSON, YAML, TOML and other data: raw pieces of the file, each below its key path.

YAML and TOML are cut by their layout and never loaded, so there is nothing in them to expand or to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.json_pieces import PIECE_CHARS, PIECE_LINES, JsonCut
from memu.ingest.readers.json_tree import Json, find_records, parse_json
from memu.ingest.readers.prose import is_prose, read_prose
from memu.ingest.readers.runs import NumberedLine, keep, number_lines, spread
from memu.records import Kind

__all__ = ["DataReader", "cut_line_groups"]

_DEEPEST = 8
_YAML_KEY = re.compile(
    r"(?:- +)?(?:\"([^\"]{1,200})\"|'([^']{1,200})'|([^\s#\-\"'{}\[\]&*!|>%@`][^#:]{0,200}?))\s*:(?=\s|$)"
)
_TOML_TABLE = re.compile(r"\s*\[{1,2}\s*([^\[\]]{1,300}?)\s*\]{1,2}\s*(?:#.*)?$")
_JSON_SUFFIXES = frozenset([".json", ".jsonl", ".ndjson", ".jsonc", ".json5", ".geojson", ".webmanifest"])
_TABLE_SUFFIXES = frozenset([".toml", ".ini", ".cfg", ".conf", ".properties", ".env"])


class DataReader:
    """Configuration, records, lock files."""

    name = "data"
    suffixes = _JSON_SUFFIXES | _TABLE_SUFFIXES | frozenset([".yaml", ".yml", ".xml", ".lock", ".plist"])

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD].strip()
        if head[:1] not in ("{", "["):
            return False
        records, lines, damage = find_records(head)
        if lines:
            # A first line that is a record may stand above a text of another kind.
            return damage.get("bad_record", 0) <= len(records)
        return bool(records) and bool(records[0].items) and damage in ({}, {"truncated": 1})

    def read(self, source: Source) -> Document:
        if is_prose(source):
            return read_prose(source)
        suffix = find_suffix(source.path)
        if source.text.lstrip()[:1] in ("{", "[") and suffix not in _TABLE_SUFFIXES:
            return _read_json(source)
        run = number_lines(source.text.split("\n"))
        sections = _cut_tables(run) if suffix in _TABLE_SUFFIXES else _cut_yaml(run)
        blocks = [
            block
            for heading, lines in sections
            for group in cut_line_groups(lines)
            for block in spread(Block(kind=BlockKind.DATA, text="", lines=None, heading=heading), keep(group))
        ]
        return assemble(source, kind=Kind.DOCUMENT, blocks=blocks)


def cut_line_groups(run: Sequence[NumberedLine]) -> Iterator[list[NumberedLine]]:
    """The run in groups of at most 40 lines, cut at the last blank line where there is one."""
    held: list[NumberedLine] = []
    blank = size = 0
    for line in run:
        if held and (len(held) >= PIECE_LINES or size + len(line.text) > PIECE_CHARS):
            cut = blank or len(held)
            yield held[:cut]
            held = held[cut:]
            blank, size = 0, sum(len(each.text) for each in held)
        held.append(line)
        size += len(line.text)
        if not line.text.strip():
            blank = len(held)
    if held:
        yield held


def _read_json(source: Source) -> Document:
    records, lines, damage = find_records(source.text)
    cut = JsonCut(source.text)
    for record in records:
        cut.take(record, (), record.start)
    if not lines:
        _add_gaps(cut, damage)
    else:
        _add_bad_lines(cut, records, source.text)
    many = lines or (bool(records) and records[0].form == "array" and bool(records[0].items))
    is_table = many and all(item.form == "object" for item in (records if lines else records[0].items))
    return assemble(source, kind=Kind.TABLE if is_table else Kind.DOCUMENT, blocks=cut.blocks, damage=damage)


def _add_gaps(cut: JsonCut, damage: Mapping[str, int]) -> None:
    """What was passed over cannot be understood, but it can be found."""
    if not damage:
        return
    parsed = parse_json(cut.text)
    for start, end in cut.find_left([*parsed.gaps, (parsed.end, len(cut.text))]):
        rest = number_lines(cut.text[start:end].split("\n"), cut.index.line_at(start))
        for group in cut_line_groups(rest):
            cut.blocks += spread(Block(kind=BlockKind.DATA, text="", lines=None), keep(group))
    if parsed.gaps:
        cut.blocks.sort(key=lambda block: block.lines.start if block.lines else 0)


def _add_bad_lines(cut: JsonCut, records: list[Json], text: str) -> None:
    read = {cut.index.line_at(record.start) for record in records}
    for line in number_lines(text.split("\n")):
        if line.first not in read and line.text.strip():
            cut.blocks += spread(Block(kind=BlockKind.DATA, text="", lines=None), keep([line]))
    cut.blocks.sort(key=lambda block: block.lines.start if block.lines else 0)


Section = tuple[tuple[str, ...], list[NumberedLine]]


def _cut_tables(run: Sequence[NumberedLine]) -> Iterator[Section]:
    heading: tuple[str, ...] = ()
    held: list[NumberedLine] = []
    for line in run:
        if match := _TOML_TABLE.match(line.text[:400]):
            yield heading, held
            heading, held = tuple(part.strip(" \"'") for part in match[1].split("."))[:_DEEPEST], []
        held.append(line)
    yield heading, held


def _cut_yaml(run: Sequence[NumberedLine]) -> Iterator[Section]:
    """Small top-level keys together, large ones each below its key, and those again by the keys inside."""
    held: list[NumberedLine] = []
    for key, lines in _cut_by_key(run, 0):
        if _fits(held, lines):
            held = held + lines
            continue
        if held:
            yield (), held
        held = []
        if _fits([], lines) or not key:
            held = lines
        else:
            yield from _cut_inside(key, lines)
    yield (), held


def _cut_inside(key: str, lines: list[NumberedLine]) -> Iterator[Section]:
    inner = [len(line.text) - len(line.text.lstrip()) for line in lines[1:] if line.text.strip()]
    indent = min((size for size in inner if size > 0), default=0)
    held: list[NumberedLine] = []
    for name, part in _cut_by_key(lines, indent) if indent else [("", lines)]:
        if _fits(held, part):
            held = held + part
            continue
        if held:
            yield (key,), held
        held = part
        if not _fits([], part) and name:
            yield (key, name), part
            held = []
    if held:
        yield (key,), held


def _cut_by_key(run: Sequence[NumberedLine], indent: int) -> Iterator[tuple[str, list[NumberedLine]]]:
    key = ""
    held: list[NumberedLine] = []
    for line in run:
        own = len(line.text) - len(line.text.lstrip())
        match = _YAML_KEY.match(line.text[indent : indent + 400]) if own == indent else None
        if match:
            if held:
                yield key, held
            key, held = next(filter(None, match.groups()), "").strip(), []
        held.append(line)
    if held:
        yield key, held


def _fits(held: Sequence[NumberedLine], more: Sequence[NumberedLine]) -> bool:
    count = len(held) + len(more)
    return count <= PIECE_LINES and sum(len(line.text) for line in (*held, *more)) <= PIECE_CHARS
