"""Exports of chat apps, whatever they hold: no raise, and each turn is a string on the line that it names (P4)."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memu.ingest.chats.dialects import EXPORTS, ExportDialect
from memu.ingest.document import Source
from memu.ingest.readers.chat_export import ChatExportReader
from memu.ingest.readers.json_tree import find_records

KEYS = [
    *(
        "mapping",
        "message",
        "messages",
        "parent",
        "children",
        "id",
        "current_node",
        "conversation_id",
        "title",
        "name",
    ),
    *("author", "role", "content", "content_type", "parts", "create_time", "metadata", "recipient", "weight"),
    *("uuid", "chat_messages", "sender", "text", "created_at", "chats", "left_chats", "list", "about", "type"),
    *("personal_information", "date", "date_unixtime", "from", "reply_to_message_id", "ts", "thread_ts", "user"),
    *("user_profile", "display_name", "subtype", "bot_id", "username"),
]
WORDS = ["user", "assistant", "human", "text", "multimodal_text", "message", "service", "all", "1", "2", "0"]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2_000_000_000),
    st.floats(allow_nan=False, width=32),
    st.sampled_from([*WORDS, "1700000000.000100", "2024-05-01T10:00:00Z", "<@U1|x> &amp; <https://a.example|b>"]),
    st.text(max_size=12),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)


@pytest.mark.parametrize("dialect", EXPORTS, ids=lambda dialect: dialect.name)
@settings(max_examples=60, deadline=None)
@given(value=ANYTHING, cut=st.floats(0, 1))
def test_no_form_of_json_stops_a_dialect(dialect: ExportDialect, value: Any, cut: float) -> None:
    text = json.dumps(value)
    for part in (text, text[: int(len(text) * cut)]):
        records = find_records(part)[0]
        if dialect.recognises(records):
            assert all(turn.texts for talk in dialect.read(records, "a/2024-05-01.json") for turn in talk.turns)


SAID = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cf", "Co", "Zl", "Zp"), exclude_characters="<>&"),
    min_size=1,
    max_size=40,
).filter(lambda text: text.strip() == text and text != "")


def _chatgpt(said: list[str]) -> Any:
    nodes = {
        f"{number}": {
            "id": f"{number}",
            "parent": f"{number - 1}",
            "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}},
        }
        for number, text in enumerate(said)
    }
    return [{"title": "T", "id": "aa11", "mapping": nodes, "current_node": f"{len(said) - 1}"}]


def _claude(said: list[str]) -> Any:
    return [{"uuid": "aa11", "name": "T", "chat_messages": [{"sender": "human", "text": text} for text in said]}]


def _telegram(said: list[str]) -> Any:
    messages = [
        {"id": number, "type": "message", "date": "2024-05-01T10:00:00", "from": "Orla", "text": text}
        for number, text in enumerate(said)
    ]
    return {"name": "T", "type": "personal_chat", "id": 1, "messages": messages}


def _slack(said: list[str]) -> Any:
    return [
        {"type": "message", "user": "U1", "text": text, "ts": f"17000000{number:02}.000100"}
        for number, text in enumerate(said)
    ]


@pytest.mark.parametrize("export", [_chatgpt, _claude, _telegram, _slack])
@settings(max_examples=40, deadline=None)
@given(
    said=st.lists(SAID, min_size=1, max_size=8), indent=st.sampled_from([None, 0, 1, 4]), ascii_only=st.booleans()
)
def test_each_message_is_the_string_on_its_line(
    export: Any, said: list[str], indent: int | None, ascii_only: bool
) -> None:
    source = Source(
        path="T/2024-05-01.json", text=json.dumps(export(said), indent=indent, ensure_ascii=ascii_only)
    )
    reader = ChatExportReader()
    assert reader.recognises(source)
    blocks = reader.read(source).blocks
    assert [block.text for block in blocks] == said
    lines = source.text.split("\n")
    for block in blocks:
        assert block.lines is not None
        raw = "\n".join(lines[block.lines.start - 1 : block.lines.end])
        strings = [json.loads(each) for each in re.findall(r'"(?:[^"\\]|\\.)*"', raw)]
        assert block.text in map(html.unescape, strings)
