"""ChatGPT's ``conversations.json``: each conversation a tree of messages, of which one path is what is shown.

Editing a message or asking for another answer makes a branch. Only the path that ends in ``current_node`` is read;
where no such node is named, the one that was written last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memu.ingest.chats.conversation import (
    Conversation,
    Turn,
    index_items,
    join_strings,
    place_message,
    read_moment,
    read_word,
)
from memu.ingest.readers.json_tree import Json

__all__ = ["ChatGpt"]

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
            if _is_tree(record):
                yield _read_conversation(record)


def _conversations(records: Sequence[Json]) -> Iterator[Json]:
    for record in records:
        if record.form == "array":
            yield from record.items
        else:
            yield record


def _is_tree(record: Json) -> bool:
    mapping = record.get("mapping") if record.form == "object" else None
    if mapping is None or mapping.form != "object" or not mapping.items:
        return False
    return all(node.form == "object" and _is_node(node) for node in mapping.items[:1])


def _is_node(node: Json) -> bool:
    return node.get("message", "parent") is not None and node.get("id") is not None


def _read_conversation(record: Json) -> Conversation:
    nodes = index_items(record.get("mapping"))
    key = read_word(record, "conversation_id", "id") or next(iter(nodes), "")
    began = read_moment(record, "create_time")
    turns: list[Turn] = []
    for node in _shown_path(nodes, read_word(record, "current_node")):
        turn = _read_message(node.get("message"))
        if turn is not None:
            place = place_message(key, str(len(turns) + 1))
            # A message without a time of its own is no earlier than the one before it.
            time = turn.time or (turns[-1].time if turns else began)
            turns.append(replace(turn, place=place, time=time))
    return Conversation(title=read_word(record, "title"), turns=tuple(turns))


def _shown_path(nodes: Mapping[str, Json], last: str) -> list[Json]:
    """From the first message to the current one. A tree that bites its tail is walked once round."""
    at = last if last in nodes else _find_last(nodes)
    path: dict[str, Json] = {}
    while at in nodes and at not in path:
        path[at] = nodes[at]
        at = read_word(nodes[at], "parent")
    return list(reversed(path.values()))


def _find_last(nodes: Mapping[str, Json]) -> str:
    """The leaf that was written last."""
    parents = {read_word(node, "parent") for node in nodes.values() if node.form == "object"}
    leaves = [key for key in nodes if key not in parents]
    return max(leaves, key=lambda key: _written(nodes[key]), default="")


def _written(node: Json) -> float:
    message = node.get("message")
    moment = read_moment(message, "create_time") if message is not None else None
    return moment.timestamp() if moment is not None else 0.0


def _read_message(message: Json | None) -> Turn | None:
    """The turn that the app shows for a message; None for hidden ones, tools and what is written to them."""
    if message is None or message.form != "object" or _is_hidden(message):
        return None
    author, content = message.get("author"), message.get("content")
    role = read_word(author, "role") if author is not None else ""
    if role not in _ROLES or content is None or read_word(content, "content_type") not in _CONTENTS:
        return None
    texts = tuple(text for part in _parts(content) for text in join_strings([part]))
    return Turn(role=role, texts=texts, time=read_moment(message, "create_time")) if texts else None


def _is_hidden(message: Json) -> bool:
    if read_word(message, "recipient") not in ("", "all") or read_word(message, "weight") in ("0", "0.0"):
        return True
    metadata = message.get("metadata")
    return metadata is not None and any(read_word(metadata, flag) == "true" for flag in _HIDDEN)


def _parts(content: Json) -> Iterator[Json]:
    """What was written, and what was spoken as it was written down; pictures and sounds have no words."""
    parts = content.get("parts")
    for part in parts.items if parts is not None else ():
        if part.form == "object":
            spoken = part.get("text") if read_word(part, "content_type") == "audio_transcription" else None
            if spoken is not None and spoken.form == "string":
                yield spoken
        elif part.form == "string":
            yield Json("string", part.start, part.end, _CITATION.sub("", part.text))
