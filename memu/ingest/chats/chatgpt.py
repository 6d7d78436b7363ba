"""ChatGPT's ``conversations.json``: each conversation a tree of messages, of which one path is what is shown.

Editing a message or asking for another answer makes a branch. Only the path that ends in ``current_node`` is read;
where no such node is named, the one that was written last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memu.ingest.chats.chatgpt_tree import find_path, find_word, gather_nodes
from memu.ingest.chats.conversation import Conversation, Turn, join_strings, read_moment, read_word
from memu.ingest.readers.json_tree import Json

__all__ = ["ChatGpt"]

_SAMPLE = 5
_ROLES = frozenset(["user", "assistant"])
_CONTENTS = frozenset(["text", "multimodal_text"])
_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message", "is_user_context_message")
# Marks of citations, which the app shows as links: characters that no script has.
_CITATION = re.compile("\ue200[^\ue201]{0,2000}\ue201")


class ChatGpt:
    """``[{title, mapping: {id: {message, parent, children}}, current_node}, …]``, or one of these alone."""

    name = "ChatGPT"

    def recognises(self, records: Sequence[Json]) -> bool:
        return any(_is_tree(each) for each in _conversations(records))

    def read(self, records: Sequence[Json], path: str) -> Iterator[Conversation]:
        for record in _conversations(records):
            mapping = record.get("mapping")
            if mapping is not None and mapping.form in ("object", "array"):
                yield _read_conversation(record)
            else:
                yield Conversation(title="", turns=(), lost=1)


def _conversations(records: Sequence[Json]) -> Iterator[Json]:
    for record in records:
        if record.form == "array":
            yield from record.items
        else:
            yield record


def _is_tree(record: Json) -> bool:
    """Whether at least half of its first nodes are such."""
    mapping = record.get("mapping")
    first = mapping.items[:_SAMPLE] if mapping is not None else []
    fitting = sum(node.get("message", "parent") is not None and node.get("id") is not None for node in first)
    return 0 < fitting >= len(first) / 2


def _read_conversation(record: Json) -> Conversation:
    nodes = gather_nodes(record)
    began = read_moment(record, "create_time")
    turns: list[Turn] = []
    number = lost = 0
    for node in find_path(nodes, find_word(record, "current_node")):
        message = node.get("message") if node is not None else None
        turn = _read_message(message)
        is_lost = node is None or node.form != "object" or _is_lost(message)
        # What cannot be read has its number all the same: when it is mended, those behind it keep theirs.
        number += is_lost or turn is not None
        lost += is_lost
        if turn is not None:
            # A message without a time of its own is no earlier than the one before it.
            time = turn.time or (turns[-1].time if turns else began)
            turns.append(replace(turn, place=str(number), time=time))
    key = find_word(record, "conversation_id", "id") or next(iter(nodes), "")
    return Conversation(title=read_word(record, "title"), turns=tuple(turns), key=key, lost=lost)


def _is_lost(message: Json | None) -> bool:
    """Whether what the app would show of a message cannot be read."""
    if message is None or (message.form == "literal" and message.text == "null"):
        return False
    if message.form != "object":
        return True
    author, content = message.get("author"), message.get("content")
    role = read_word(author, "role") if author is not None else ""
    if _is_hidden(message) or (role and role not in _ROLES):
        return False
    if not role or content is None or content.form not in ("object", "string"):
        return True
    return _is_written(content) and any(part is None for part in _parts(content))


def _is_written(content: Json) -> bool:
    return content.form != "object" or (read_word(content, "content_type") or "text") in _CONTENTS


def _read_message(message: Json | None) -> Turn | None:
    """The turn that the app shows for a message; None for hidden ones, tools and what is written to them."""
    if message is None or message.form != "object" or _is_hidden(message):
        return None
    author, content = message.get("author"), message.get("content")
    role = read_word(author, "role") if author is not None else ""
    if role not in _ROLES or content is None or not _is_written(content):
        return None
    texts = tuple(text for part in _parts(content) if part is not None for text in join_strings([part]))
    return Turn(role=role, texts=texts, time=read_moment(message, "create_time")) if texts else None


def _is_hidden(message: Json) -> bool:
    if read_word(message, "recipient") not in ("", "all") or read_word(message, "weight") in ("0", "0.0"):
        return True
    metadata = message.get("metadata")
    return metadata is not None and any(read_word(metadata, flag) == "true" for flag in _HIDDEN)


def _parts(content: Json) -> Iterator[Json | None]:
    """What was written, and what was spoken as it was written down; None for what is neither.

    Pictures and sounds have no words.
    """
    parts = content if content.form == "string" else content.get("parts", "text")
    if parts is None or parts.form in ("object", "literal"):
        yield None
        return
    for part in parts.items if parts.form == "array" else (parts,):
        if part.form == "object":
            spoken = part.get("text") if read_word(part, "content_type") == "audio_transcription" else None
            if spoken is not None and spoken.form == "string":
                yield spoken
        elif part.form == "string":
            yield Json("string", part.start, part.end, _CITATION.sub("", part.text))
        elif part.text != "null":
            yield None
