"""Codex: ``~/.codex/sessions/**/rollout-*.jsonl``, records of a type around a payload; older ones without it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memu.ingest.readers.json_tree import parse_json
from memu.ingest.sessions.events import Event, EventKind
from memu.ingest.sessions.fields import (
    find_lines,
    items_at,
    number_at,
    object_at,
    parse_object,
    text_at,
    texts_in,
    time_at,
)
from memu.ingest.sessions.log_records import Record
from memu.ingest.sessions.noise import cut_noise, cut_prompt
from memu.ingest.sessions.tools import is_refusal, read_call, read_exit

__all__ = ["Codex"]

_WRAPPERS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_TEXT = frozenset({"text", "input_text", "output_text"})
_ITEMS = _CALLS | _RESULTS
_PARTS = frozenset({"input_text", "output_text"})


class Codex:
    """Tried on real logs. A message is written twice, as an item and as an event; it is taken once."""

    name = "Codex"

    def recognises(self, records: Sequence[Record]) -> bool:
        return any(_unwrap(record.value) is not None for record in records)

    def read(self, record: Record) -> Iterator[Event]:
        payload = _unwrap(record.value)
        if payload is None:
            return
        like = Event(kind=EventKind.COST, lines=record.lines, time=time_at(record.value, "timestamp"))
        kind = text_at(payload, "type")
        rules = text_at(payload, "instructions") or text_at(payload, "base_instructions", "text")
        if rules:
            yield replace(like, kind=EventKind.RULES, text=rules)
        if text_at(record.value, "type") == "compacted":
            yield _placed(like, EventKind.NOTE, text_at(payload, "message"))
        elif text_at(record.value, "type") == "event_msg":
            yield from _read_event(kind, payload, like)
        elif kind in _CALLS:
            yield from _read_call(kind, payload, like)
        elif kind in _RESULTS:
            yield _read_result(payload, like)
        elif text_at(payload, "role") in ("user", "assistant"):
            yield from _read_message(payload, like)


def _unwrap(value: Mapping[str, object]) -> Mapping[str, object] | None:
    kind = text_at(value, "type")
    if kind in _WRAPPERS:
        payload = value.get("payload")
        return payload if isinstance(payload, Mapping) else None
    called = kind in _ITEMS and "call_id" in value
    said = kind == "message" and any(text_at(part, "type") in _PARTS for part in items_at(value, "content"))
    return value if called or said else None


def _placed(like: Event, kind: EventKind, text: str, whole: str = "") -> Event:
    return replace(like, kind=kind, text=text, lines=find_lines(whole or text, like.lines))


def _read_message(payload: Mapping[str, object], like: Event) -> Iterator[Event]:
    asked = text_at(payload, "role") == "user"
    for said in texts_in(payload.get("content"), _TEXT):
        yield from _read_said(said, like, asked=asked)


def _read_said(said: str, like: Event, *, asked: bool) -> Iterator[Event]:
    kind = EventKind.PROMPT if asked else EventKind.ANSWER
    pieces = cut_prompt(said) if asked else cut_noise(said)
    yield from (_placed(like, kind, piece, said) for piece in pieces)


def _read_event(kind: str, payload: Mapping[str, object], like: Event) -> Iterator[Event]:
    said = text_at(payload, "message")
    if kind in ("user_message", "agent_message"):
        yield from _read_said(said, like, asked=kind == "user_message")
    elif kind in ("task_complete", "turn_complete"):
        yield replace(like, kind=EventKind.END)
    elif kind == "turn_aborted":
        yield replace(like, kind=EventKind.STOP)


def _read_call(kind: str, payload: Mapping[str, object], like: Event) -> Iterator[Event]:
    given = payload.get("arguments", payload.get("input"))
    arguments = parse_object(given) or {
        name: payload[name] for name in ("action", "summary") if payload.get(name) is not None
    }
    raw = given if isinstance(given, str) and not parse_object(given) else ""
    lines = find_lines(given, like.lines)
    name = text_at(payload, "name") or kind.removesuffix("_call")
    yield from read_call(name, arguments, replace(like, call=text_at(payload, "call_id"), lines=lines), raw)


def _read_result(payload: Mapping[str, object], like: Event) -> Event:
    output = payload.get("output")
    told = parse_object(output) or _mend(output)
    said = text_at(told, "output") or text_at(told, "content") or ("" if told else _flatten(output))
    stated = number_at(object_at(told, "metadata"), "exit_code")
    code = int(stated) if stated is not None else read_exit(said)
    refused = is_refusal(said)
    failed = not refused and (told.get("success") is False or bool(code))
    return replace(
        _placed(like, EventKind.OUTPUT, said, output if isinstance(output, str) else ""),
        call=text_at(payload, "call_id"),
        exit=None if refused else code,
        failed=failed,
        refused=refused,
    )


def _mend(output: object) -> Mapping[str, object]:
    """What can be had of an output whose JSON was cut short."""
    if not isinstance(output, str) or not output.startswith('{"output":'):
        return {}
    root = parse_json(output).root
    return {"output": root.read_text("output") or ""} if root is not None else {}


def _flatten(output: object) -> str:
    if isinstance(output, str):
        return output
    texts = list(texts_in(output, _TEXT))
    return texts[-1] if texts else "" if output is None or isinstance(output, list) else json.dumps(output)
