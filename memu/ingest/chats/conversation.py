"""What every export becomes: conversations of turns, each turn with a place that a later export gives it again."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.json_tree import Json

__all__ = [
    "Conversation",
    "Turn",
    "index_items",
    "join_strings",
    "name_conversations",
    "place_message",
    "place_turns",
    "read_conversation",
    "read_moment",
    "read_word",
    "tell_message",
]

_PLACE = re.compile(r"conversation (\w+), message ")
_KEY_DIGITS = 8
_UUID_DIGITS, _UUID_VERSION = 32, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said: the strings that it was written in, with who and when.

    place: which message it is. In what an app exported its id or number in the conversation, until that has a key.
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

    key: the app's own id of it. file_title: what a file that can hold nothing but this conversation is called.
    lost: so many of its records cannot be read.
    """

    title: str
    turns: tuple[Turn, ...]
    key: str = ""
    file_title: str = ""
    lost: int = 0


def place_turns(talks: Sequence[Conversation], others: Iterable[str] = ()) -> Iterator[Turn]:
    """What was said in these conversations, each turn in its place and below its title.

    ``others``: ids of conversations that the same file holds besides.
    """
    keys = name_conversations([*others, *(talk.key for talk in talks)])
    for talk in talks:
        for turn in talk.turns:
            headings = turn.heading if turn.heading[:1] == (talk.title,) else (talk.title, *turn.heading)
            place = place_message(keys[talk.key], turn.place or "?")
            yield replace(turn, heading=tuple(filter(None, headings)), place=place)


def name_conversations(ids: Iterable[str]) -> Mapping[str, str]:
    """Id → short key, for all conversations of one file. Ids that would have the same one get longer ones.

    A key is made of the id alone: neither where a conversation stands nor how many there are changes it, but for
    another one of nearly the same id.
    """
    found = tuple(dict.fromkeys(ids))
    short = {each: _shorten(each, _KEY_DIGITS) for each in found}
    counts = Counter(short.values())
    longer = {each: key if counts[key] == 1 else _shorten(each, 2 * _KEY_DIGITS) for each, key in short.items()}
    counts = Counter(longer.values())
    return {each: key if counts[key] == 1 else _hash(each, 2 * _KEY_DIGITS) for each, key in longer.items()}


def place_message(key: str, message: str) -> str:
    """The place of a message, by its conversation's key and the message's id or number there.

    >>> place_message("6f3a2b1c", "7")
    'conversation 6f3a2b1c, message 7'
    """
    return f"conversation {key}, message {message}"


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


def _shorten(conversation: str, digits: int) -> str:
    """A key that tells an id from others.

    >>> _shorten("6f3a2b1c-83a4-4a17-a2c4-c0a3d9d9c0fe", 8), _shorten("0196a1b2-83a4-7a17-a2c4-c0a3d9d9c0fe", 8)
    ('6f3a2b1c', 'd9d9c0fe')
    """
    plain = re.sub(r"\W", "", conversation, flags=re.ASCII)
    if len(plain) > _KEY_DIGITS and re.fullmatch(r"[0-9a-f]+", plain):
        # Ids that are numbered by the time begin alike and end at random.
        timed = len(plain) == _UUID_DIGITS and plain[_UUID_VERSION] == "7"
        return plain[-digits:] if timed else plain[:digits]
    # What is no short plain name is known by its hash, so that no id reads like a secret.
    is_name = plain and len(plain) <= 2 * _KEY_DIGITS and plain == plain.lower()
    return plain if is_name and digits == _KEY_DIGITS else _hash(conversation, digits)


def _hash(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
