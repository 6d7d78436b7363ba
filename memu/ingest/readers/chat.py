"""Chats kept as JSON or JSON lines: records of a role and a content, whatever the file is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from memu.ingest.chats.conversation import Turn
from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble
from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.json_tree import Json, find_records, list_values
from memu.ingest.readers.runs import LineIndex, split_long
from memu.records import Kind

__all__ = ["ChatReader", "is_chat_record", "read_role", "read_time", "read_turn_texts", "turn_blocks"]

_ROLES = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_ROLE_KEYS = ("role", "from", "sender", "author")
_CONTENT_KEYS = ("content", "text", "value", "message", "parts")
_TIME_KEYS = ("timestamp", "time", "created_at", "create_time", "createdAt", "date", "datetime", "start_time")
_TEXT_PARTS = frozenset(["", "text", "input_text", "output_text"])
_DEEPEST = 4


class ChatReader:
    """``[{role, content}, …]``, ``{messages: […]}``, several such conversations, and JSON lines of each."""

    name = "chat"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD]
        if head.lstrip()[:1] not in ("{", "[") or not any(f'"{key}"' in head for key in _ROLE_KEYS):
            return False
        records, lines, _ = _read_records(head)
        return bool(_find_conversations(records, lines))

    def read(self, source: Source) -> Document:
        records, lines, damage = _read_records(source.text)
        conversations = _find_conversations(records, lines)
        several = len(conversations) > 1
        turns = [
            turn
            for place, talk in enumerate(conversations, 1)
            for turn in _read_turns(talk.records, (talk.title or f"{place}",) if several else ())
        ]
        times = [turn.time for turn in turns if turn.time]
        stated = next((talk.time for talk in conversations if talk.time), None)
        blocks = turn_blocks(source.text, turns)
        counts = Counter(damage)
        counts["bad_record"] += sum(_is_lost(item) for talk in conversations for item in talk.records)
        return assemble(
            source,
            kind=Kind.CHAT,
            title=None if several or not conversations else conversations[0].title,
            blocks=blocks,
            happened_at=stated or (min(times) if times else None),
            damage=counts,
        )


def _read_records(text: str) -> tuple[list[Json], bool, dict[str, int]]:
    """As ``find_records``, but that records may be laid out over lines."""
    records, lines, damage = find_records(text)
    values, whole = ([], True) if lines else list_values(text)
    return (values, True, {} if whole else {"bad_syntax": 1}) if values else (records, lines, damage)


def is_chat_record(record: Json) -> bool:
    """Whether this is an object with a known role and a content."""
    return record.form == "object" and bool(read_role(record)) and record.get(*_CONTENT_KEYS) is not None


def _is_lost(record: Json) -> bool:
    """Whether it is no record, or one whose content is neither text nor parts of it."""
    if record.form != "object":
        return True
    content = record.get(*_CONTENT_KEYS) if read_role(record) else None
    return content is not None and content.form == "literal" and content.text != "null"


def read_role(record: Json) -> str:
    """ "user", "assistant", "system", "tool", or "" when the record names no role that chats know."""
    value = record.get(*_ROLE_KEYS)
    if value is not None and value.form == "object":
        value = value.get("role", "type")
    return _ROLES.get(value.text.lower(), "") if value is not None and value.form == "string" else ""


def read_time(record: Json) -> datetime | None:
    """When a record says that it was made."""
    return parse_time(record.read_text(*_TIME_KEYS) or "")


def read_turn_texts(content: Json | None) -> Iterator[Json]:
    """The strings that were said; thoughts, tool calls and tool output are left out."""
    if content is None:
        return
    if content.form == "string":
        yield content
    elif content.form == "array":
        for part in content.items:
            if part.form == "string":
                yield part
            elif part.form == "object" and (part.read_text("type") or "") in _TEXT_PARTS:
                yield from read_turn_texts(part.get("text", "content"))
    elif content.form == "object" and (content.read_text("type", "content_type") or "") in _TEXT_PARTS:
        yield from read_turn_texts(content.get("parts", "text", "content"))


def turn_blocks(text: str, turns: Iterable[Turn]) -> list[Block]:
    """A block for each string said (more when it is long), with the raw lines that the string stands on."""
    index = LineIndex(text)
    return [
        Block(
            kind=BlockKind.TURN,
            text=part,
            lines=index.span(said.start, said.end),
            heading=turn.heading,
            role=turn.role,
            speaker=turn.speaker,
            time=turn.time,
            place=turn.place,
        )
        for turn in turns
        for said in turn.texts
        for part in split_long(said.text.strip())
    ]


@dataclass(frozen=True, slots=True)
class _Conversation:
    records: list[Json]
    title: str | None
    time: datetime | None


def _find_conversations(records: list[Json], lines: bool) -> list[_Conversation]:
    # One record alone is a chat only where it says so in the usual word.
    if _is_talk(records) and (lines or records[0].get("role") is not None):
        return [_Conversation(records, None, None)]
    found: list[_Conversation] = []
    for record in records:
        _gather(record, None, 0, found)
    return found


def _gather(value: Json, holder: Json | None, depth: int, found: list[_Conversation]) -> None:
    if depth > _DEEPEST or value.form not in ("array", "object"):
        return
    if value.form == "array" and _is_talk(value.items):
        title = holder.read_text("title", "name", "topic", "subject") if holder else None
        found.append(_Conversation(value.items, title, read_time(holder) if holder else None))
        return
    for item in value.items:
        _gather(item, value if value.form == "object" else holder, depth + 1, found)


def _is_talk(records: list[Json]) -> bool:
    fitting = sum(map(is_chat_record, records))
    return fitting > 0 and fitting >= len(records) / 2


def _read_turns(records: list[Json], heading: tuple[str, ...]) -> Iterator[Turn]:
    for record in records:
        if not is_chat_record(record):
            continue
        role = read_role(record)
        if role != "tool":
            yield Turn(
                role=role,
                texts=tuple(read_turn_texts(record.get(*_CONTENT_KEYS))),
                speaker=record.read_text("name", "speaker"),
                time=read_time(record),
                heading=heading,
            )
