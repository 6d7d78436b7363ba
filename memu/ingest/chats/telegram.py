"""Telegram Desktop's ``result.json``: one chat, or all chats of an account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memu.ingest.chats.conversation import (
    Conversation,
    Turn,
    join_strings,
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
        root, *listed = _chats(records[0])
        if _messages(root) is not None:
            yield _read_chat(root, alone=True)
        for chat in listed:
            if _messages(chat) is None:
                yield Conversation(title="", turns=(), lost=1)
            else:
                yield _read_chat(chat, alone=False)


def _chats(root: Json) -> Iterator[Json]:
    yield root
    for name in _LISTS:
        held = root.get(name)
        listed = held.get("list") if held is not None else None
        yield from listed.items if listed is not None else ()


def _messages(chat: Json) -> list[Json] | None:
    messages = chat.get("messages")
    return messages.items if messages is not None and messages.form == "array" else None


def _is_chat(value: Json) -> bool:
    """Whether at least half of its first messages are such."""
    messages = _messages(value) if value.get("type", "name") is not None else None
    first = (messages or [])[:_SAMPLE]
    fitting = sum(read_word(each, "type") in _TYPES and each.get("id", "date") is not None for each in first)
    return 0 < fitting >= len(first) / 2


def _read_chat(chat: Json, *, alone: bool) -> Conversation:
    messages = _messages(chat) or []
    kind = read_word(chat, "type")
    title = read_word(chat, "name") or _UNNAMED.get(kind, "")
    known = {read_word(each, "id"): each for each in messages}
    turns = tuple(turn for each in messages if (turn := _read_message(each, title, known)) is not None)
    return Conversation(
        title=title,
        turns=turns,
        key=read_word(chat, "id") or title,
        file_title=title if alone else "",
        lost=sum(map(_is_lost, messages)),
    )


def _read_message(message: Json, title: str, known: Mapping[str, Json]) -> Turn | None:
    """A turn; None for the app's own notes and what has no words."""
    texts = join_strings(_pieces(message.get("text")))
    if read_word(message, "type") not in ("", "message") or not texts:
        return None
    answered = read_word(message, "reply_to_message_id")
    thread = (_name_thread(answered, known),) if answered else ()
    return Turn(
        role="",
        texts=texts,
        speaker=read_word(message, "from"),
        time=read_moment(message, "date_unixtime", "date"),
        heading=(title, *thread) if title else thread,
        place=read_word(message, "id") or "?",
    )


def _is_lost(message: Json) -> bool:
    """Whether it is no message, or one whose text is none; a message of another type is the app's own note."""
    if message.form != "object" or not read_word(message, "type"):
        return True
    text = message.get("text")
    if read_word(message, "type") != "message" or text is None or text.form == "string":
        return False
    return text.form != "array" or any(_find_text(part) is None for part in text.items)


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
        inner = _find_text(part)
        if inner is not None:
            yield inner


def _find_text(part: Json) -> Json | None:
    inner = part.get("text") if part.form == "object" else part
    return inner if inner is not None and inner.form == "string" else None
