"""Records of a role and a content, with tools: the form that most programs which call a model keep.

``{"role": "assistant", "content": …, "tool_calls": […]}`` and ``{"role": "tool", "content": …}``, parts of the
types ``tool_use`` and ``tool_result``, bare or inside ``message`` or ``payload``.
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
    parse_object,
    text_at,
    texts_in,
    time_at,
    value_at,
)
from memu.ingest.sessions.log_records import Record
from memu.ingest.sessions.noise import cut_noise, cut_prompt
from memu.ingest.sessions.tools import is_refusal, read_call, read_exit

__all__ = ["RoleContent"]

_SPEAKERS = {
    **dict.fromkeys(("user", "human"), EventKind.PROMPT),
    **dict.fromkeys(("assistant", "ai", "model", "agent"), EventKind.ANSWER),
}
_RULERS = frozenset({"system", "developer"})
_TOOLS = frozenset({"tool", "function"})
_TEXT = frozenset({"text", "input_text", "output_text"})
_TIMES = ("timestamp", "time", "created_at", "createdAt", "date")


class RoleContent:
    """Without a tool anywhere it is a chat, and left to the reader of those, unless records wrap their message."""

    name = "role and content"

    def recognises(self, records: Sequence[Record]) -> bool:
        inner = [_unwrap(record.value) for record in records]
        said = any(text_at(each, "role").lower() in _SPEAKERS for each in inner)
        wrapped = any(
            each is not record.value and "type" in record.value and text_at(each, "role").lower() in _SPEAKERS
            for each, record in zip(inner, records, strict=True)
        )
        return said and (wrapped or any(map(_uses_tool, inner)))

    def read(self, record: Record) -> Iterator[Event]:
        inner = _unwrap(record.value)
        role = text_at(inner, "role").lower()
        like = Event(
            kind=EventKind.COST,
            lines=record.lines,
            time=time_at(record.value, *_TIMES) or time_at(inner, *_TIMES),
            source=text_at(record.value, "uuid") or text_at(record.value, "id"),
        )
        content = inner.get("content")
        if role in _TOOLS:
            called = text_at(inner, "tool_call_id") or text_at(inner, "call_id")
            yield from (_read_output(said, called, like) for said in list(texts_in(content, _TEXT))[-1:])
            return
        if role in _RULERS:
            yield from (replace(like, kind=EventKind.RULES, text=said) for said in texts_in(content, _TEXT))
            return
        yield from _read_parts(content, like)
        kind = _SPEAKERS.get(role)
        if kind is not None:
            for said in texts_in(content, _TEXT):
                for piece in cut_prompt(said) if kind is EventKind.PROMPT else cut_noise(said):
                    yield replace(like, kind=kind, text=piece, lines=find_lines(said, like.lines))
        yield from _read_calls(inner, like)


def _unwrap(value: Mapping[str, object]) -> Mapping[str, object]:
    if text_at(value, "role"):
        return value
    return object_at(value, "message") or object_at(value, "payload") or value


def _uses_tool(inner: Mapping[str, object]) -> bool:
    """Whether a tool is called or answers a call; a record of a tool's alone may be anything."""
    if items_at(inner, "tool_calls") or text_at(inner, "tool_call_id"):
        return True
    return any(text_at(part, "type") in ("tool_use", "tool_result") for part in items_at(inner, "content"))


def _read_calls(inner: Mapping[str, object], like: Event) -> Iterator[Event]:
    calls = [*items_at(inner, "tool_calls"), *([inner["function_call"]] if "function_call" in inner else ())]
    for call in calls:
        named = object_at(call, "function") or object_at(call)
        given = value_at(named, "arguments")
        raw = given if isinstance(given, str) and not parse_object(given) else ""
        called = replace(like, call=text_at(call, "id"), lines=find_lines(given, like.lines))
        yield from read_call(text_at(named, "name"), parse_object(given), called, raw)
    for part in items_at(inner, "content"):
        if text_at(part, "type") == "tool_use":
            called = replace(like, call=text_at(part, "id"))
            yield from read_call(text_at(part, "name"), object_at(part, "input"), called)


def _read_parts(content: object, like: Event) -> Iterator[Event]:
    for part in content if isinstance(content, list) else ():
        if text_at(part, "type") == "tool_result":
            texts = list(texts_in(value_at(part, "content"), _TEXT))
            output = _read_output(texts[-1] if texts else "", text_at(part, "tool_use_id"), like)
            wrong = output.failed or value_at(part, "is_error") is True
            yield replace(output, failed=wrong and not output.refused)


def _read_output(said: str, call: str, like: Event) -> Event:
    told = parse_object(said)
    shown = text_at(told, "output") or said
    code = read_exit(shown)
    stated = number_at(told, "exit_code")
    code = code if stated is None else int(stated)
    lines = find_lines(said, like.lines)
    output = replace(like, kind=EventKind.OUTPUT, text=shown, lines=lines, call=call)
    return replace(output, refused=True) if is_refusal(shown) else replace(output, exit=code, failed=bool(code))
