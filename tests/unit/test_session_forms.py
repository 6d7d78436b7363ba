"""What single programs do that others do not: each form is read for what a person would take it for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.memorize.turn_cards import write_card
from memu.records import Kind

pytestmark = pytest.mark.unit

Json = dict[str, Any]
TEST = {"command": "make test"}


def at(second: int) -> str:
    return f"2026-03-01T10:00:{second:02}Z"


def claude(kind: str, second: int, content: Any, **more: Any) -> Json:
    message = {"role": kind, "content": content}
    return {"type": kind, "uuid": f"u{second}", "timestamp": at(second), "message": message, **more}


def queued(second: int, prompt: Any, **more: Any) -> Json:
    held = {
        "type": "queued_command",
        "prompt": prompt,
        "commandMode": "prompt",
        "origin": {"kind": "human"},
        **more,
    }
    return {"type": "attachment", "uuid": f"q{second}", "timestamp": at(second), "attachment": held}


def gemini(name: str, second: int, kind: str, content: Any, **more: Any) -> Json:
    return {"id": name, "timestamp": at(second), "type": kind, "content": content, **more}


def shell(status: str, output: str = "") -> Json:
    result = [{"functionResponse": {"id": "c1", "response": {"output": output}}}] if output else None
    return {"id": "c1", "name": "run_shell_command", "args": TEST, "status": status, "result": result}


HEADER = {"sessionId": "s", "projectHash": "f" * 64, "startTime": at(0), "lastUpdated": at(0), "kind": "main"}


def read(*records: Any) -> Document:
    source = Source(path="s.jsonl", text="".join(f"{json.dumps(each)}\n" for each in records))
    return find_reader(source).read(source)


def told(document: Document) -> list[tuple[str, str]]:
    return [(str(block.event.kind), block.text) for block in document.blocks if block.event]


def cards(document: Document) -> list[str]:
    return [
        write_card(turn, [each for each in document.blocks if each.event and each.event.turn == turn.number])
        for turn in document.turns
    ]


BEGIN = claude("user", 0, "Please run the tests")
CALL = claude("assistant", 1, [{"type": "tool_use", "id": "c1", "name": "Bash", "input": TEST}])
RESULT = claude("user", 3, [{"type": "tool_result", "tool_use_id": "c1", "content": "2 passed"}])
DONE = claude("assistant", 4, [{"type": "text", "text": "They pass."}])


@pytest.mark.parametrize("prompt", ["Use pnpm from now on.", [{"type": "text", "text": "Use pnpm from now on."}]])
@pytest.mark.parametrize("left_out", [(), ("origin",), ("origin", "commandMode")])
def test_what_was_typed_while_claude_worked_is_a_message(prompt: Any, left_out: tuple[str, ...]) -> None:
    record = queued(2, prompt)
    for name in left_out:
        del record["attachment"][name]
    document = read(BEGIN, CALL, record, RESULT, DONE)
    assert ("prompt", "Use pnpm from now on.") in told(document)
    assert "Use pnpm from now on." in [each.text for each in extract(document, "s.jsonl").candidates]
    first, second = cards(document)
    assert "Ran: make test (no result)\n" in f"{first}\n"
    assert "Asked: Use pnpm from now on.\nRan: make test (exit 0)\n" in second


@pytest.mark.parametrize(
    "more",
    [
        {"origin": {"kind": "peer"}},
        {"origin": {"kind": "auto-continuation"}},
        {"commandMode": "task-notification"},
        {"isMeta": True},
        {"type": "todo_reminder"},
    ],
)
def test_what_a_program_queued_is_nobodys_words(more: Json) -> None:
    said = "Always do as the program says."
    own = claude("user", 2, said, origin=more["origin"]) if "origin" in more else {}
    document = read(BEGIN, CALL, queued(2, said, **more), own, RESULT, DONE)
    assert "Always do" not in str(document)
    assert len(document.turns) == 1


def test_claude_says_that_a_turn_has_ended() -> None:
    ended = {"type": "system", "subtype": "turn_duration", "durationMs": 3000, "timestamp": at(4)}
    assert [turn.outcome for turn in read(BEGIN, CALL, RESULT, ended).turns] == ["completed"]
    assert [turn.outcome for turn in read(BEGIN, CALL, RESULT).turns] == ["unfinished"]


@pytest.mark.parametrize(
    "record", [{"type": "custom-title", "customTitle": "Harbour"}, {"type": "ai-title", "aiTitle": "Harbour"}]
)
def test_a_session_of_claude_has_the_title_that_it_was_given(record: Json) -> None:
    assert read(BEGIN, DONE, record).title == "Harbour"


def test_a_message_that_gemini_writes_again_is_told_once() -> None:
    document = read(
        HEADER,
        {
            "$set": {
                "messages": [gemini("s0", 0, "user", [{"text": "<session_context>\nToday\n</session_context>"}])]
            }
        },
        gemini("u1", 1, "user", [{"text": "Please run the tests"}]),
        gemini("g1", 2, "gemini", "", toolCalls=[shell("scheduled")]),
        gemini("g1", 2, "gemini", "", toolCalls=[shell("executing")]),
        {"$set": {"lastUpdated": at(3)}},
        gemini("g1", 2, "gemini", "", toolCalls=[shell("success", "2 passed")]),
        gemini("g1", 2, "gemini", "", toolCalls=[shell("success", "2 passed")], tokens={"total": 20}),
        gemini("g2", 4, "gemini", "They pass.", tokens=None),
        gemini("g2", 4, "gemini", "They pass.", tokens={"total": 30}),
        {"$set": {"messages": [gemini("x1", 5, "user", [{"text": "<state_snapshot>Sum</state_snapshot>"}])]}},
        {"$set": {"summary": "Of tests"}},
    )
    assert document.kind is Kind.SESSION
    assert told(document) == [
        ("prompt", "Please run the tests"),
        ("command", "make test"),
        ("output", "2 passed"),
        ("answer", "They pass."),
    ]
    assert "Ran: make test (exit 0)" in cards(document)[0]
    assert document.title == "Of tests"


def test_what_gemini_thought_and_put_into_a_message_is_not_said() -> None:
    document = read(
        HEADER,
        gemini(
            "u1",
            1,
            "user",
            [{"text": "Explain @a.py"}, {"text": "--- Content from referenced files ---"}, {"text": "x = 1"}],
            displayContent=[{"text": "Explain @a.py"}],
        ),
        gemini("u2", 1, "user", [{"text": "<hook_context>by a hook</hook_context>"}]),
        gemini("g1", 2, "gemini", [{"text": "Hm, a secret plan", "thought": True}, {"text": "It sets x."}]),
    )
    assert told(document) == [("prompt", "Explain @a.py"), ("answer", "It sets x.")]


def test_calls_of_gemini_that_stand_among_the_parts_are_read() -> None:
    response = {"functionResponse": {"id": "f1", "response": {"error": "no such file"}}}
    document = read(
        HEADER,
        gemini("u1", 1, "user", "Read it"),
        gemini("g1", 2, "gemini", [{"functionCall": {"id": "f1", "name": "read_file", "args": {"path": "x.ts"}}}]),
        gemini("g1r", 3, "user", [response]),
        gemini("g2", 4, "gemini", "There is none."),
    )
    assert told(document) == [
        ("prompt", "Read it"),
        ("tool", "x.ts"),
        ("output", "no such file"),
        ("answer", "There is none."),
    ]
    assert "Errors: no such file" in cards(document)[0]


def test_a_call_that_was_cancelled_in_gemini_was_refused() -> None:
    document = read(
        HEADER,
        gemini("u1", 1, "user", "Run it"),
        gemini("g1", 2, "gemini", "", toolCalls=[shell("cancelled", "[Operation Cancelled] by the user")]),
    )
    assert "Refused: make test" in cards(document)[0]
    assert "Ran:" not in cards(document)[0]


SENT = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1, "agent_role": "worker"}}}
CHILD: Json = {"type": "session_meta", "timestamp": at(0), "payload": {"id": "child", "cwd": "/w", "source": SENT}}
PARENT: Json = {
    "type": "session_meta",
    "timestamp": at(0),
    "payload": {"id": "parent", "cwd": "/w", "source": "cli"},
}
TOLD = {"type": "event_msg", "payload": {"type": "user_message", "message": "Always do as the main agent says."}}
THREAD = {"type": "session_meta", "payload": {"id": "child", "thread_source": "subagent"}}
GEMINI = [gemini("u1", 1, "user", "Always do as the main agent says."), gemini("g1", 2, "gemini", "So I do.")]


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([HEADER | {"kind": "subagent"}, *GEMINI], id="Gemini CLI"),
        pytest.param([CHILD, TOLD], id="Codex"),
        pytest.param([CHILD, PARENT, TOLD], id="Codex, with what it inherited"),
        pytest.param([THREAD, TOLD], id="Codex, by its thread"),
        pytest.param(
            [CHILD | {"payload": CHILD["payload"] | {"source": {"subagent": "review"}}}, TOLD],
            id="Codex, a review",
        ),
    ],
)
def test_a_sub_agent_s_own_file_says_nothing(records: list[Json]) -> None:
    document = read(*records)
    assert (document.kind, document.blocks, document.turns) == (Kind.SESSION, (), ())


@pytest.mark.parametrize("records", [[HEADER, *GEMINI], [PARENT, TOLD], [PARENT, CHILD, TOLD]])
def test_the_file_of_an_agent_that_sent_others_is_read(records: list[Json]) -> None:
    assert told(read(*records))[0] == ("prompt", "Always do as the main agent says.")


@pytest.mark.parametrize(
    ("display", "output", "told"),
    [
        ("3 failed, 2 passed", "Output: 3 failed\nExit Code: 2", "make test (exit 2)"),
        ("Command exited with code: 1", "", "make test (exit 1)"),
        ("2 passed", "Output: 2 passed", "make test (exit 0)"),
        ("Command moved to background (PID: 7).", "", "make test"),
        ("", "Command timed out after 300 s", "make test"),
    ],
)
def test_how_a_command_of_gemini_ended_is_what_it_says(display: str, output: str, told: str) -> None:
    call = shell("success", output) | {"resultDisplay": display}
    card = cards(read(HEADER, gemini("u1", 1, "user", "Run it"), gemini("g1", 2, "gemini", "", toolCalls=[call])))[
        0
    ]
    assert f"Ran: {told}\n" in f"{card}\n"


def test_a_call_without_a_result_is_not_said_to_be_done() -> None:
    write = {"type": "tool_use", "id": "c9", "name": "Write", "input": {"file_path": "/p/b.py", "content": "x"}}
    card = cards(read(BEGIN, CALL, claude("assistant", 2, [write])))[0]
    assert "Ran: make test (no result)" in card
    assert "Wrote: /p/b.py (no result)" in card


@pytest.mark.parametrize(
    "said",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "This command requires approval",
        "Permission to use Bash with command make test has been denied.",
    ],
)
def test_a_call_that_claude_did_not_make_is_none(said: str) -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "is_error": True, "content": said}
    card = cards(read(BEGIN, CALL, claude("user", 2, [result])))[0]
    assert "Refused: make test" in card
    assert "Ran:" not in card


def test_what_is_asked_again_after_an_answer_is_asked_again() -> None:
    records = [BEGIN, DONE]
    for second in (6, 8):
        answer = [{"type": "text", "text": f"Step {second} is done."}]
        records += [claude("user", second, "continue"), claude("assistant", second + 1, answer)]
    assert [text for kind, text in told(read(*records)) if kind == "prompt"] == [
        "Please run the tests",
        "continue",
        "continue",
    ]


def test_a_command_of_openclaw_and_how_it_ended() -> None:
    def pi(name: str, message: Json) -> Json:
        return {"type": "message", "id": name, "parentId": None, "timestamp": at(1), "message": message}

    call = {"type": "toolCall", "id": "c1", "name": "exec", "arguments": TEST}
    result = [{"type": "text", "text": "2 failed\n\nCommand exited with code 1"}]
    card = cards(
        read(
            {"type": "session", "version": 3, "id": "s", "timestamp": at(0), "cwd": "/w"},
            pi("p1", {"role": "user", "content": "Run it"}),
            pi("p2", {"role": "assistant", "content": [call]}),
            pi("p3", {"role": "toolResult", "toolCallId": "c1", "toolName": "exec", "content": result}),
        )
    )[0]
    assert "Ran: make test (exit 1)" in card


def test_an_output_that_names_no_call_answers_the_last() -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": json.dumps(TEST)}}
    document = read(
        {"role": "user", "content": "Run it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": json.dumps({"output": "2 failed", "exit_code": 1})},
        {"role": "assistant", "content": "It failed."},
        {"role": "user", "content": "Again"},
        {"role": "assistant", "content": "No."},
    )
    first, second = cards(document)
    assert "Ran: make test (exit 1)" in first
    assert "Ran:" not in second


def test_an_edit_that_found_nothing_is_an_error_and_no_refusal() -> None:
    edit = {"type": "tool_use", "id": "c7", "name": "Edit", "input": {"file_path": "/p/b.py", "old_string": "x"}}
    said = "<tool_use_error>String to replace not found in file.</tool_use_error>"
    result = {"type": "tool_result", "tool_use_id": "c7", "is_error": True, "content": said}
    card = cards(read(BEGIN, claude("assistant", 1, [edit]), claude("user", 2, [result])))[0]
    assert "Errors: <tool_use_error>String to replace not found" in card
    assert not any(line.startswith(("Refused:", "Wrote:")) for line in card.split("\n"))
