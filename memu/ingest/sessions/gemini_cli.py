"""Gemini CLI: ``~/.gemini/tmp/*/chats/session-*.json``. From its public source; not tried on a real file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memu.ingest.sessions.events import Event, EventKind
from memu.ingest.sessions.fields import find_lines, items_at, object_at, text_at, texts_in, time_at, value_at
from memu.ingest.sessions.log_records import Record
from memu.ingest.sessions.noise import cut_noise, cut_prompt
from memu.ingest.sessions.tools import is_command_tool, read_call, read_exit

__all__ = ["GeminiCli"]

_SPEAKERS = {"user": EventKind.PROMPT, "gemini": EventKind.ANSWER}
_TEXT = frozenset({"text"})


class GeminiCli:
    """Messages of the types ``user`` and ``gemini``, a message's tool calls with their results inside it."""

    name = "Gemini CLI"

    def recognises(self, records: Sequence[Record]) -> bool:
        return any(text_at(record.value, "type") == "gemini" and "content" in record.value for record in records)

    def read(self, record: Record) -> Iterator[Event]:
        value = record.value
        like = Event(
            kind=EventKind.COST,
            lines=record.lines,
            time=time_at(value, "timestamp"),
            source=text_at(value, "id"),
        )
        kind = _SPEAKERS.get(text_at(value, "type"))
        if kind is None:
            return
        for call in items_at(value, "toolCalls"):
            yield from _read_tool(call, like)
        for said in texts_in(value.get("content"), _TEXT):
            for piece in cut_prompt(said) if kind is EventKind.PROMPT else cut_noise(said):
                yield replace(like, kind=kind, text=piece, lines=find_lines(said, like.lines))


def _read_tool(call: object, like: Event) -> Iterator[Event]:
    name, status = text_at(call, "name"), text_at(call, "status")
    called = replace(like, call=text_at(call, "id"), time=time_at(call, "timestamp") or like.time)
    yield from read_call(name, object_at(call, "args"), called)
    said = text_at(call, "resultDisplay") or _read_response(call)
    failed = status in ("error", "cancelled")
    code = read_exit(said)
    done = 0 if status == "success" and is_command_tool(name) else None
    yield replace(
        called,
        kind=EventKind.OUTPUT,
        text=said,
        lines=find_lines(said, like.lines),
        exit=done if code is None else code,
        failed=failed,
    )


def _read_response(call: object) -> str:
    for part in items_at(call, "result"):
        response = value_at(part, "functionResponse", "response")
        if isinstance(response, Mapping):
            return text_at(response, "output") or text_at(response, "error")
    return ""
