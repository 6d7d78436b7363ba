"""Turns and cards of logs that grow: what a turn's card says once the next turn has begun, it says for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agent_logs import logs

from memu.ingest.document import Document, Source
from memu.ingest.readers.session import SessionReader
from memu.memorize.passages import cut_passages
from memu.memorize.turn_cards import MAX_CARD_CHARS, MAX_CARD_WORDS
from memu.records import Passage

DATA = Path(__file__).parents[1] / "data" / "sessions"
LOGS = {path.name: path.read_text("utf-8") for path in sorted(DATA.glob("*.jsonl"))}


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
