"""Gemini CLI: ``~/.gemini/tmp/*/chats/session-*.jsonl``, older ones ``.json``.

From its public source; not tried on a real file.
"""

from __future__ import annotations

import re
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
_CODE = re.compile(r"^(?:Exit Code|Command exited with code): ?(-?\d{1,6})\b", re.MULTILINE)
_GOES_ON = re.compile(r"moved to (?:the )?background|running in (?:the )?background|timed out", re.IGNORECASE)
_ENDED = frozenset({"success", "error", "cancelled"})


class GeminiCli:
    """Messages of the types ``user`` and ``gemini``, a message's tool calls with their results inside it.

    In lines a message is written again whenever its calls go on. What is set as ``messages`` there is the model's
    view of the session, in new words after a compression, and not what was said.
    """

    name = "Gemini CLI"

    def recognises(self, records: Sequence[Record]) -> bool:
        return any(_is_answer(record.value) for record in records)

    def read(self, record: Record) -> Iterator[Event]:
        value = record.value
        like = Event(
            kind=EventKind.COST,
            lines=record.lines,
            time=time_at(value, "timestamp"),
            source=text_at(value, "id"),
        )
        title = text_at(value, "$set", "summary")
        if title:
            yield replace(like, kind=EventKind.TITLE, text=title)
        kind = _SPEAKERS.get(text_at(value, "type"))
        if kind is None:
            return
        calls = items_at(value, "toolCalls")
        for call in calls:
            yield from _read_tool(call, like)
        # What was typed, where files that it names were put into what the model was sent.
        content = value.get("displayContent") or value.get("content")
        for said in texts_in(_without_thoughts(content), _TEXT):
            for piece in cut_prompt(said) if kind is EventKind.PROMPT else cut_noise(said):
                yield replace(like, kind=kind, text=piece, lines=find_lines(said, like.lines))
        yield from _read_parts(value, like, known={text_at(call, "id") for call in calls})


def _is_answer(value: Mapping[str, object]) -> bool:
    return text_at(value, "type") == "gemini" and ("content" in value or "toolCalls" in value)


def _without_thoughts(content: object) -> object:
    if not isinstance(content, list):
        return content
    return [part for part in content if value_at(part, "thought") is not True]


def _read_parts(value: Mapping[str, object], like: Event, known: set[str]) -> Iterator[Event]:
    """Calls and their results that stand among the parts of messages, as a file that was written anew has them."""
    for part in items_at(value, "content"):
        call, response = object_at(part, "functionCall"), object_at(part, "functionResponse")
        if call and text_at(call, "id") not in known:
            called = replace(like, call=text_at(call, "id"))
            yield from read_call(text_at(call, "name"), object_at(call, "args"), called)
        elif response:
            said = text_at(response, "response", "output")
            wrong = text_at(response, "response", "error")
            output = replace(like, kind=EventKind.OUTPUT, text=said or wrong, call=text_at(response, "id"))
            yield replace(output, exit=read_exit(said or wrong), failed=bool(wrong))


def _read_tool(call: object, like: Event) -> Iterator[Event]:
    name, status = text_at(call, "name"), text_at(call, "status")
    called = replace(like, call=text_at(call, "id"), time=time_at(call, "timestamp") or like.time)
    yield from read_call(name, object_at(call, "args"), called)
    said = text_at(call, "resultDisplay") or _read_response(call)
    # While a call goes on, its message is written again and again.
    if status not in _ENDED and (status or not said):
        return
    told = _read_response(call)
    # "success" says that the tool did its work, whatever the command said at its end.
    code = next((each for each in map(_find_exit, (told, said)) if each is not None), None)
    over = status == "success" and is_command_tool(name) and not _GOES_ON.search(f"{told}\n{said}")
    done = 0 if over else None
    yield replace(
        called,
        kind=EventKind.OUTPUT,
        text=said,
        lines=find_lines(said, like.lines),
        exit=done if code is None else code,
        failed=status == "error" or bool(code),
        # A person did not let it be done, or broke it off.
        refused=status == "cancelled",
    )


def _find_exit(output: str) -> int | None:
    """The exit code that stands on a line of its own among what the model is told of a command."""
    found = _CODE.search(output)
    return int(found[1]) if found else read_exit(output)


def _read_response(call: object) -> str:
    for part in items_at(call, "result"):
        response = value_at(part, "functionResponse", "response")
        if isinstance(response, Mapping):
            return text_at(response, "output") or text_at(response, "error")
    return ""
