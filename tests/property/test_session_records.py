"""Records that are nearly those of an agent: whatever a field holds, reading raises nothing and keeps bounds."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memu.ingest.document import Document, Source
from memu.ingest.readers.runs import LIMIT
from memu.ingest.readers.session import SessionReader
from memu.ingest.sessions.shrinking import shrink_log
from memu.memorize.extractors.policies import extract
from memu.memorize.passages import cut_passages

CALL = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}
RESULT = {
    "type": "tool_result",
    "tool_use_id": "c",
    "content": [{"type": "text", "text": "out"}],
    "is_error": False,
}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "Done."}, CALL], "stop_reason": "end_turn"}
SHELL = '{"command": ["bash", "-lc", "make"]}'
ENDED = '{"output": "out", "metadata": {"exit_code": 0}}'
SEEDS: list[list[dict[str, Any]]] = [
    [
        {
            "type": "user",
            "uuid": "u",
            "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": "user", "content": "Do"},
        },
        {"type": "assistant", "costUSD": 0.5, "message": SAID},
        {
            "type": "user",
            "toolUseResult": {"interrupted": False},
            "message": {"role": "user", "content": [RESULT]},
        },
        {"type": "summary", "summary": "It", "leafUuid": "u"},
    ],
    [
        {"type": "session_meta", "payload": {"id": "s", "instructions": "Be good."}},
        {"type": "event_msg", "timestamp": 1.0, "payload": {"type": "user_message", "message": "Do"}},
        {
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "call_id": "c", "arguments": SHELL},
        },
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": ENDED}},
        {
            "type": "response_item",
            "payload": {
                "type": "custom_tool_call",
                "name": "apply_patch",
                "call_id": "p",
                "input": "*** Update File: a",
            },
        },
        {"type": "compacted", "payload": {"message": "So far"}},
    ],
    [
        {"type": "session", "id": "s"},
        {
            "type": "message",
            "parentId": None,
            "message": {"role": "user", "content": "Do", "timestamp": 1772359200000},
        },
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "usage": {"cost": {"total": 1}},
                "stopReason": "stop",
                "content": [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "make"}}],
            },
        },
        {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0}},
        {
            "type": "message",
            "message": {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": "out"},
        },
    ],
    [
        {"type": "user", "content": "Do"},
        {
            "type": "gemini",
            "content": "Done.",
            "toolCalls": [
                {
                    "id": "c",
                    "name": "write_todos",
                    "args": {"todos": [{"description": "a", "status": "done"}]},
                    "result": [{"functionResponse": {"response": {"output": "out"}}}],
                    "status": "success",
                }
            ],
        },
    ],
    [
        {"role": "user", "content": "Do"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": '{"output": "out", "exit_code": 1}'},
    ],
]
ODD = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just("x" * 5_000)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=5,
)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places_of(item, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], odd: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = odd


def check(document: Document, text: str) -> None:
    total = max(1, text.count("\n") + (not text.endswith("\n")))
    for block in document.blocks:
        assert block.lines is not None
        assert 1 <= block.lines.start <= block.lines.end <= total
        assert 0 < len(block.text) <= LIMIT
    cut_passages(document, "s.jsonl", None)
    extract(document, "s.jsonl")


@pytest.mark.parametrize("seed", SEEDS, ids=["Claude Code", "Codex", "pi", "Gemini CLI", "role and content"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_p5_whatever_a_field_holds_is_no_error(seed: list[dict[str, Any]], data: st.DataObject) -> None:
    records = copy.deepcopy(seed)
    for _ in range(data.draw(st.integers(1, 2))):
        places = [place for place in places_of(records) if len(place) > 1]
        put(records, data.draw(st.sampled_from(places)), data.draw(ODD))
    lines = "\n".join(json.dumps(record) for record in records) + "\n"
    for text in (lines, json.dumps({"messages": records}, indent=1), shrink_log([lines.encode()]).text):
        source = Source(path="s.jsonl", text=text)
        SessionReader().recognises(source)
        check(SessionReader().read(source), text)
