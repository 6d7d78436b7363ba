"""A session's log is known for one whatever its beginning has been through; what is broken in it is counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.encoding import decode
from memu.ingest.reader import find_reader
from memu.ingest.readers.session import find_log
from memu.ingest.sessions.log_records import LINES_THAT_TELL, are_lines
from memu.records import Kind

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[1] / "data" / "sessions"
ASKED = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Please mend the lighthouse lamp"}}
SAID = {
    "type": "assistant",
    "uuid": "u2",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "The lamp burns again."}]},
}
THOUGHT = {
    "type": "assistant",
    "uuid": "u3",
    "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "kept to itself"}]},
}
LINES = [json.dumps(each) for each in (ASKED, THOUGHT, SAID)]
RULES = {"instructions": "Be brief. " * 8_000, "id": "s", "cwd": "/w"}
ITEM = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "Please mend the lighthouse lamp"}],
}
REPLY = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "The lamp burns again."}],
}
CODEX = [
    json.dumps({"payload": RULES, "timestamp": "2026-03-01T10:00:00Z", "type": "session_meta"}),
    *(json.dumps({"payload": each, "type": "response_item"}) for each in (ITEM, REPLY)),
]
SUMMARY = json.dumps({"type": "summary", "summary": "Of another day", "leafUuid": "none"})
SNAPSHOT = json.dumps({"type": "file-history-snapshot", "snapshot": {"files": "x" * 4_000}})
FRONTS: dict[str, tuple[list[str], dict[str, int]]] = {
    "garbage in front": (["%% not json at all", *LINES], {"bad_record": 1}),
    "the front cut off": ([LINES[0][30:], *LINES], {"bad_record": 1}),
    "a first record cut off": ([LINES[0][:40], *LINES], {"bad_record": 1}),
    "a byte order mark in the middle": ([LINES[0], "\ufeff" + LINES[1], LINES[2]], {}),
    "half of the first ten broken": (
        [LINES[0], *["{broken"] * 5, *LINES[1:], *LINES[1:], *LINES[1:]],
        {"bad_record": 5},
    ),
    "two of three broken": (["{broken", "{worse", *LINES], {"bad_record": 2}),
    "sixty records without a message": ([*[SUMMARY] * 60, *LINES], {}),
    "a hundred kilobytes before a message": ([*[SNAPSHOT] * 25, *LINES], {}),
    "a first record of eighty kilobytes, its type last": (CODEX, {}),
    "a second line that is being written": ([LINES[0], LINES[2], LINES[1][:50]], {"cut_line": 1}),
}


def read(text: str, path: str = "s.jsonl") -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def said(document: Document) -> list[str]:
    return [block.text for block in document.blocks if block.role in ("user", "assistant")]


@pytest.mark.parametrize("path", ["s.jsonl", "s.json", "s.log", "s"])
@pytest.mark.parametrize("front", FRONTS)
def test_a_log_is_known_by_what_is_left_of_its_beginning(front: str, path: str) -> None:
    lines, damage = FRONTS[front]
    document = read("\n".join(lines) + ("" if "cut_line" in damage else "\n"), path)
    assert document.kind is Kind.SESSION
    assert dict.fromkeys(said(document)) == dict.fromkeys(
        ["Please mend the lighthouse lamp", "The lamp burns again."]
    )
    assert dict(document.damage) == damage
    assert "kept to itself" not in str(document.blocks)


def test_a_hole_of_nuls_in_front_takes_no_record_away() -> None:
    decoded = decode(b"\x00" * 300 + "\n".join(LINES).encode() + b"\n")
    document = read(decoded.text)
    assert said(document) == ["Please mend the lighthouse lamp", "The lamp burns again."]
    assert dict(document.damage) == {}
    assert decoded.replaced == 300


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.jsonl")))
@pytest.mark.parametrize("front", ["%% garbage", '{"type": "user", "mess', "\ufffd" * 40])
def test_garbage_in_front_of_a_real_log_costs_a_line_of_it(name: str, front: str) -> None:
    text = (DATA / name).read_text("utf-8")
    whole, broken = read(text), read(f"{front}\n{text}")
    assert said(broken) == said(whole)
    assert broken.kind is Kind.SESSION
    assert Counter(dict(broken.damage)) == Counter(dict(whole.damage)) + Counter(bad_record=1)


def _indent(value: Any) -> str:
    return json.dumps(value, indent=2)


OTHERS = {
    "a JSON text": _indent({"messages": [ASKED, SAID]}),
    "an array, one item a line": "[\n" + ",\n".join([*LINES, *LINES]) + "\n]",
    "an object, one item a line": '{"messages": [\n' + ",\n".join([*LINES, *LINES]) + "\n]}",
    "prose with an example": "# The form of a log\n\nEach line is a record:\n\n```\n"
    + LINES[0]
    + "\n```\n\nAnd so on.\n",
    "code": "function a() {\n  return {};\n}\n{}\n",
    "nothing": "",
    "blank lines": "\n\n\n",
}


@pytest.mark.parametrize("form", OTHERS)
def test_what_is_no_lines_of_json_is_read_as_what_it_is(form: str) -> None:
    assert not are_lines(OTHERS[form])


def test_the_lines_that_tell_a_log_are_told() -> None:
    """A kept point lies behind them, or a longer log might be known for something else."""
    assert find_log("\n".join(LINES))[1] == len(LINES)
    assert find_log("\n".join([*[SNAPSHOT] * 25, *LINES, *LINES]))[1] == 31
    many = [*LINES, *[SUMMARY] * 5_000]
    assert LINES_THAT_TELL < find_log("\n".join(many))[1] < len(many)


LAYOUTS = {
    "indented": lambda records: "\n".join(json.dumps(each, indent=2) for each in records),
    "with commas": lambda records: "".join(f"{json.dumps(each)},\n" for each in records),
    "run together": lambda records: "".join(map(json.dumps, records)),
    "indented, with commas": lambda records: ",\n".join(json.dumps(each, indent=1) for each in records),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.jsonl")))
def test_records_may_be_laid_out_in_any_way(name: str, layout: str) -> None:
    lines = (DATA / name).read_text("utf-8").split("\n")
    records = [json.loads(line) for line in lines if line.strip()]
    whole, other = read("\n".join(map(json.dumps, records)) + "\n"), read(LAYOUTS[layout](records))
    assert said(other) == said(whole)
    assert len(other.turns) == len(whole.turns)
    assert dict(other.damage) == dict(whole.damage)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_messages_of_a_chat_may_be_laid_out_in_any_way(layout: str) -> None:
    records = [{"role": ("user", "assistant")[at % 2], "content": f"Message number {at}."} for at in range(20)]
    document = read(LAYOUTS[layout](records), "chat.json")
    assert document.kind is Kind.CHAT
    assert [block.text for block in document.blocks] == [each["content"] for each in records]
    assert dict(document.damage) == {}
    broken = read(f'{LAYOUTS[layout](records)}\n{{"role": "user", "cont', "chat.json")
    assert len(broken.blocks) == 20
    assert sum(dict(broken.damage).values()) == 1
