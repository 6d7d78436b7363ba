"""Chat exports with odd records or broken in the middle: what can be read is read, what cannot is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.records import Kind

pytestmark = pytest.mark.unit

NOON = 1_700_000_000
Record = dict[str, Any]


def read(value: object, path: str = "conversations.json") -> Document:
    source = Source(path=path, text=value if isinstance(value, str) else json.dumps(value))
    reader = find_reader(source)
    assert reader.name == "chat_export"
    return reader.read(source)


def told(document: Document) -> list[tuple[str, str]]:
    return [((block.place or "").split(" ", 1)[1], block.text) for block in document.blocks]


def node(number: int, text: object, parent: object = "", **more: Any) -> Record:
    message = {
        "id": f"n{number}",
        "author": {"role": "user" if number % 2 else "assistant", "metadata": {}},
        "create_time": NOON + number,
        "content": {"content_type": "text", "parts": [text]},
        "recipient": "all",
    }
    above = f"n{number - 1}" if parent == "" else parent
    return {"id": f"n{number}", "message": message | more, "parent": above, "children": [f"n{number + 1}"]}


def chatgpt(number: int, nodes: list[Record]) -> Record:
    first = {"id": "n0", "message": None, "parent": None, "children": ["n1"]}
    return {
        "title": f"Talk {number}",
        "create_time": NOON,
        "mapping": {each["id"]: each for each in (first, *nodes)},
        "current_node": nodes[-1]["id"],
        "conversation_id": f"{number}a3a2b1c-83a4",
    }


def claude(number: int, messages: list[object]) -> Record:
    talk = {"uuid": f"{number}a3a2b1c-83a4", "name": f"Talk {number}", "created_at": "2024-05-01T10:00:00Z"}
    return {**talk, "account": {"uuid": "a1"}, "chat_messages": messages}


def reply(text: object, sender: str = "human", **more: Any) -> Record:
    return {"uuid": f"m{text}", "text": text, "sender": sender, "created_at": "2024-05-01T10:00:00Z", **more}


TALKS: dict[str, Callable[[int], Record]] = {
    "chatgpt": lambda talk: chatgpt(talk, [node(each, f"Fact {talk}.{each} holds.") for each in range(1, 4)]),
    "claude": lambda talk: claude(talk, [reply(f"Fact {talk}.{each} holds.") for each in range(1, 4)]),
}
LAYOUTS: dict[str, Callable[[list[Record]], str]] = {
    "one line": json.dumps,
    "pretty": lambda talks: json.dumps(talks, indent=2),
    "a line each": lambda talks: "[" + ",\n".join(map(json.dumps, talks)) + "]",
}
BREAKS = {
    "a quote inside": ("Fact 2.2 holds", 'Fact "2.2" holds'),
    "a quote too many": ('Fact 2.2 holds."', 'Fact 2.2 holds.""'),
    "no end of a string": ('Fact 2.2 holds."', "Fact 2.2 holds."),
    "no beginning of one": ('"Fact 2.2 holds', "Fact 2.2 holds"),
    "stray characters": ('"Fact 2.2 holds."', '"Fact 2.2 holds." \\x00 oops'),
    "a bracket too many": ('"Fact 2.2 holds."', '"Fact 2.2 holds."]'),
    "a brace too many": ('"Fact 2.2 holds."', '"Fact 2.2 holds."}'),
    "an opening brace": ('"Fact 2.2 holds."', '{"Fact 2.2 holds."'),
    "a broken title": ('"Talk 2"', '"Talk" 2"'),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("make", TALKS.values(), ids=TALKS)
@pytest.mark.parametrize(("whole", "broken"), BREAKS.values(), ids=BREAKS)
def test_a_break_in_one_conversation_leaves_the_others_and_its_own_id(
    whole: str, broken: str, make: Callable[[int], Record], layout: Callable[[list[Record]], str]
) -> None:
    text = layout([make(number) for number in range(1, 6)])
    before, after = read(text), read(text.replace(whole, broken))
    assert after.kind is Kind.CHAT
    others = [
        (each.place, each.heading, each.text, each.role) for each in before.blocks if "Fact 2." not in each.text
    ]
    found = [(each.place, each.heading, each.text, each.role) for each in after.blocks]
    assert [each for each in others if each not in found] == []
    own = [each for each in found if (each[0] or "").startswith("conversation 2a3a2b1c,")]
    assert ("conversation 2a3a2b1c, message 1", "Fact 2.1 holds.") in [(each[0], each[2]) for each in own]
    assert {each[0] for each in found} <= {each.place for each in before.blocks}
    assert {"bad_syntax", "bad_record"} >= set(dict(after.damage)) != set()


LOST_BRACKETS = ["]", "}", "}, ", "]}", "}]"]


@pytest.mark.parametrize("lost", LOST_BRACKETS)
@pytest.mark.parametrize("make", TALKS.values(), ids=TALKS)
def test_lost_brackets_cost_no_other_conversation(make: Callable[[int], Record], lost: str) -> None:
    text = json.dumps([make(number) for number in range(1, 6)])
    at = text.find(lost, text.index("Fact 2.2"))
    document = read(text[:at] + text[at + len(lost) :])
    said = {block.text: block.place for block in document.blocks}
    for talk in (1, 3, 4, 5):
        for each in range(1, 4):
            assert said[f"Fact {talk}.{each} holds."] == f"conversation {talk}a3a2b1c, message {each}"
    assert said["Fact 2.1 holds."] == "conversation 2a3a2b1c, message 1"
    assert document.damage


def slack(second: int, text: object, **more: Any) -> Record:
    return {"type": "message", "user": "U01", "text": text, "ts": f"{NOON + second}.000100", **more}


def telegram(number: int, text: object, **more: Any) -> Record:
    return {"id": number, "type": "message", "date_unixtime": str(NOON), "from": "Orla", "text": text, **more}


ODD: dict[str, tuple[object, int]] = {
    "null": (None, 1),
    "a number": (7, 1),
    "a string": ("odd", 1),
    "a list": ([1], 1),
    "no object's text": ({"text": None}, 1),
    "a number as text": ({"text": 5}, 1),
}
SLACK = ODD | {
    "a bad time": ({"ts": "bad"}, 1),
    "no time": ({"ts": None}, 1),
    "a join": ({"subtype": "channel_join", "text": None}, 0),
    "no words": ({"text": ""}, 0),
}
TELEGRAM = ODD | {
    "a number in the text": ({"text": ["odd", 5]}, 1),
    "no type": ({"type": None}, 1),
    "a note": ({"type": "service", "text": None}, 0),
    "no words": ({"text": ""}, 0),
}


def _made(make: Callable[..., Record], odd: object, number: int) -> object:
    return make(number, "Odd.") | odd if isinstance(odd, dict) else odd


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize(("odd", "lost"), SLACK.values(), ids=SLACK)
def test_an_odd_message_costs_no_day_of_slack(odd: object, lost: int, at: int) -> None:
    day: list[object] = [slack(1, "One."), slack(2, "Two."), slack(3, "Three.")]
    day.insert(at, _made(slack, odd, 9))
    document = read(day, "export/ops/2023-11-14.json")
    assert [text for _, text in told(document) if text != "Odd."] == ["One.", "Two.", "Three."]
    assert dict(document.damage).get("bad_record", 0) == lost


@pytest.mark.parametrize("of_account", [False, True])
@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize(("odd", "lost"), TELEGRAM.values(), ids=TELEGRAM)
def test_an_odd_message_costs_no_chat_of_telegram(odd: object, lost: int, at: int, of_account: bool) -> None:
    messages: list[object] = [telegram(1, "One."), telegram(2, "Two."), telegram(3, "Three.")]
    messages.insert(at, _made(telegram, odd, 9))
    chat = {"name": "Boats", "type": "private_group", "id": 42, "messages": messages}
    account = {"about": "Data.", "personal_information": {}, "chats": {"list": [None, {"id": 1}, chat]}}
    document = read(account if of_account else chat, "result.json")
    plain = [text for _, text in told(document) if text not in ("Odd.", "odd")]
    assert plain == ["One.", "Two.", "Three."]
    assert dict(document.damage).get("bad_record", 0) == lost + 2 * of_account


CLAUDE = {
    "null": (None, 1),
    "a string": ("odd", 1),
    "null text": ({"text": None}, 1),
    "an unknown sender": ({"sender": "robot"}, 1),
    "no sender": ({"sender": None}, 1),
    "a text part without text": ({"text": None, "content": [{"type": "text", "text": None}]}, 1),
    "a tool alone": ({"text": "", "content": [{"type": "tool_use", "input": {}}]}, 0),
    "no words": ({"text": ""}, 0),
}


@pytest.mark.parametrize(("odd", "lost"), CLAUDE.values(), ids=CLAUDE)
def test_an_odd_message_of_claude_is_counted_and_the_rest_keeps_its_place(odd: object, lost: int) -> None:
    bad = reply("Odd.") | odd if isinstance(odd, dict) else odd
    document = read([claude(1, [reply("One."), bad, reply("Three.")]), None, {"uuid": "x"}])
    assert told(document) == [("1a3a2b1c, message 1", "One."), ("1a3a2b1c, message 3", "Three.")]
    assert dict(document.damage) == {"bad_record": lost + 2}


CHATGPT = {
    "a string for a message": ({"message": "odd"}, 1),
    "no author": ({"message": {"author": None, "content": {"content_type": "text", "parts": ["Odd."]}}}, 1),
    "no content": ({"message": {"author": {"role": "user"}, "content": None}}, 1),
    "no parts": ({"message": {"author": {"role": "user"}, "content": {"content_type": "text"}}}, 1),
    "odd parts": ({"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [5]}}}, 1),
    "a tool": ({"message": {"author": {"role": "tool"}, "content": None}}, 0),
    "nothing": ({"message": None}, 0),
}


@pytest.mark.parametrize(("odd", "lost"), CHATGPT.values(), ids=CHATGPT)
def test_an_odd_message_of_chatgpt_is_counted_and_has_a_number(odd: Record, lost: int) -> None:
    talk = chatgpt(1, [node(1, "One."), node(2, "Odd.") | odd, node(3, "Three.")])
    document = read([talk, 5, {"title": "x"}])
    assert told(document) == [("1a3a2b1c, message 1", "One."), (f"1a3a2b1c, message {2 + lost}", "Three.")]
    assert dict(document.damage) == {"bad_record": lost + 2}


def test_parts_and_contents_that_are_strings_and_mappings_that_are_lists_are_read() -> None:
    nodes = [node(1, ""), node(2, ""), node(3, "Three.")]
    nodes[0]["message"]["content"] = {"content_type": "text", "parts": "One."}
    nodes[1]["message"]["content"] = "Two."
    talk = chatgpt(1, nodes)
    listed = {**talk, "mapping": list(talk["mapping"].values())}
    for each in (talk, listed):
        document = read([each])
        assert [text for _, text in told(document)] == ["One.", "Two.", "Three."]
        assert document.damage == ()


LINKS: dict[str, tuple[list[Record], list[str], int]] = {
    "a parent that is null": ([node(1, "One."), node(2, "Two.", None), node(3, "Three.")], ["1", "2", "3"], 0),
    "a parent that is a number": ([node(1, "One."), node(2, "Two.", 5), node(3, "Three.")], ["1", "2", "3"], 0),
    "a loop": ([node(1, "One."), node(2, "Two.", "n3"), node(3, "Three.")], ["1", "2", "3"], 0),
    "a parent that is another": ([node(1, "One."), node(2, "Two.", "nx"), node(3, "Three.")], ["1", "2", "3"], 0),
    "a message that is missing": ([node(1, "One."), node(3, "Three."), node(4, "Four.")], ["1", "3", "4"], 1),
}


@pytest.mark.parametrize(("nodes", "numbers", "lost"), LINKS.values(), ids=LINKS)
def test_lost_links_cut_nothing_off(nodes: list[Record], numbers: list[str], lost: int) -> None:
    document = read([chatgpt(1, nodes)])
    texts = [each["message"]["content"]["parts"][0] for each in nodes]
    assert told(document) == [(f"1a3a2b1c, message {n}", text) for n, text in zip(numbers, texts, strict=True)]
    assert dict(document.damage).get("bad_record", 0) == lost


def test_without_any_links_the_order_of_time_is_taken() -> None:
    nodes = [{**node(number, f"Fact {number}."), "parent": "lost", "children": []} for number in (2, 1, 3)]
    document = read([chatgpt(1, nodes)])
    assert [text for _, text in told(document)] == ["Fact 1.", "Fact 2.", "Fact 3."]


def test_a_number_as_the_content_of_a_record_is_counted() -> None:
    records = [
        {"role": "user", "content": "One."},
        {"role": "user", "content": 5},
        {"role": "user", "content": None},
    ]
    source = Source(path="chat.json", text=json.dumps(records))
    assert dict(find_reader(source).read(source).damage) == {"bad_record": 1}
