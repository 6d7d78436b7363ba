"""Turns and cards of logs that grow: what a turn's card says once the next turn has begun, it says for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memu.ingest.document import Document, Source
from memu.ingest.readers.session import SessionReader
from memu.memorize.passages import cut_passages
from memu.memorize.turn_cards import MAX_CARD_CHARS, MAX_CARD_WORDS
from memu.records import Passage

DATA = Path(__file__).parents[1] / "data" / "sessions"
LOGS = {path.name: path.read_text("utf-8") for path in sorted(DATA.glob("*.jsonl"))}
KINDS = ("ask", "say", "end", "call", "result", "fail", "stop", "note", "title", "again", "broken", "plan")
WORDS = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=300)


def read(text: str) -> Document:
    return SessionReader().read(Source(path="s.jsonl", text=text))


def passages_of(text: str) -> tuple[Passage, ...]:
    return cut_passages(read(text), "s.jsonl", "en")


def cards_of(text: str) -> list[tuple[Any, ...]]:
    return [(p.place, p.text, p.lines, p.happened_at) for p in passages_of(text) if p.place and "," not in p.place]


def check_cut(lines: list[str], cut: int) -> None:
    """Of a log cut after ``cut`` lines every turn but the last is that of the whole log."""
    part, whole = cards_of("\n".join(lines[:cut])), cards_of("\n".join(lines))
    assert part[:-1] == whole[: max(0, len(part) - 1)]
    if part:
        # The last one goes on: it begins where that of the whole log begins.
        assert part[-1][0] == whole[len(part) - 1][0]
        assert part[-1][2].start == whole[len(part) - 1][2].start


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log_cut_after_any_line_keeps_the_turns_before(name: str) -> None:
    lines = LOGS[name].split("\n")
    for cut in range(1, len(lines) + 1):
        check_cut(lines, cut)


def record(kind: str, number: int, content: Any, **more: Any) -> str:
    message = {"role": kind, "content": content, "stop_reason": more.pop("stop", None)}
    stamp = f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return json.dumps({"type": kind, "uuid": f"u{number}", "timestamp": stamp, "message": message, **more})


@st.composite
def logs(draw: st.DrawFn) -> list[str]:
    """Lines of a log of Claude Code, with repeats, stops, notes, titles and lines that are none."""
    lines: list[str] = [record("user", 0, "begin")]
    calls = 0
    for number in range(1, draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(KINDS))
        if kind == "ask":
            lines.append(record("user", number, draw(WORDS)))
        elif kind in ("say", "end"):
            part = {"type": "text", "text": draw(WORDS)}
            lines.append(record("assistant", number, [part], stop="end_turn" if kind == "end" else None))
        elif kind == "call":
            calls += 1
            part = {"type": "tool_use", "id": f"c{calls}", "name": "Bash", "input": {"command": draw(WORDS)}}
            lines.append(record("assistant", number, [part]))
        elif kind in ("result", "fail"):
            part = {"type": "tool_result", "tool_use_id": f"c{calls}", "content": draw(WORDS)}
            lines.append(record("user", number, [part | {"is_error": kind == "fail"}]))
        elif kind == "stop":
            lines.append(record("user", number, "[Request interrupted by user]"))
        elif kind == "note":
            lines.append(record("user", number, draw(WORDS), isCompactSummary=True))
        elif kind == "title":
            leaf = f"u{draw(st.integers(0, number))}"
            lines.append(json.dumps({"type": "summary", "summary": draw(WORDS), "leafUuid": leaf}))
        elif kind == "again":
            lines.append(draw(st.sampled_from(lines)))
        elif kind == "plan":
            todos = [{"content": draw(WORDS), "status": draw(st.sampled_from(["completed", "pending"]))}]
            part = {"type": "tool_use", "id": f"p{number}", "name": "TodoWrite", "input": {"todos": todos}}
            lines.append(record("assistant", number, [part]))
        else:
            lines.append("{broken")
    return lines


@settings(max_examples=60, deadline=None)
@given(lines=logs(), data=st.data())
def test_any_log_cut_after_any_line_keeps_the_turns_before(lines: list[str], data: st.DataObject) -> None:
    check_cut(lines, data.draw(st.integers(1, len(lines))))


@settings(max_examples=60, deadline=None)
@given(lines=logs())
def test_cards_are_bounded_and_stand_before_their_turn_s_passages(lines: list[str]) -> None:
    document = read("\n".join(lines))
    passages = cut_passages(document, "s.jsonl", "en")
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    begun: list[str] = []
    for passage in passages:
        assert passage.place
        turn, _, event = passage.place.partition(", ")
        if not event:
            assert turn not in begun
            begun.append(turn)
            assert len(passage.text) <= MAX_CARD_CHARS
            assert len(passage.text.split()) <= MAX_CARD_WORDS + 2
            assert passage.text.startswith(turn.capitalize())
        assert begun[-1] == turn
    assert len(begun) <= len(document.turns)
