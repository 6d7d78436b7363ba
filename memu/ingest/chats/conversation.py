"""What every export becomes: conversations of turns, each turn with a place that a later export gives it again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.json_tree import Json

__all__ = [
    "Conversation",
    "Turn",
    "index_items",
    "join_strings",
    "place_message",
    "read_conversation",
    "read_moment",
    "read_word",
    "tell_message",
]

_PLACE = re.compile(r"conversation (\w+), message ")
_KEY_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said: the strings that it was written in, with who and when.

    place: which message of which conversation it is, where lines say too little.
    """

    role: str
    texts: tuple[Json, ...]
    speaker: str | None = None
    time: datetime | None = None
    heading: tuple[str, ...] = ()
    place: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of an export, with the title that the app shows for it ("" where it has none).

    file_title: what a file that can hold nothing but this conversation is called.
    """

    title: str
    turns: tuple[Turn, ...]
    file_title: str = ""


def place_message(conversation: str, message: str) -> str:
    """The place of a message, by the app's own id of its conversation and the message's id or number there.

    >>> place_message("6f3a2b1c-83a4-4a17-a2c4-c0a3d9d9c0fe", "7")
    'conversation 6f3a2b1c, message 7'
    """
    plain = re.sub(r"\W", "", conversation, flags=re.ASCII)
    key = plain[:_KEY_DIGITS] if _is_hex(plain) else plain
    # What is no short plain name is known by its hash, so that no id reads like a secret.
    short = key if key and len(key) <= 2 * _KEY_DIGITS and key == key.lower() else _hash(conversation)
    return f"conversation {short}, message {message}"


def read_conversation(place: str | None) -> str | None:
    """Which conversation a place is in."""
    found = _PLACE.match(place or "")
    return found[1] if found else None


def join_strings(parts: Iterable[Json]) -> tuple[Json, ...]:
    """Pieces of one text as one string from the first piece's start to the last one's end; () without any."""
    pieces = list(parts)
    text = "".join(piece.text for piece in pieces)
    if not text.strip():
        return ()
    return (Json("string", min(each.start for each in pieces), max(each.end for each in pieces), text),)


def tell_message(speaker: str | None, time: datetime | None, otherwise: str) -> str:
    """Which message is answered, for a heading: whose and when.

    Never a word of it: what a message says may be forgotten, and a heading that quotes its beginning would not be
    known for it.
    """
    return ", ".join(filter(None, (speaker, time.strftime("%Y-%m-%d %H:%M") if time else ""))) or otherwise


def index_items(value: Json | None) -> Mapping[str, Json]:
    """An object's values by key, for many look-ups."""
    if value is None or value.form != "object":
        return {}
    return {key.text: item for key, item in zip(value.keys, value.items, strict=False)}


def read_moment(record: Json, *names: str) -> datetime | None:
    """The time under the first of these keys that holds one."""
    found = (parse_time(read_word(record, name)) for name in names)
    return next((moment for moment in found if moment is not None), None)


def read_word(record: Json, *names: str) -> str:
    """The string, number or truth value under the first of these keys that holds one, else ""."""
    for name in names:
        found = record.get(name)
        if found is not None and (found.form == "string" or (found.form == "literal" and found.text != "null")):
            return found.text
    return ""


def _is_hex(text: str) -> bool:
    return len(text) > _KEY_DIGITS and re.fullmatch(r"[0-9a-f]+", text) is not None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]
