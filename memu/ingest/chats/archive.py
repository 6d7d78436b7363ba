"""Chats in the zip that an app exports them as, read in place: nothing is written, and no more than is bounded.

There are no lines of the zip to cite; a message is known by its conversation and its own id or number there.
"""

from __future__ import annotations

import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from memu.errors import ReadError
from memu.ingest.chats.conversation import Conversation, name_conversations, place_message, place_turns
from memu.ingest.chats.dialects import find_export
from memu.ingest.chats.slack import has_messages, is_day, name_channel, read_channel, read_people
from memu.ingest.document import Block, Document, Source
from memu.ingest.encoding import decode
from memu.ingest.office.archive import open_archive
from memu.ingest.readers.assembly import HEAD, assemble, clean
from memu.ingest.readers.chat import turn_blocks
from memu.ingest.readers.json_tree import Json, find_records
from memu.ingest.readers.phone_chat import PhoneChatReader
from memu.ingest.readers.runs import shorten
from memu.records import Kind

__all__ = ["NO_CHATS", "is_archive", "read_archive"]

NO_CHATS = "archive: no chat export in it; unpack it to have what it holds read"
"""Why an archive of anything else is skipped."""

_MOST_TEXT = 64 << 20
_SUFFIXES = (".json", ".txt")
_PEOPLE = "users.json"
_MOST_NAMED, _NAME_LIMIT = 3, 100
_UNREADABLE = (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError)


def is_archive(path: str, data: bytes) -> bool:
    """Whether a file is a zip by its name and its first bytes."""
    return path.lower().endswith(".zip") and data.startswith(b"PK")


def read_archive(path: str, data: bytes, most_bytes: int) -> Document:
    """The conversations of all chat exports in a zip.

    Args:
        most_bytes: no member of more bytes is read; all together may have 64 MiB.

    Raises:
        ReadError: it is damaged or encrypted, holds too much, or holds no chats.
    """
    members = _Members(open_archive(data), most_bytes)
    chats = _Chats()
    for name, text in members.texts():
        # The archive's name says more than that of an only member.
        chats.take(f"{PurePosixPath(path).stem}/{name}", text)
    blocks = chats.blocks()
    damage = members.damage + chats.damage
    if not blocks:
        raise ReadError(_tell_lost(members.lost + chats.lost) if damage else NO_CHATS)
    times = [block.time for block in blocks if block.time is not None]
    return assemble(
        Source(path=path, text=""),
        kind=Kind.CHAT,
        blocks=blocks,
        happened_at=min(times) if times else None,
        damage=damage,
        conversations=True,
    )


def _tell_lost(names: Sequence[str]) -> str:
    if not names:
        return "archive: no message of the chats in it can be read"
    named = ", ".join(shorten(clean(name), _NAME_LIMIT) for name in sorted(names)[:_MOST_NAMED])
    more = ", …" if len(names) > _MOST_NAMED else ""
    return f"archive: no chat in it can be read; damaged or too large: {len(names)} of its members ({named}{more})"


@dataclass(slots=True)
class _Members:
    """The texts of an archive, each within bounds whatever the archive says of its size."""

    archive: zipfile.ZipFile
    most_bytes: int
    damage: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Name and text of each member that may hold chats, by name."""
        left = _MOST_TEXT
        for name in sorted(self.archive.namelist()):
            if not name.lower().endswith(_SUFFIXES) or PurePosixPath(name).name.startswith("."):
                continue
            data = self._read(name)
            if data is None:
                continue
            left -= len(data)
            if left < 0:
                raise ReadError(f"archive: its chats have more than {_MOST_TEXT >> 20} MiB; unpack it")
            try:
                decoded = decode(data)
            except ReadError:
                self._lose(name, "unread_member")
                continue
            self.damage.update(decoded.damage)
            yield name, decoded.text

    def _read(self, name: str) -> bytes | None:
        import zlib

        try:
            with self.archive.open(name) as member:
                data = member.read(self.most_bytes + 1)
        except (*_UNREADABLE, zlib.error):
            self._lose(name, "unread_member")
            return None
        if len(data) > self.most_bytes:
            self._lose(name, "too_large_member")
            return None
        return data

    def _lose(self, name: str, reason: str) -> None:
        self.damage[reason] += 1
        self.lost.append(name)


@dataclass(slots=True)
class _Chats:
    """What the members tell. The days of Slack's channels wait until the people's names are known."""

    people: dict[str, str] = field(default_factory=dict)
    days: defaultdict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    talks: list[Conversation] = field(default_factory=list)
    spoken: list[tuple[str, Block]] = field(default_factory=list)
    damage: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def take(self, name: str, text: str) -> None:
        if name.lower().endswith(".txt"):
            self._take_phone_chat(name, text)
            return
        records, _, damage = find_records(text)
        channel = name_channel(name)
        if len(records) == 1 and (is_day(records[0]) or (channel and has_messages(records[0]))):
            self.days[channel or PurePosixPath(name).stem] += records[0].items
        elif PurePosixPath(name).name == _PEOPLE and records:
            self.people |= read_people(records[0])
        elif (dialect := find_export(records)) is not None:
            self.talks += dialect.read(records, name)
        else:
            # What parses and holds no chat is another part of the export; what does not may have held one.
            if damage:
                self.damage["unread_member"] += 1
                self.lost.append(str(PurePosixPath(*PurePosixPath(name).parts[1:])))
            return
        self.damage.update(damage)

    def _take_phone_chat(self, name: str, text: str) -> None:
        reader, source = PhoneChatReader(), Source(path=name, text=text)
        if not reader.recognises(Source(path=name, text=text[:HEAD])):
            return
        document = reader.read(source)
        for block in document.blocks:
            self.spoken.append((name, replace(block, heading=(document.title,), lines=None, rows=())))

    def blocks(self) -> list[Block]:
        """All that was said, conversation by conversation, without lines."""
        slack = [read_channel(self.days[channel], channel, self.people) for channel in sorted(self.days)]
        talks = [*self.talks, *slack]
        self.damage["bad_record"] += sum(talk.lost for talk in talks)
        phones = [name for name, _ in self.spoken]
        turns = place_turns(talks, phones)
        written = [replace(block, lines=None) for block in turn_blocks("", turns)]
        keys = name_conversations([*phones, *(talk.key for talk in talks)])
        numbers: Counter[str] = Counter()
        for name, block in self.spoken:
            numbers[name] += 1
            written.append(replace(block, place=place_message(keys[name], str(numbers[name]))))
        return written
