"""Claude's ``conversations.json``: conversations with their messages in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memu.ingest.chats.conversation import Conversation, Turn, join_strings, read_moment, read_word
from memu.ingest.readers.json_tree import Json

__all__ = ["Claude"]

_ROLES = {"human": "user", "assistant": "assistant"}


class Claude:
    """``[{uuid, name, chat_messages: [{sender, text, content, created_at}, …]}, …]``, or one of these alone."""

    name = "Claude"

    def recognises(self, records: Sequence[Json]) -> bool:
        return any(_messages(each) is not None and each.get("uuid") is not None for each in _each(records))

    def read(self, records: Sequence[Json], path: str) -> Iterator[Conversation]:
        for record in _each(records):
            messages = _messages(record)
            if messages is None:
                yield Conversation(title="", turns=(), lost=1)
                continue
            began = read_moment(record, "created_at")
            told = list(_read_turns(messages, began))
            yield Conversation(
                title=read_word(record, "name"),
                turns=tuple(turn for turn in told if turn is not None),
                key=_read_key(record, messages),
                lost=told.count(None),
            )


def _read_key(record: Json, messages: Json) -> str:
    """Its id; where that was lost, that of the first message which has one, else what is told of it."""
    own = read_word(record, "uuid")
    first = next((key for each in messages.items if (key := read_word(each, "uuid"))), "")
    return own or first or "".join(read_word(record, name) for name in ("name", "created_at"))


def _each(records: Sequence[Json]) -> Iterator[Json]:
    for record in records:
        yield from record.items if record.form == "array" else (record,)


def _messages(record: Json) -> Json | None:
    found = record.get("chat_messages")
    return found if found is not None and found.form == "array" else None


def _read_turns(messages: Json, began: datetime | None) -> Iterator[Turn | None]:
    """The turns; None for each message that cannot be read."""
    time = began
    for number, message in enumerate(messages.items, 1):
        time = read_moment(message, "created_at") or time
        said = _said(message)
        texts = tuple(text for each in said or () for text in join_strings([each]))
        role = _ROLES.get(read_word(message, "sender"))
        if said is None or (texts and role is None):
            yield None
        elif role is not None and texts:
            yield Turn(role=role, texts=texts, time=time, place=str(number))


def _said(message: Json) -> list[Json] | None:
    """The text parts; where an older export has none, the text. Thoughts and tools are other parts.

    None where there is no text in what should be one.
    """
    content, text = message.get("content"), message.get("text")
    parts = content.items if content is not None and content.form == "array" else []
    written = [part.get("text") for part in parts if part.form == "object" and read_word(part, "type") == "text"]
    strings = [each for each in written if each is not None and each.form == "string"]
    if strings:
        return strings
    if text is not None and text.form == "string":
        return [text]
    return None if written or not parts else []
