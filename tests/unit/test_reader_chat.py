"""Chats and agent sessions: who said what, on which lines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memu.ingest.document import BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.records import Kind, LineSpan

DATA = Path(__file__).parents[1] / "data" / "readers"
RECORDS = [{"role": "user", "content": "I moved to Oslo."}, {"role": "assistant", "content": "Noted."}]


def read(text: str, path: str = "c.json") -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def test_a_real_chat_gives_each_turn_its_line() -> None:
    document = read((DATA / "session_1.json").read_text("utf-8"), "aisha/session_1.json")
    assert document.kind is Kind.CHAT
    assert (document.title, document.titled) == ("session 1", False)
    assert [(block.role, block.lines) for block in document.blocks] == [
        ("user", LineSpan(6, 6)),
        ("assistant", LineSpan(10, 10)),
        ("user", LineSpan(14, 14)),
        ("assistant", LineSpan(18, 18)),
        ("user", LineSpan(22, 22)),
    ]
    assert document.blocks[0].text.startswith("Hi, I'm Aisha. I'm the CEO of HealthPulse — we're")


@pytest.mark.parametrize("path", ["a.json", "a.txt", "a.md", "a.log", "a.jsonl", "noext", "a.yaml"])
@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        json.dumps({"messages": RECORDS}, indent=2),
        json.dumps({"data": {"conversation": RECORDS}}),
        "\n".join(map(json.dumps, RECORDS)) + "\n",
        json.dumps([{"from": "human", "value": "I moved to Oslo."}, {"from": "gpt", "value": "Noted."}]),
        json.dumps(
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "I moved to Oslo."}]},
                    {
                        "role": "assistant",
                        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}],
                    },
                    {"role": "tool", "content": "output"},
                ]
            }
        ),
    ],
)
def test_f11_role_content_records_are_a_chat_whatever_the_suffix(text: str, path: str) -> None:
    document = read(text, path)
    assert document.kind is Kind.CHAT
    assert [(block.role, block.text) for block in document.blocks] == [
        ("user", "I moved to Oslo."),
        ("assistant", "Noted."),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"name": "pkg", "version": "1.0.0", "scripts": {"test": "x"}, "author": "user", "content": "x"},
        [{"role": "CTO", "name": "Ann", "content": "x"}],
        [{"role": "user", "permissions": ["read"]}],
        {"roles": ["user", "assistant"], "content": "x"},
        {"lockfileVersion": 3, "packages": {"": {"role": 1}}},
    ],
)
def test_f11_other_json_is_no_chat(value: object) -> None:
    """F11: package.json is a document, not a chat."""
    assert read(json.dumps(value), "package.json").kind in (Kind.DOCUMENT, Kind.TABLE)


def test_titles_speakers_and_times() -> None:
    record = {"role": "user", "name": "Ann", "content": "Hello all", "timestamp": "2026-11-30T08:00:00+01:00"}
    document = read(json.dumps({"title": "Moving house", "messages": [record]}))
    assert (document.title, document.titled) == ("Moving house", True)
    assert document.blocks[0].speaker == "Ann"
    assert document.blocks[0].time == datetime(2026, 11, 30, 7, tzinfo=UTC)
    assert document.happened_at == datetime(2026, 11, 30, 7, tzinfo=UTC)


def test_several_conversations_stand_below_their_titles() -> None:
    document = read(json.dumps([{"title": "A", "messages": RECORDS}, {"messages": RECORDS}]))
    assert [block.heading for block in document.blocks] == [("A",), ("A",), ("2",), ("2",)]
    assert not document.titled


def test_a_broken_line_is_counted_and_the_rest_read() -> None:
    lines = [json.dumps(RECORDS[0]), '{"role": "user", "content": "cut o', json.dumps(RECORDS[1])]
    document = read("\n".join(lines))
    assert dict(document.damage) == {"bad_record": 1}
    assert [(block.text, block.lines) for block in document.blocks] == [
        ("I moved to Oslo.", LineSpan(1, 1)),
        ("Noted.", LineSpan(3, 3)),
    ]


def test_a_chat_cut_short_keeps_what_was_said() -> None:
    text = json.dumps({"messages": RECORDS}, indent=1)
    document = read(text[: text.index("Noted") + 3])
    assert document.kind is Kind.CHAT
    assert [block.text for block in document.blocks] == ["I moved to Oslo.", "Not"]
    assert dict(document.damage) == {"truncated": 1}


def test_unstorable_characters_are_counted() -> None:
    document = read('[{"role": "user", "content": "a\\u0000b \\ud800 c"}]')
    assert document.blocks[0].text == "a\ufffdb \ufffd c"
    assert dict(document.damage) == {"bad_character": 2}


def test_f40_a_long_turn_is_bounded_and_whole() -> None:
    said = "One sentence after another. " * 5_000
    document = read(json.dumps({"messages": [{"role": "user", "content": said}]}))
    assert all(len(block.text) <= 4_000 for block in document.blocks)
    assert " ".join(block.text for block in document.blocks) == said.strip()
    assert all(block.text.endswith(".") for block in document.blocks)


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("simonw_sample_session.jsonl", ["user", "assistant", "user", "assistant"]),
        ("agentsview_standard_session.jsonl", ["user", "assistant"]),
    ],
)
def test_what_was_said_in_agent_sessions_are_turns(name: str, roles: list[str]) -> None:
    text = (DATA / name).read_text("utf-8")
    document = read(text, name)
    assert document.kind is Kind.SESSION
    assert [block.role for block in document.blocks if block.kind is BlockKind.TURN] == roles
    assert document.happened_at is not None
    assert not document.titled
    raw = text.split("\n")
    for block in document.blocks:
        assert block.lines is not None
        assert block.time is not None
        assert json.dumps(block.text)[1:-1] in raw[block.lines.start - 1]
