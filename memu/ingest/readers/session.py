"""Logs of coding agents: records that wrap a role and a content in ``message`` or ``payload``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memu.ingest.document import Document, Source
from memu.ingest.readers.assembly import HEAD, assemble
from memu.ingest.readers.chat import Turn, is_chat_record, read_role, read_time, read_turn_texts, turn_blocks
from memu.ingest.readers.json_tree import Json, find_records
from memu.records import Kind

__all__ = ["SessionReader"]

_WRAPPERS = ("message", "payload")
_MACHINE_TEXT = re.compile(r"\s*<([a-z][\w-]{2,40})>.*</\1>\s*", re.DOTALL)


class SessionReader:
    """What user and agent said to one another; tool calls and their output are left out."""

    name = "session"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD]
        if head.lstrip()[:1] not in ("{", "[") or not any(f'"{key}"' in head for key in _WRAPPERS):
            return False
        return any(_unwrap(record) is not None for record in _list_records(head)[0])

    def read(self, source: Source) -> Document:
        records, damage = _list_records(source.text)
        turns = list(_read_turns(records))
        summary = next(
            (record.read_text("summary") for record in records if record.read_text("type") == "summary"), None
        )
        times = [turn.time for turn in turns if turn.time]
        return assemble(
            source,
            kind=Kind.SESSION,
            title=summary,
            # A model wrote the summary; nobody has named the session.
            titled=False,
            blocks=turn_blocks(source.text, turns),
            happened_at=min(times) if times else None,
            damage=damage,
        )


def _list_records(text: str) -> tuple[list[Json], dict[str, int]]:
    records, lines, damage = find_records(text)
    if lines or not records:
        return records, damage
    root = records[0]
    if root.form == "array":
        return root.items, damage
    inner = next((item for item in root.items if item.form == "array" and any(map(_unwrap, item.items))), None)
    return (inner.items if inner else records), damage


def _unwrap(record: Json) -> Json | None:
    if record.form != "object" or record.get("type") is None:
        return None
    inner = record.get(*_WRAPPERS)
    return inner if inner is not None and is_chat_record(inner) else None


def _read_turns(records: list[Json]) -> Iterator[Turn]:
    for record in records:
        inner = _unwrap(record)
        if inner is None or read_role(inner) == "tool":
            continue
        texts = tuple(read_turn_texts(inner.get("content")))
        made = record.read_text("isMeta") == "true" or any(_MACHINE_TEXT.fullmatch(text.text) for text in texts)
        yield Turn(
            role="system" if made else read_role(inner), texts=texts, time=read_time(record) or read_time(inner)
        )
