"""Telegram Desktop's ``result.json``: one chat, or all chats of an account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memu.ingest.chats.conversation import (
    Conversation,
    Turn,
    join_strings,
    place_message,
    read_moment,
    read_word,
    tell_message,
)
from memu.ingest.readers.json_tree import Json

__all__ = ["Telegram"]

_TYPES = frozenset(["message", "service"])
_LISTS = ("chats", "left_chats")
# An export of an account opens with these; its chats may stand far behind.
_ACCOUNT = ("about", "personal_information")
_SAMPLE = 5
_UNNAMED = {"saved_messages": "Saved messages"}


class Telegram:
    """``{name, type, id, messages: [{id, type, date, from, text}, …]}``, or such chats under ``chats.list``."""

    name = "Telegram"

    def recognises(self, records: Sequence[Json]) -> bool:
        if not records or records[0].form != "object":
            return False
        root = records[0]
        is_account = all(root.get(key) is not None for key in _ACCOUNT)
        return is_account or any(map(_is_chat, _chats(root)))

    def read(self, records: Sequence[Json], path: str) -> Iterator[Conversation]:
        for chat in _chats(records[0]):
            if _is_chat(chat):
                yield _read_chat(chat, alone=chat is records[0])


def _chats(root: Json) -> Iterator[Json]:
    yield root
    for name in _LISTS:
        held = root.get(name)
        listed = held.get("list") if held is not None else None
        yield from listed.items if listed is not None else ()


def _is_chat(value: Json) -> bool:
    messages = value.get("messages") if value.form == "object" and value.get("type", "name") is not None else None
    if messages is None or messages.form != "array":
        return False
    first = messages.items[:_SAMPLE]
    return bool(first) and all(read_word(each, "type") in _TYPES and each.get("id", "date") for each in first)


def _read_chat(chat: Json, *, alone: bool) -> Conversation:
    messages = chat.get("messages")
    said = [each for each in messages.items if each.form == "object"] if messages is not None else []
    kind = read_word(chat, "type")
    title = read_word(chat, "name") or _UNNAMED.get(kind, "")
    key = read_word(chat, "id") or title
    known = {read_word(each, "id"): each for each in said}
    turns = tuple(turn for each in said if (turn := _read_message(each, key, title, known)) is not None)
    return Conversation(title=title, turns=turns, file_title=title if alone else "")


def _read_message(message: Json, key: str, title: str, known: Mapping[str, Json]) -> Turn | None:
    """A turn; None for the app's own notes and what has no words."""
    texts = join_strings(_pieces(message.get("text")))
    if read_word(message, "type") != "message" or not texts:
        return None
    answered = read_word(message, "reply_to_message_id")
    thread = (_name_thread(answered, known),) if answered else ()
    return Turn(
        role="",
        texts=texts,
        speaker=read_word(message, "from"),
        time=read_moment(message, "date_unixtime", "date"),
        heading=(title, *thread) if title else thread,
        place=place_message(key, read_word(message, "id") or "?"),
    )


def _name_thread(answered: str, known: Mapping[str, Json]) -> str:
    original, otherwise = known.get(answered), f"message {answered}"
    if original is None:
        return f"Reply to {otherwise}"
    time = read_moment(original, "date_unixtime", "date")
    return f"Reply to {tell_message(read_word(original, 'from'), time, otherwise)}"


def _pieces(text: Json | None) -> Iterator[Json]:
    """A text as it was written: one string, or strings and marked stretches in turn."""
    if text is None:
        return
    if text.form == "string":
        yield text
    for part in text.items if text.form == "array" else ():
        inner = part.get("text") if part.form == "object" else part
        if inner is not None and inner.form == "string":
            yield inner
