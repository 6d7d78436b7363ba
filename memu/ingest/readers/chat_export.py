"""Chats as apps export them: files that may hold many conversations, each a whole of its own."""

from __future__ import annotations

from collections import Counter

from memu.ingest.chats.conversation import place_turns
from memu.ingest.chats.dialects import find_export
from memu.ingest.document import Document, Source
from memu.ingest.readers.assembly import HEAD, assemble
from memu.ingest.readers.chat import turn_blocks
from memu.ingest.readers.json_tree import find_records
from memu.records import Kind

__all__ = ["ChatExportReader"]

_KEYS = ('"mapping"', '"chat_messages"', '"messages"', '"chats"', '"personal_information"', '"ts"')


class ChatExportReader:
    """ChatGPT, Claude, Telegram, and the days of Slack's channels (``chats.dialects``).

    The outermost heading of a turn is its conversation's title, its place names conversation and message; neither
    tells where in the file the conversation stands, so that a later export with more of them changes only what is
    new.
    """

    name = "chat_export"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD]
        if head.lstrip()[:1] not in ("{", "[") or not any(key in head for key in _KEYS):
            return False
        return find_export(find_records(head)[0]) is not None

    def read(self, source: Source) -> Document:
        records, _, damage = find_records(source.text)
        dialect = find_export(records)
        talks = list(dialect.read(records, source.path)) if dialect is not None else []
        turns = list(place_turns(talks))
        times = [turn.time for turn in turns if turn.time is not None]
        return assemble(
            source,
            kind=Kind.CHAT,
            # Files of a day or of a whole account are named by a program, whatever is in them.
            title=talks[0].file_title if talks else None,
            titled=False,
            blocks=turn_blocks(source.text, turns),
            happened_at=min(times) if times else None,
            damage=Counter(damage) + Counter(bad_record=sum(talk.lost for talk in talks)),
            conversations=True,
        )
