"""Chats as apps export them: who said what, when, in which conversation and thread (F11)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.records import Kind

pytestmark = pytest.mark.unit

NOON = 1_700_000_000


def read(value: object, path: str = "conversations.json", indent: int | None = None) -> Document:
    source = Source(path=path, text=json.dumps(value, indent=indent, ensure_ascii=False))
    reader = find_reader(source)
    assert reader.name == "chat_export"
    document = reader.read(source)
    assert document.kind is Kind.CHAT
    return document


def said(document: Document) -> list[tuple[str, str]]:
    return [(block.speaker or block.role, block.text) for block in document.blocks]


def node(key: str, parent: str | None, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": NOON + 60 * int(key),
        "content": {"content_type": "text", "parts": list(parts)},
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        **more,
    }
    return {"id": key, "message": message, "parent": parent, "children": []}


def chatgpt(*nodes: dict[str, Any], current: str | None, key: str = "6f3a2b1c-83a4", title: str = "Moving") -> Any:
    mapping: dict[str, Any] = {"0": {"id": "0", "message": None, "parent": None, "children": []}}
    mapping |= {each["id"]: each for each in nodes}
    return {
        "title": title,
        "create_time": NOON,
        "update_time": NOON,
        "mapping": mapping,
        "current_node": current,
        "conversation_id": key,
    }


ASKED = node("1", "0", "user", "I moved to Oslo in May.")
HIDDEN = {
    "system": node("2", "1", "system", "You are helpful."),
    "hidden": node("2", "1", "user", "About me", metadata={"is_visually_hidden_from_conversation": True}),
    "instructions": node("2", "1", "user", "About me", metadata={"is_user_system_message": True}),
    "tool": node("2", "1", "tool", "42 results"),
    "to a tool": node("2", "1", "assistant", "search(oslo)", recipient="browser"),
    "weightless": node("2", "1", "assistant", "Draft", weight=0.0),
    "code": node("2", "1", "assistant", content={"content_type": "code", "text": "print(1)"}),
    "thoughts": node("2", "1", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
    "empty": node("2", "1", "assistant", ""),
    "picture": node("2", "1", "user", content={"content_type": "multimodal_text", "parts": [{"asset": "x"}]}),
    "no message": {"id": "2", "message": None, "parent": "1", "children": []},
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_of_a_tree_what_the_app_shows_is_read(hidden: dict[str, Any]) -> None:
    answer = node("3", "2", "assistant", "Noted.")
    document = read([chatgpt(ASKED, hidden, answer, current="3")])
    assert said(document) == [("user", "I moved to Oslo in May."), ("assistant", "Noted.")]
    first, last = document.blocks
    assert first.heading == ("Moving",)
    assert (first.place, last.place) == ("conversation 6f3a2b1c, message 1", "conversation 6f3a2b1c, message 2")
    assert last.time == datetime.fromtimestamp(NOON + 180, UTC)


@pytest.mark.parametrize(
    ("current", "shown"),
    [
        ("3", ["Which way to Oslo?", "By train."]),
        ("5", ["Which way to Bergen?", "By ship."]),
        ("nowhere", ["Which way to Bergen?", "By ship."]),
        (None, ["Which way to Bergen?", "By ship."]),
    ],
)
def test_of_branches_the_current_one_is_read_else_the_last_written(current: str | None, shown: list[str]) -> None:
    nodes = [
        node("2", "0", "user", "Which way to Oslo?"),
        node("3", "2", "assistant", "By train."),
        node("4", "0", "user", "Which way to Bergen?"),
        node("5", "4", "assistant", "By ship."),
    ]
    assert [text for _, text in said(read([chatgpt(*nodes, current=current)]))] == shown


def test_a_tree_that_bites_its_tail_ends() -> None:
    nodes = [node("1", "2", "user", "One."), node("2", "1", "assistant", "Two.")]
    assert [text for _, text in said(read([chatgpt(*nodes, current="2")]))] == ["One.", "Two."]


def test_what_was_spoken_or_stands_beside_a_picture_is_read() -> None:
    parts: list[Any] = [{"content_type": "image_asset_pointer", "asset_pointer": "x"}, "This is my bike."]
    spoken = {"content_type": "audio_transcription", "text": "It is red.", "direction": "in"}
    asked = node("1", "0", "user", content={"content_type": "multimodal_text", "parts": [*parts, spoken]})
    cited = node("2", "1", "assistant", "A fine one.\ue200cite\ue202turn0search1\ue201")
    assert [text for _, text in said(read([chatgpt(asked, cited, current="2")]))] == [
        "This is my bike.",
        "It is red.",
        "A fine one.",
    ]


def claude(key: str, name: str, *messages: dict[str, Any]) -> dict[str, Any]:
    return {"uuid": key, "name": name, "created_at": "2024-05-01T10:00:00Z", "chat_messages": list(messages)}


def test_claude_tells_each_thing_once() -> None:
    asked = {
        "uuid": "m1",
        "text": "I moved to Oslo.",
        "content": [{"type": "text", "text": "I moved to Oslo."}],
        "sender": "human",
        "created_at": "2024-05-01T10:01:00Z",
    }
    answered = {
        "sender": "assistant",
        "text": "",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_use", "input": {}},
            {"type": "text", "text": "Noted."},
        ],
    }
    older = {"sender": "human", "text": "And Tom came along."}
    document = read([claude("6f3a2b1c83a4", "Moving", asked, answered, older), claude("71", "", older)])
    assert said(document) == [
        ("user", "I moved to Oslo."),
        ("assistant", "Noted."),
        ("user", "And Tom came along."),
        ("user", "And Tom came along."),
    ]
    assert [block.heading for block in document.blocks] == [("Moving",)] * 3 + [()]
    assert [block.place for block in document.blocks] == [
        "conversation 6f3a2b1c, message 1",
        "conversation 6f3a2b1c, message 2",
        "conversation 6f3a2b1c, message 3",
        "conversation 71, message 1",
    ]
    assert document.blocks[1].time == datetime(2024, 5, 1, 10, 1, tzinfo=UTC)


def telegram(number: int, text: object, **more: Any) -> dict[str, Any]:
    stamp = {"date": "2024-05-01T12:00:00", "date_unixtime": str(NOON + number)}
    return {"id": number, "type": "message", **stamp, "from": "Orla", "from_id": "user1", "text": text, **more}


CHAT = {
    "name": "Boat club",
    "type": "private_group",
    "id": 4242,
    "messages": [
        {
            "id": 1,
            "type": "service",
            "date": "2024-05-01T12:00:00",
            "actor": "Orla",
            "action": "create_group",
            "text": "",
        },
        telegram(2, "The crane is serviced in May."),
        telegram(3, ["Plans are at ", {"type": "link", "text": "https://example.org"}, " and ", "here."]),
        telegram(4, "", photo="photos/1.jpg"),
        telegram(5, "In June, I fear.", **{"from": "Tom"}, reply_to_message_id=2),
        telegram(6, "Yes.", reply_to_message_id=99),
    ],
}
ACCOUNT = {
    "about": "Here is the data you requested.",
    "personal_information": {"first_name": "Orla"},
    "contacts": {"list": [{"name": f"Person {n}" * 20} for n in range(400)]},
    "chats": {"about": "All chats.", "list": [CHAT, {**CHAT, "name": None, "type": "saved_messages", "id": 7}]},
}


@pytest.mark.parametrize(("export", "count"), [(CHAT, 1), (ACCOUNT, 2)], ids=["one chat", "all chats"])
def test_telegram_tells_messages_and_what_they_answer(export: dict[str, Any], count: int) -> None:
    document = read(export, "ChatExport_2024-05-01/result.json", indent=1)
    assert said(document) == count * [
        ("Orla", "The crane is serviced in May."),
        ("Orla", "Plans are at https://example.org and here."),
        ("Tom", "In June, I fear."),
        ("Orla", "Yes."),
    ]
    assert document.title == ("Boat club" if count == 1 else "result")
    assert [block.heading for block in document.blocks[:4]] == [
        ("Boat club",),
        ("Boat club",),
        ("Boat club", "Reply to Orla, 2023-11-14 22:13"),
        ("Boat club", "Reply to message 99"),
    ]
    assert document.blocks[0].place == "conversation 4242, message 2"
    assert document.blocks[0].time == datetime.fromtimestamp(NOON + 2, UTC)
    assert {block.heading[0] for block in document.blocks[4:]} <= {"Saved messages"}


def slack(second: int, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U01", "text": text, "ts": f"{NOON + second}.000100", **more}


def test_slack_tells_speakers_threads_and_what_was_typed() -> None:
    orla = {"real_name": "Orla Byrne", "display_name": "orla", "name": "ob"}
    day = [
        slack(0, "<@U01> has joined the channel", subtype="channel_join"),
        slack(1, "Shall we move the queue &amp; the jobs to Postgres?", user_profile=orla),
        slack(
            2,
            "Yes, <@U02|tom>, see <https://example.org/a|the plan> in <#C1|ops>.",
            thread_ts=f"{NOON + 1}.000100",
        ),
        slack(3, "Older talk.", thread_ts="1600000000.000200", user="U03"),
        slack(4, "Deployed.", subtype="bot_message", bot_id="B1", username="deployer", user=None),
        slack(5, ""),
    ]
    document = read(day, "export/ops/2023-11-14.json")
    assert said(document) == [
        ("orla", "Shall we move the queue & the jobs to Postgres?"),
        ("orla", "Yes, @tom, see the plan (https://example.org/a) in #ops."),
        ("U03", "Older talk."),
        ("deployer", "Deployed."),
    ]
    assert [block.heading for block in document.blocks] == [
        ("ops",),
        ("ops", "Thread of orla, 2023-11-14 22:13"),
        ("ops", "Thread of 2020-09-13 12:26"),
        ("ops",),
    ]
    assert document.title == "ops 2023-11-14"
    assert document.happened_at == datetime.fromtimestamp(NOON + 1, UTC).replace(microsecond=100)


def test_each_conversation_is_a_page_of_its_own() -> None:
    trees = [
        chatgpt(node("1", "0", "user", "I moved to Oslo in May."), current="1", key="aa11", title="Moving"),
        chatgpt(node("1", "0", "user", "My bike is a red tandem."), current="1", key="bb22", title="Bicycles"),
        chatgpt(node("1", "0", "user", "Our cat is called Sigrid."), current="1", key="cc33", title=""),
    ]
    found = extract(read(trees), "conversations.json").candidates
    assert [(each.page_hint, each.text) for each in found] == [
        ("Moving", "I moved to Oslo in May."),
        ("Bicycles", "My bike is a red tandem."),
        (None, "Our cat is called Sigrid."),
    ]


@pytest.mark.parametrize("cut", range(40, 2000, 97))
def test_a_cut_export_gives_what_came_before(cut: int) -> None:
    trees = [chatgpt(node("1", "0", "user", f"Fact {n} is true."), current="1", key=f"a{n}") for n in range(5)]
    text = json.dumps(trees)
    source = Source(path="conversations.json", text=text[:cut])
    document = find_reader(source).read(source)
    whole = [block.text for block in read(trees).blocks]
    if document.kind is Kind.CHAT:
        got = [block.text for block in document.blocks]
        assert all(any(full.startswith(text) for full in whole) for text in got)
        assert dict(document.damage).get("truncated") == 1
    assert cut < 700 or len(document.blocks) > 0
