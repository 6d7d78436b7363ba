"""Claude's ``conversations.json``: conversations with their messages in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memu.ingest.chats.conversation import Conversation, Turn, join_strings, place_message, read_moment, read_word
from memu.ingest.readers.json_tree import Json

__all__ = ["Claude"]

_ROLES = {"human": "user", "assistant": "assistant"}


class Claude:
    """``[{uuid, name, chat_messages: [{sender, text, content, created_at}, …]}, …]``, or one of these alone."""

    name = "Claude"

    def recognises(self, records: Sequence[Json]) -> bool:
        return any(_messages(each) is not None and each.get("uuid") is not None for each in _objects(records))

    def read(self, records: Sequence[Json], path: str) -> Iterator[Conversation]:
        for record in _objects(records):
            messages = _messages(record)
            if messages is not None:
                began = read_moment(record, "created_at")
                key = read_word(record, "uuid")
                turns = tuple(_read_turns(messages, key, began))
                yield Conversation(title=read_word(record, "name"), turns=turns)


def _objects(records: Sequence[Json]) -> Iterator[Json]:
    for record in records:
        for each in record.items if record.form == "array" else (record,):
            if each.form == "object":
                yield each


def _messages(record: Json) -> Json | None:
    found = record.get("chat_messages")
    return found if found is not None and found.form == "array" else None


def _read_turns(messages: Json, key: str, began: datetime | None) -> Iterator[Turn]:
    time = began
    for number, message in enumerate(messages.items, 1):
        if message.form != "object":
            continue
        time = read_moment(message, "created_at") or time
        texts = tuple(text for said in _said(message) for text in join_strings([said]))
        role = _ROLES.get(read_word(message, "sender"))
        if role is not None and texts:
            yield Turn(role=role, texts=texts, time=time, place=place_message(key, str(number)))


def _said(message: Json) -> Iterator[Json]:
    """The text parts; where an older export has none, the text. Thoughts and tools are other parts."""
    content = message.get("content")
    parts = content.items if content is not None and content.form == "array" else ()
    written = [part.get("text") for part in parts if part.form == "object" and read_word(part, "type") == "text"]
    found = [text for text in (written or [message.get("text")]) if text is not None and text.form == "string"]
    yield from found
