"""Slack's export: a folder for each channel, in it a file for each day, and lists of people and channels beside.

A day's file is read by itself: a speaker's name is the one that it states, for what a source gives depends on that
source alone. Where the export is read as one archive, the list of people gives all names.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from memu.ingest.chats.conversation import Conversation, Turn, read_moment, read_word, tell_message
from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.json_tree import Json

__all__ = ["People", "Slack", "has_messages", "is_day", "name_channel", "read_channel", "read_people"]

_STAMP = re.compile(r"\d{10}\.\d{6}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SAMPLE = 5
# What people write; the others tell that somebody joined, or that a topic or a picture changed.
_WRITTEN = frozenset(["", "thread_broadcast", "me_message", "bot_message", "file_share", "reply_broadcast"])
_MARKED = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^<>|\n]{1,3000})(?:\|(?P<label>[^<>\n]{0,3000}))?>")

People = Mapping[str, str]
"""The name that people know, by the id that Slack knows."""


class Slack:
    """``[{type: "message", user, text, ts, thread_ts}, …]``, the messages of one channel on one day."""

    name = "Slack"

    def recognises(self, records: Sequence[Json]) -> bool:
        return len(records) == 1 and is_day(records[0])

    def read(self, records: Sequence[Json], path: str) -> Iterator[Conversation]:
        channel = name_channel(path)
        yield read_channel([each for record in records for each in record.items], channel, {}, path)


def is_day(record: Json) -> bool:
    """Whether this is an array of Slack's messages, as at least half of its first items are."""
    first = record.items[:_SAMPLE] if record.form == "array" else []
    fitting = sum(read_word(each, "type") == "message" and _is_stamped(each) for each in first)
    return 0 < fitting >= len(first) / 2


def has_messages(record: Json) -> bool:
    """Whether any item of an array says that it is a message."""
    return record.form == "array" and any(read_word(each, "type") == "message" for each in record.items)


def name_channel(path: str) -> str:
    """The channel whose day a file is: its folder is called so, if the file is called by a day."""
    pure = PurePosixPath(path)
    return pure.parent.name if _DAY.match(pure.stem) else ""


def read_people(users: Json) -> People:
    """Id → name from the list of people."""
    found = ((read_word(user, "id"), _name_user(user)) for user in users.items if user.form == "object")
    return {key: name for key, name in found if key and name}


def read_channel(messages: Sequence[Json], channel: str, people: People, path: str = "") -> Conversation:
    """What was said, in the order of the messages; replies stand under whose message they answer, and its time."""
    own = _Own([each for each in messages if each.form == "object"], people)
    return Conversation(
        title=channel,
        turns=tuple(turn for message in own.messages if (turn := own.read(message, channel)) is not None),
        key=channel or "slack",
        file_title=f"{channel} {PurePosixPath(path).stem}",
        lost=sum(map(_is_lost, messages)),
    )


def _is_lost(message: Json) -> bool:
    """Whether it is no message, or one that somebody wrote without a time or with a text that is none."""
    if message.form != "object":
        return True
    text = message.get("text")
    is_text = text is None or text.form == "string"
    return read_word(message, "subtype") in _WRITTEN and not (is_text and _is_stamped(message))


def _is_stamped(message: Json) -> bool:
    return _STAMP.fullmatch(read_word(message, "ts")) is not None


class _Own:
    """The messages of one channel, with what some of them say of others."""

    def __init__(self, messages: Sequence[Json], people: People) -> None:
        self.messages = messages
        self._people = people
        stated = ((read_word(each, "user"), each.get("user_profile")) for each in messages)
        self._speakers = {user: _name_profile(profile) for user, profile in stated if user and profile is not None}
        self._by_stamp = {read_word(each, "ts"): each for each in messages}

    def read(self, message: Json, channel: str) -> Turn | None:
        """The turn; None for what the app notes and for what has no words."""
        text = message.get("text")
        stamp = read_word(message, "ts")
        if read_word(message, "subtype") not in _WRITTEN or text is None or text.form != "string":
            return None
        if not text.text.strip():
            return None
        thread = read_word(message, "thread_ts") or stamp
        headings = (channel, self._name_thread(thread) if thread != stamp else "")
        return Turn(
            role="assistant" if message.get("bot_id") is not None else "",
            texts=(self._decode(text),),
            speaker=self._name_speaker(message),
            time=read_moment(message, "ts"),
            heading=tuple(filter(None, headings)),
            place=stamp if _is_stamped(message) else "?",
        )

    def _name_thread(self, stamp: str) -> str:
        first = self._by_stamp.get(stamp)
        speaker = self._name_speaker(first) if first is not None else None
        return f"Thread of {tell_message(speaker, parse_time(stamp), stamp)}"

    def _name_speaker(self, message: Json) -> str | None:
        user = read_word(message, "user")
        name = self._people.get(user) or self._speakers.get(user) or read_word(message, "username")
        return name or user or None

    def _decode(self, text: Json) -> Json:
        """The text as it was typed: marks of people, channels and links undone, entities too."""

        def undo(match: re.Match[str]) -> str:
            sign, target, label = match["sign"], match["target"], match["label"]
            if sign == "@":
                return f"@{label or self._people.get(target, target)}"
            if sign:
                return f"{sign if sign == '#' else '@'}{label or target}"
            return f"{label} ({target})" if label and label not in target else target

        return Json("string", text.start, text.end, html.unescape(_MARKED.sub(undo, text.text)))


def _name_user(user: Json) -> str:
    profile = user.get("profile")
    return (_name_profile(profile) if profile is not None else "") or read_word(user, "real_name", "name")


def _name_profile(profile: Json) -> str:
    names = (read_word(profile, key) for key in ("display_name", "real_name", "name"))
    return next((name.strip() for name in names if name and name.strip()), "")
