"""Logs of coding agents, dialect by dialect: the same session in each form gives the same turns and events.

P4: what a block says stands on the lines that it names. Noise is told by its form.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from memu.ingest.document import Block, Document, Source
from memu.ingest.reader import find_reader
from memu.ingest.sessions.dialects import DIALECTS, find_dialect
from memu.ingest.sessions.events import EventKind
from memu.ingest.sessions.log_records import LONGEST_LINE, read_records
from memu.ingest.sessions.noise import cut_noise, cut_prompt, keep_tail
from memu.ingest.sessions.sub_agents import SubAgent
from memu.memorize.turn_cards import write_card
from memu.records import Kind, LineSpan

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[1] / "data" / "sessions"
REAL = sorted(path.name for path in DATA.iterdir())
Json = dict[str, Any]


def at(second: int) -> str:
    return f"2026-03-01T10:00:{second:02}Z"


def claude(kind: str, second: int, content: Any, **more: Any) -> Json:
    message = {"role": kind, "content": content} | more.pop("message", {})
    return {"type": kind, "uuid": f"u{second}", "timestamp": at(second), "message": message, **more}


def codex(kind: str, second: int, **payload: Any) -> Json:
    return {"type": kind, "timestamp": at(second), "payload": payload}


def pi(kind: str, second: int, **more: Any) -> Json:
    return {"type": kind, "id": f"p{second}", "parentId": None, "timestamp": at(second), **more}


COMMAND = {"command": "make test"}
WRITE = {"file_path": "src/a.py", "content": "x = 1"}
SESSIONS: dict[str, list[Json]] = {
    "Claude Code": [
        claude("user", 0, "Please fix the test"),
        claude("assistant", 1, [{"type": "thinking", "thinking": "hm", "signature": "c2ln" * 90}]),
        claude("assistant", 2, [{"type": "tool_use", "id": "c1", "name": "Write", "input": WRITE}]),
        claude("user", 3, [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]),
        claude("assistant", 4, [{"type": "tool_use", "id": "c2", "name": "Bash", "input": COMMAND}]),
        claude("user", 5, [{"type": "tool_result", "tool_use_id": "c2", "content": "2 passed"}]),
        claude("assistant", 6, [{"type": "text", "text": "It is fixed."}], message={"stop_reason": "end_turn"}),
    ],
    "Codex": [
        codex("session_meta", 0, id="s", cwd="/w"),
        codex(
            "response_item",
            0,
            type="message",
            role="user",
            content=[{"type": "input_text", "text": "Please fix the test"}],
        ),
        codex("event_msg", 0, type="user_message", message="Please fix the test"),
        codex("response_item", 1, type="reasoning", summary=[], encrypted_content="gAAAA" * 80),
        codex(
            "response_item",
            2,
            type="custom_tool_call",
            name="apply_patch",
            call_id="c1",
            input="*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch",
        ),
        codex("response_item", 3, type="custom_tool_call_output", call_id="c1", output="Success."),
        codex(
            "response_item",
            4,
            type="function_call",
            name="shell",
            call_id="c2",
            arguments=json.dumps({"command": ["bash", "-lc", "make test"]}),
        ),
        codex(
            "response_item",
            5,
            type="function_call_output",
            call_id="c2",
            output=json.dumps({"output": "2 passed", "metadata": {"exit_code": 0}}),
        ),
        codex("event_msg", 6, type="agent_message", message="It is fixed."),
        codex(
            "response_item",
            6,
            type="message",
            role="assistant",
            content=[{"type": "output_text", "text": "It is fixed."}],
        ),
        codex("event_msg", 6, type="task_complete"),
    ],
    "pi": [
        {"type": "session", "version": 3, "id": "s", "timestamp": at(0), "cwd": "/w"},
        pi("message", 0, message={"role": "user", "content": "Please fix the test"}),
        pi(
            "message",
            2,
            message={
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "src/a.py"}}],
                "usage": {"cost": {"total": 0.25}},
            },
        ),
        pi(
            "message",
            3,
            message={
                "role": "toolResult",
                "toolCallId": "c1",
                "toolName": "write",
                "content": [{"type": "text", "text": "ok"}],
            },
        ),
        pi(
            "message",
            4,
            message={
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "c2", "name": "bash", "arguments": COMMAND}],
            },
        ),
        pi(
            "message",
            5,
            message={
                "role": "toolResult",
                "toolCallId": "c2",
                "toolName": "bash",
                "isError": False,
                "content": [{"type": "text", "text": "2 passed"}],
            },
        ),
        pi(
            "message",
            6,
            message={
                "role": "assistant",
                "content": [{"type": "text", "text": "It is fixed."}],
                "stopReason": "stop",
            },
        ),
    ],
    "Gemini CLI": [
        {"id": "m1", "timestamp": at(0), "type": "user", "content": "Please fix the test"},
        {
            "id": "m2",
            "timestamp": at(2),
            "type": "gemini",
            "content": "",
            "toolCalls": [
                {"id": "c1", "name": "write_file", "args": WRITE, "status": "success", "timestamp": at(2)},
                {
                    "id": "c2",
                    "name": "run_shell_command",
                    "args": COMMAND,
                    "status": "success",
                    "timestamp": at(4),
                    "result": [{"functionResponse": {"response": {"output": "2 passed"}}}],
                },
            ],
        },
        {"id": "m3", "timestamp": at(6), "type": "gemini", "content": "It is fixed."},
    ],
    "role and content": [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "Please fix the test", "timestamp": at(0)},
        {
            "role": "assistant",
            "content": None,
            "timestamp": at(2),
            "tool_calls": [
                {"id": "c1", "function": {"name": "write_file", "arguments": json.dumps(WRITE)}},
                {"id": "c2", "function": {"name": "bash", "arguments": json.dumps(COMMAND)}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "tool", "tool_call_id": "c2", "content": json.dumps({"output": "2 passed", "exit_code": 0})},
        {"role": "assistant", "content": "It is fixed.", "timestamp": at(6)},
    ],
}
LAYOUTS = {
    "lines": lambda records: "\n".join(map(json.dumps, records)) + "\n",
    "one text": lambda records: json.dumps({"messages": records}),
    "spread": lambda records: json.dumps({"messages": records}, indent=2),
    "array": lambda records: json.dumps(records, indent=1),
}


def read(text: str) -> Document:
    source = Source(path="anything.txt", text=text)
    return find_reader(source).read(source)


def read_log(*records: Json) -> Document:
    return read(LAYOUTS["lines"](records))


def told(document: Document) -> list[tuple[str, str]]:
    return [(str(block.event.kind), block.text) for block in document.blocks if block.event]


def strings_of(raw: str) -> list[str]:
    """The strings of a piece of JSON, and those of JSON that a string holds."""
    found = [json.loads(literal, strict=False) for literal in re.findall(r'"(?:[^"\\]|\\.)*"', raw)]
    inside = [inner for each in found if each.startswith("{") for inner in strings_of(each)]
    # JSON in a string may have been cut short, and then has a last string without an end.
    undone = str.maketrans({"\\": None})
    cut = [each.replace("\\n", "\n").replace("\\t", "\t").translate(undone) for each in found if each[:1] == "{"]
    return [*found, *inside, *cut]


def assert_lines_hold_the_words(text: str, blocks: tuple[Block, ...]) -> None:
    raw = text.split("\n")
    for block in blocks:
        assert block.lines is not None
        held = strings_of("\n".join(raw[block.lines.start - 1 : block.lines.end]))
        planned = block.event is not None and block.event.kind is EventKind.PLAN
        for words in [line[4:] for line in block.text.split("\n")] if planned else [block.text]:
            assert any(words in each for each in held), block


def test_every_dialect_is_tried() -> None:
    assert {*SESSIONS, SubAgent.name} == {dialect.name for dialect in DIALECTS}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dialect", SESSIONS)
def test_the_same_session_in_any_dialect_and_layout(dialect: str, layout: str) -> None:
    text = LAYOUTS[layout](SESSIONS[dialect])
    found = find_dialect(list(read_records(text, Counter())))
    assert found is not None
    assert found.name == dialect
    document = read(text)
    assert document.kind is Kind.SESSION
    assert not document.damage
    assert told(document) == [
        ("prompt", "Please fix the test"),
        ("write", "src/a.py"),
        ("command", "make test"),
        ("output", "2 passed"),
        ("answer", "It is fixed."),
    ]
    (turn,) = document.turns
    assert (turn.outcome, turn.number) == ("completed", 1)
    assert turn.began is not None
    assert turn.ended is not None
    assert (turn.ended - turn.began).total_seconds() == 6
    assert [block.event.exit for block in document.blocks if block.event and block.event.kind == "command"] == [0]
    assert_lines_hold_the_words(text, document.blocks)


@pytest.mark.parametrize("name", REAL)
def test_p4_in_real_logs_the_named_lines_hold_the_words(name: str) -> None:
    text = (DATA / name).read_text("utf-8")
    document = read(text)
    assert document.kind is Kind.SESSION
    assert document.turns
    assert not document.damage
    assert_lines_hold_the_words(text, document.blocks)
    for turn in document.turns:
        blocks = [block for block in document.blocks if block.event and block.event.turn == turn.number]
        assert all(
            block.lines and turn.lines.start <= block.lines.start <= block.lines.end <= turn.lines.end
            for block in blocks
        )


def test_a_real_codex_log_says_each_thing_once_and_without_its_editor() -> None:
    text = (DATA / "rollout_part.jsonl").read_text("utf-8")
    document = read(text)
    said = [block for block in document.blocks if block.role in ("user", "assistant")]
    assert [role for role, _ in groupby(block.role for block in said)] == ["user", "assistant"]
    assert len({block.text for block in said}) == len(said)
    assert said[0].text.startswith("Evaluate @packages/services and create a new")
    assert "encrypted" not in str(document)
    assert "# Context from my IDE setup" not in str(document)
    assert "environment_context" not in str(document)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("<system-reminder>be good</system-reminder>Deploy it.", ["Deploy it."]),
        ("Deploy <system-reminder>x</system-reminder> it.", ["Deploy", "it."]),
        ("Why is <system-reminder> in my text?", ["Why is <system-reminder> in my text?"]),
        ("<environment_context>\n<cwd>/w</cwd>\n</environment_context>", []),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nrules\n</INSTRUCTIONS>", []),
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\nFix a.\n", ["Fix a."]),
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a\n", []),
        ("<ide_opened_file>a.py</ide_opened_file>\nFix it.", ["Fix it."]),
        ("<task-thing>\nall of it\n</task-thing>", []),
        ("Look: " + "QUJD" * 80 + "= and tell.", ["Look:", "and tell."]),
        ("Look: data:image/png;base64," + "QUJD" * 80 + " and tell.", ["Look:", "and tell."]),
        ("a short hash 0123456789abcdef stays", ["a short hash 0123456789abcdef stays"]),
        ("<local-command-stdout>bye</local-command-stdout>", []),
    ],
)
def test_noise_is_told_by_its_form(written: str, left: list[str]) -> None:
    assert cut_prompt(written) == left
    assert all(piece in written for piece in left)


def test_many_marks_that_nothing_closes_take_no_time() -> None:
    text = "<system-reminder>" * 40_000
    assert cut_noise(text) == [text]


@pytest.mark.parametrize("size", [1, 12, 13, 500])
@pytest.mark.parametrize("width", [1, 15, 400])
def test_of_an_output_the_last_lines_are_kept_within_a_bound(size: int, width: int) -> None:
    text = "\n".join(f"{number} {'word, ' * width}." for number in range(size)) + "\n\n"
    kept = keep_tail(text)
    assert kept in text
    assert text.rstrip().endswith(kept)
    assert 0 < len(kept) <= 1_000
    assert len(kept.split("\n")) <= 12


def test_what_the_program_and_its_helpers_wrote_is_nobodys_words() -> None:
    document = read_log(
        claude("user", 0, "Caveat: generated", isMeta=True),
        claude("user", 1, "<command-name>/clear</command-name><command-args></command-args>"),
        claude("user", 2, "Start"),
        claude("user", 3, "told to a helper", isSidechain=True),
        claude("assistant", 4, [{"type": "text", "text": "said by a helper"}], isSidechain=True),
        claude("user", 5, [{"type": "image", "source": {"type": "base64", "data": "QUJD" * 500}}]),
        claude("assistant", 6, [{"type": "text", "text": "Done."}]),
    )
    assert told(document) == [("prompt", "Start"), ("answer", "Done.")]


def test_the_words_given_to_a_command_are_asked() -> None:
    echo = "<command-name>/review</command-name>\n<command-args>PR 12</command-args>"
    document = read_log(claude("user", 0, echo), claude("assistant", 1, [{"type": "text", "text": "Fine."}]))
    assert told(document) == [("prompt", "PR 12"), ("answer", "Fine.")]


@pytest.mark.parametrize("middle", ["{broken", '["a", "list"]', "\x00\x00", "nonsense", '{"a": ' * 5_000])
def test_a_line_that_is_no_record_is_counted_and_the_rest_is_read(middle: str) -> None:
    lines = [json.dumps(record) for record in SESSIONS["Claude Code"]]
    whole, broken = read("\n".join(lines)), read("\n".join([*lines[:3], middle, *lines[3:]]))
    assert told(broken) == told(whole)
    assert dict(broken.damage) == {"bad_record": 1}


def test_a_line_over_eight_million_characters_is_passed_over_and_counted() -> None:
    lines = [json.dumps(record) for record in SESSIONS["Claude Code"]]
    huge = json.dumps(claude("assistant", 5, [{"type": "text", "text": "x" * LONGEST_LINE}]))
    document = read("\n".join([*lines[:-1], huge, lines[-1]]))
    assert told(document) == told(read("\n".join(lines)))
    assert dict(document.damage) == {"long_line": 1}


def test_a_failed_command_says_how() -> None:
    document = read_log(
        claude("user", 0, "Run it"),
        claude("assistant", 1, [{"type": "tool_use", "id": "c", "name": "Bash", "input": COMMAND}]),
        claude(
            "user",
            2,
            [{"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "Exit code 2\nboom"}],
        ),
    )
    command, output = document.blocks[1:]
    assert command.event is not None
    assert (command.event.exit, command.event.failed, command.heading) == (2, True, ("Bash, exit 2",))
    assert (output.level, output.lines) == ("error", LineSpan(3, 3))
    assert document.turns[0].outcome == "unfinished"


REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("name", "given"), [("Bash", COMMAND), ("Write", {"file_path": "src/b.py", "content": "x"})]
)
def test_what_a_person_refused_was_neither_run_nor_written(name: str, given: Json) -> None:
    document = read_log(
        claude("user", 0, "Run it"),
        claude("assistant", 1, [{"type": "tool_use", "id": "c", "name": name, "input": given}]),
        claude("user", 2, [{"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": REFUSAL}]),
        claude("user", 3, [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    )
    call = document.blocks[1]
    assert call.event is not None
    assert (call.event.exit, call.event.failed, call.event.refused) == (None, False, True)
    assert call.heading == (f"{name}, refused",)
    lines = write_card(document.turns[0], document.blocks).split("\n")
    assert f"Refused: {call.text}" in lines
    assert not any(line.startswith(("Ran:", "Wrote:", "Errors:")) for line in lines)


@pytest.mark.parametrize("answer", ["exec command rejected by user", "patch rejected by user"])
def test_what_a_person_refused_in_codex(answer: str) -> None:
    call = codex(
        "response_item", 1, type="function_call", name="shell", call_id="c", arguments=json.dumps(COMMAND)
    )
    document = read_log(
        codex("event_msg", 0, type="user_message", message="Run it"),
        call,
        codex("response_item", 2, type="function_call_output", call_id="c", output=answer),
    )
    assert "Refused: make test" in write_card(document.turns[0], document.blocks)


def test_a_command_in_the_background_has_no_end_yet() -> None:
    begun = "Command running in background with ID: b1. Output is being written to: /tmp/b1.output"
    document = read_log(
        claude("user", 0, "Serve it"),
        claude("assistant", 1, [{"type": "tool_use", "id": "c", "name": "Bash", "input": COMMAND}]),
        claude("user", 2, [{"type": "tool_result", "tool_use_id": "c", "content": begun}]),
    )
    assert "\nRan: make test\n" in write_card(document.turns[0], document.blocks) + "\n"


def test_an_output_that_comes_after_a_further_message_is_told_with_its_command() -> None:
    failed = {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "Exit code 2\nboom"}
    document = read_log(
        claude("user", 0, "Run it"),
        claude("assistant", 1, [{"type": "tool_use", "id": "c", "name": "Bash", "input": COMMAND}]),
        claude("user", 2, "And mind the step"),
        claude("user", 3, [failed]),
        claude("assistant", 4, [{"type": "text", "text": "It failed."}]),
        claude("user", 5, "Again"),
        claude("assistant", 6, [{"type": "text", "text": "No."}]),
    )
    by_turn = [[b for b in document.blocks if b.event and b.event.turn == turn.number] for turn in document.turns]
    cards = [write_card(turn, blocks) for turn, blocks in zip(document.turns, by_turn, strict=True)]
    assert "\nRan: make test (no result)\n" in f"{cards[0]}\n"
    assert "\nRan: make test (exit 2)\nErrors: boom\n" in cards[1]
    assert "Ran:" not in cards[2]
    assert [block.lines for block in by_turn[1]] == [LineSpan(n, n) for n in (3, 2, 4, 5)]


@pytest.mark.parametrize(
    ("stopped", "dialect"),
    [
        (claude("user", 2, [{"type": "text", "text": "[Request interrupted by user for tool use]"}]), "claude"),
        (codex("event_msg", 2, type="turn_aborted", reason="interrupted"), "codex"),
    ],
)
def test_a_turn_that_was_stopped_is_interrupted(stopped: Json, dialect: str) -> None:
    begun = {
        "claude": claude("user", 0, "Begin"),
        "codex": codex("event_msg", 0, type="user_message", message="Begin"),
    }
    document = read_log(begun[dialect], stopped)
    assert [turn.outcome for turn in document.turns] == ["interrupted"]


def test_notes_know_the_stretch_that_they_cover() -> None:
    summary = claude("user", 3, "This session goes on. The parser was rewritten.", isCompactSummary=True)
    document = read_log(
        claude("user", 0, "One"),
        claude("assistant", 1, [{"type": "text", "text": "Done."}]),
        {"type": "summary", "summary": "A title of another session", "leafUuid": "elsewhere"},
        summary,
        claude("user", 4, "Two"),
        claude("assistant", 5, [{"type": "text", "text": "Done too."}]),
        {"type": "summary", "summary": "Two was done", "leafUuid": "u5"},
    )
    notes = [
        (block.event.since, block.lines, block.text)
        for block in document.blocks
        if block.event and block.event.kind is EventKind.NOTE
    ]
    assert notes == [
        (1, LineSpan(4, 4), "This session goes on. The parser was rewritten."),
        (5, LineSpan(7, 7), "Two was done"),
    ]
    assert [turn.number for turn in document.turns] == [1, 2]
