"""pi (``~/.pi/agent/sessions/**/*.jsonl``), and OpenClaw in its form (``~/.openclaw/agents/*/sessions/*.jsonl``).

From public documentation; not tried on a real file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memu.ingest.sessions.events import Event, EventKind
from memu.ingest.sessions.fields import (
    find_lines,
    items_at,
    number_at,
    object_at,
    text_at,
    texts_in,
    time_at,
    value_at,
)
from memu.ingest.sessions.log_records import Record
from memu.ingest.sessions.noise import cut_noise, cut_prompt
from memu.ingest.sessions.tools import is_command_tool, read_call, read_exit

__all__ = ["Pi"]

_TEXT = frozenset({"text"})
_NOTES = frozenset({"compaction", "branch_summary"})


class Pi:
    """Records of the type ``message`` around a message, a header of the type ``session`` before them."""

    name = "pi"

    def recognises(self, records: Sequence[Record]) -> bool:
        headed = any(text_at(record.value, "type") == "session" for record in records)
        return any(_is_message(record.value) and (headed or "parentId" in record.value) for record in records)

    def read(self, record: Record) -> Iterator[Event]:
        value, message = record.value, object_at(record.value, "message")
        like = Event(
            kind=EventKind.COST,
            lines=record.lines,
            time=time_at(value, "timestamp") or time_at(message, "timestamp"),
            source=text_at(value, "id"),
        )
        kind = text_at(value, "type")
        if kind in _NOTES:
            yield _placed(like, EventKind.NOTE, text_at(value, "summary"))
        elif kind == "session_info":
            yield _placed(like, EventKind.TITLE, text_at(value, "name"))
        elif _is_message(value):
            yield from _read_message(message, like)


def _is_message(value: Mapping[str, object]) -> bool:
    return text_at(value, "type") == "message" and bool(text_at(value, "message", "role"))


def _placed(like: Event, kind: EventKind, text: str, whole: str = "") -> Event:
    return replace(like, kind=kind, text=text, lines=find_lines(whole or text, like.lines))


def _read_message(message: Mapping[str, object], like: Event) -> Iterator[Event]:
    role, content = text_at(message, "role"), message.get("content")
    if role == "toolResult":
        yield _read_result(message, like)
    elif role == "bashExecution":
        yield from read_call("bash", message, like)
        code = number_at(message, "exitCode")
        output = _placed(like, EventKind.OUTPUT, text_at(message, "output"))
        yield replace(output, exit=None if code is None else int(code), failed=bool(code))
    elif role in ("user", "assistant"):
        kind = EventKind.PROMPT if role == "user" else EventKind.ANSWER
        for said in texts_in(content, _TEXT):
            pieces = cut_prompt(said) if kind is EventKind.PROMPT else cut_noise(said)
            yield from (_placed(like, kind, piece, said) for piece in pieces)
        for part in items_at(message, "content"):
            if text_at(part, "type") == "toolCall":
                called = replace(like, call=text_at(part, "id"))
                yield from read_call(text_at(part, "name"), object_at(part, "arguments"), called)
        yield from _read_end(message, like)


def _read_end(message: Mapping[str, object], like: Event) -> Iterator[Event]:
    cost = number_at(message, "usage", "cost", "total")
    if cost:
        yield replace(like, cost=cost)
    reason = text_at(message, "stopReason")
    if reason == "aborted":
        yield replace(like, kind=EventKind.STOP)
    elif reason == "stop":
        yield replace(like, kind=EventKind.END)


def _read_result(message: Mapping[str, object], like: Event) -> Event:
    texts = list(texts_in(message.get("content"), _TEXT))
    said = texts[-1] if texts else ""
    failed = value_at(message, "isError") is True
    stated = number_at(message, "details", "exitCode")
    code = int(stated) if stated is not None else read_exit(said)
    if code is None and not failed and is_command_tool(text_at(message, "toolName")):
        code = 0
    output = _placed(like, EventKind.OUTPUT, said)
    return replace(output, call=text_at(message, "toolCallId"), exit=code, failed=failed or bool(code))
