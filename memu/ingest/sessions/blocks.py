"""Turns as blocks of a document: what was said in full, what was done in brief, each with its lines and place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.runs import split_long
from memu.ingest.sessions.events import CALLS, Event, EventKind, EventMark, Turn
from memu.ingest.sessions.noise import keep_tail

__all__ = ["turn_blocks"]

_QUIET = frozenset({EventKind.WRITE, EventKind.PLAN})
_ROLES = {EventKind.PROMPT: "user", EventKind.ANSWER: "assistant", EventKind.NOTE: "system"}


def turn_blocks(turn: Turn) -> Iterator[Block]:
    """The blocks of a turn: each event's words, and after a call the end of what came of it."""
    answers: dict[str, list[Event]] = {}
    for event in turn.events:
        if event.kind is EventKind.OUTPUT:
            answers.setdefault(event.call, []).append(event)
    for number, (event, outputs) in enumerate(_pair(turn), 1):
        # What came of a call that writes several files came of each.
        told = (answers.get(event.call) if event.call and event.kind in CALLS else None) or outputs
        exits = [output.exit for output in told if output.exit is not None]
        mark = EventMark(
            turn=turn.facts.number,
            number=number,
            kind=event.kind,
            exit=exits[-1] if exits and event.kind is EventKind.COMMAND else None,
            failed=any(output.failed for output in told),
            refused=any(output.refused for output in told),
            late=event in turn.open,
            open=event.kind in CALLS and bool(event.call) and not told,
            since=event.since,
        )
        label = _label(event, mark)
        yield from _event_blocks(event, event.text, mark, label)
        for output in outputs:
            # That a file was written and a plan noted is told by the calls themselves.
            if event.kind in _QUIET and not output.failed:
                continue
            yield from _event_blocks(output, keep_tail(output.text), _mark_output(mark), label)


def _mark_output(mark: EventMark) -> EventMark:
    return replace(mark, kind=EventKind.OUTPUT, since=0)


def _pair(turn: Turn) -> Iterable[tuple[Event, list[Event]]]:
    """Each event with the outputs that answer it; an output that answers nothing here stands by itself.

    A call that was left open by the turn before stands here once more, with what came of it.
    """
    paired: list[tuple[Event, list[Event]]] = []
    calls: dict[str, list[Event]] = {}
    left = {event.call: event for event in reversed(turn.open)}
    last: list[Event] | None = None
    for event in turn.events:
        if event.kind is EventKind.OUTPUT:
            if event.call in left and event.call not in calls:
                calls[event.call] = []
                paired.append((left[event.call], calls[event.call]))
            answered = calls.get(event.call) if event.call else last
            if answered is not None:
                answered.append(event)
                continue
        outputs: list[Event] = []
        paired.append((event, outputs))
        last = outputs if event.kind in CALLS else None
        if event.kind in CALLS and event.call:
            # One call may write several files; what came of it is told once, after the first.
            calls.setdefault(event.call, outputs)
    return paired


def _event_blocks(event: Event, text: str, mark: EventMark, label: str) -> Iterator[Block]:
    role = _ROLES.get(event.kind, "tool")
    for part in split_long(text.strip()) if role != "tool" else [text]:
        if part.strip():
            yield Block(
                kind=BlockKind.LOG_LINE if role == "tool" else BlockKind.TURN,
                text=part,
                lines=event.lines,
                role=role,
                heading=(label,) if role == "tool" else (),
                time=event.time,
                level="error" if mark.failed and mark.kind is EventKind.OUTPUT else "",
                place=mark.place,
                event=mark,
            )


def _label(event: Event, mark: EventMark) -> str:
    ended = ", refused" if mark.refused else ", failed" if mark.failed else ""
    return f"{event.tool or event.kind}{ended if mark.exit is None else f', exit {mark.exit}'}"
