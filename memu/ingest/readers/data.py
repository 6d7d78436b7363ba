"""JSON, YAML, TOML and other data: raw pieces of the file, each below its key path.

YAML and TOML are cut by their layout and never loaded, so there is nothing in them to expand or to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.json_tree import Json, find_records, parse_json
from memu.ingest.readers.prose import is_prose, read_prose
from memu.ingest.readers.runs import LineIndex, NumberedLine, keep, number_lines, split_long, spread
from memu.records import Kind

__all__ = ["DataReader", "cut_line_groups"]

_GROUP_CHARS = 1_500
_GROUP_LINES = 40
_DEEPEST = 8
_YAML_KEY = re.compile(
    r"(?:- +)?(?:\"([^\"]{1,200})\"|'([^']{1,200})'|([^\s#\-\"'{}\[\]&*!|>%@`][^#:]{0,200}?))\s*:(?=\s|$)"
)
_TOML_TABLE = re.compile(r"\s*\[{1,2}\s*([^\[\]]{1,300}?)\s*\]{1,2}\s*(?:#.*)?$")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")
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
        return lines or (bool(records) and bool(records[0].items) and damage in ({}, {"truncated": 1}))

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
        if held and (len(held) >= _GROUP_LINES or size + len(line.text) > _GROUP_CHARS):
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
    cut = _JsonCut(source.text)
    for record in records:
        cut.take(record, (), record.start)
    if not lines:
        # What stands after the damage cannot be understood, but it can be found.
        end = parse_json(source.text).end if damage else len(source.text)
        rest = number_lines(source.text[end:].split("\n"), cut.index.line_at(end))
        for group in cut_line_groups(rest):
            cut.blocks += spread(Block(kind=BlockKind.DATA, text="", lines=None), keep(group))
    else:
        _add_bad_lines(cut, records, source.text)
    many = lines or (bool(records) and records[0].form == "array" and bool(records[0].items))
    is_table = many and all(item.form == "object" for item in (records if lines else records[0].items))
    return assemble(source, kind=Kind.TABLE if is_table else Kind.DOCUMENT, blocks=cut.blocks, damage=damage)


def _add_bad_lines(cut: _JsonCut, records: list[Json], text: str) -> None:
    read = {cut.index.line_at(record.start) for record in records}
    for line in number_lines(text.split("\n")):
        if line.first not in read and line.text.strip():
            cut.blocks += spread(Block(kind=BlockKind.DATA, text="", lines=None), keep([line]))
    cut.blocks.sort(key=lambda block: block.lines.start if block.lines else 0)


@dataclass(slots=True)
class _JsonCut:
    """Cuts a JSON text into pieces of a readable size, small neighbours together."""

    text: str
    blocks: list[Block] = field(default_factory=list)
    index: LineIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = LineIndex(self.text)

    def take(self, value: Json, path: tuple[str, ...], start: int) -> None:
        """Emits ``value``, whose key (if any) begins at ``start``."""
        if not value.items or len(path) >= _DEEPEST or self._is_small(start, value.end):
            self._emit(start, value.end, path)
            return
        held: tuple[int, int] | None = None
        keys = value.keys or value.items
        for key, item in zip(keys, value.items, strict=False):
            if not self._is_small(key.start, item.end):
                self._flush(held, path)
                held = None
                self.take(
                    item, (*path, key.text) if value.keys else path, key.start if not item.items else item.start
                )
            elif held and self._is_small(held[0], item.end):
                held = (held[0], item.end)
            else:
                self._flush(held, path)
                held = (key.start, item.end)
        self._flush(held, path)

    def _flush(self, held: tuple[int, int] | None, path: tuple[str, ...]) -> None:
        if held:
            self._emit(held[0], held[1], path)

    def _is_small(self, start: int, end: int) -> bool:
        return end - start <= _GROUP_CHARS and self.index.line_at(end) - self.index.line_at(start) < _GROUP_LINES

    def _emit(self, start: int, end: int, path: tuple[str, ...]) -> None:
        raw = self.text[start:end]
        leading = len(raw) - len(raw.lstrip())
        offset = start + leading
        for part in split_long(raw):
            # Parts are found again in order; what was stripped between them is white space only.
            offset = self.text.index(part, offset, end)
            self.blocks.append(
                Block(
                    kind=BlockKind.DATA,
                    text=_ESCAPED.sub(_decode_escapes, part),
                    lines=self.index.span(offset, offset + len(part)),
                    heading=path,
                )
            )
            offset += len(part)


def _decode_escapes(match: re.Match[str]) -> str:
    """Letters written as ``\\uXXXX`` become letters, so that they can be found; control signs stay escaped."""
    codes = [int(code, 16) for code in match[2].split("\\u")[1:]]
    if any(code < 0xA0 for code in codes):
        return match[0]
    decoded = b"".join(code.to_bytes(2, "big") for code in codes).decode("utf-16-be", errors="replace")
    return match[1] + decoded


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
    return count <= _GROUP_LINES and sum(len(line.text) for line in (*held, *more)) <= _GROUP_CHARS
