"""Claude Code: ``~/.claude/projects/*/*.jsonl``, records of a type around a message."""

from __future__ import annotations

import re
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
from memu.ingest.sessions.tools import is_in_background, is_refusal, read_call, read_exit

__all__ = ["ClaudeCode"]

_TEXT = frozenset({"text"})
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")
_COMMAND = re.compile(r"<command-name>\s*/?[^<\n]{1,100}</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}
_ENDS = frozenset({"end_turn", "stop_sequence", "refusal"})


class ClaudeCode:
    """Tried on real logs. What sub-agents are told and answer stands in their caller's records: left out here."""

    name = "Claude Code"

    def recognises(self, records: Sequence[Record]) -> bool:
        return any(_holds_message(record.value) for record in records)

    def read(self, record: Record) -> Iterator[Event]:
        value = record.value
        like = Event(
            kind=EventKind.COST,
            lines=record.lines,
            time=time_at(value, "timestamp"),
            source=text_at(value, "uuid"),
        )
        kind = text_at(value, "type")
        if kind == "summary":
            yield _placed(like, EventKind.TITLE, text_at(value, "summary"), leaf=text_at(value, "leafUuid"))
        elif kind in _TITLES:
            yield _placed(like, EventKind.TITLE, text_at(value, _TITLES[kind]))
        elif kind == "result":
            yield replace(like, kind=EventKind.END, cost=number_at(value, "total_cost_usd") or 0.0)
        elif kind == "system" and text_at(value, "subtype") == "turn_duration":
            yield replace(like, kind=EventKind.END)
        elif kind == "attachment":
            for said in _read_queued(value):
                yield from _read_said(said, like)
        elif _holds_message(value):
            yield from self._read_message(value, like)

    def _read_message(self, value: Mapping[str, object], like: Event) -> Iterator[Event]:
        content = value_at(value, "message", "content")
        cost = number_at(value, "costUSD")
        if cost:
            yield replace(like, cost=cost)
        aside = value.get("isSidechain") is True
        if text_at(value, "type") == "user":
            yield from _read_results(content, value, like)
            if value.get("isCompactSummary") is True:
                for said in texts_in(content, _TEXT):
                    yield _placed(like, EventKind.NOTE, said)
            elif not aside and value.get("isMeta") is not True and _is_human(value):
                for said in texts_in(content, _TEXT):
                    yield from _read_said(said, like)
            return
        if not aside:
            for said in texts_in(content, _TEXT):
                yield from (_placed(like, EventKind.ANSWER, piece, said) for piece in cut_noise(said))
        for part in items_at(value, "message", "content"):
            if text_at(part, "type") == "tool_use":
                called = replace(like, call=text_at(part, "id"))
                yield from read_call(text_at(part, "name"), object_at(part, "input"), called)
        if not aside and text_at(value, "message", "stop_reason") in _ENDS:
            yield replace(like, kind=EventKind.END)


def _holds_message(value: Mapping[str, object]) -> bool:
    kind = text_at(value, "type")
    return kind in ("user", "assistant") and text_at(value, "message", "role") == kind


def _read_queued(value: Mapping[str, object]) -> Iterator[str]:
    """What a person wrote while the agent was at work: it stands in no message of its own.

    So do the notes of programs and of other sessions, which say that they are from none.
    """
    held = object_at(value, "attachment")
    told = text_at(held, "type") == "queued_command" and held.get("isMeta") is not True
    typed = (text_at(held, "commandMode") or "prompt") == "prompt"
    if told and typed and _is_human(held) and value.get("isSidechain") is not True:
        yield from texts_in(held.get("prompt"), _TEXT)


def _is_human(value: Mapping[str, object]) -> bool:
    """Whether a person wrote it; older records do not say."""
    return (text_at(value, "origin", "kind") or "human") == "human"


def _placed(like: Event, kind: EventKind, text: str, whole: str = "", leaf: str = "") -> Event:
    return replace(like, kind=kind, text=text, lines=find_lines(whole or text, like.lines), leaf=leaf)


def _read_said(said: str, like: Event) -> Iterator[Event]:
    """What a person wrote: a message, a stop, the words given to a command, a command of their own."""
    if _INTERRUPTED.fullmatch(said.strip()):
        yield replace(like, kind=EventKind.STOP)
        return
    if _COMMAND.search(said[:2_000]):
        given = _ARGUMENTS.search(said)
        yield replace(like, kind=EventKind.BREAK)
        if given and given[1].strip():
            yield _placed(like, EventKind.PROMPT, given[1].strip(), said)
        return
    if shell := _SHELL.match(said.strip()):
        yield _placed(replace(like, tool="shell"), EventKind.COMMAND, shell[1].strip(), said)
        return
    yield from (_placed(like, EventKind.PROMPT, piece, said) for piece in cut_prompt(said))


def _read_results(content: object, value: Mapping[str, object], like: Event) -> Iterator[Event]:
    for part in content if isinstance(content, list) else ():
        if text_at(part, "type") != "tool_result":
            continue
        texts = list(texts_in(value_at(part, "content"), _TEXT))
        said = texts[-1] if texts else ""
        refused = is_refusal(said)
        failed = value_at(part, "is_error") is True and not refused
        code = read_exit(said)
        interrupted = value_at(value, "toolUseResult", "interrupted") is True
        untold = failed or refused or interrupted or is_in_background(said)
        yield replace(
            like,
            kind=EventKind.OUTPUT,
            text=said,
            lines=find_lines(said, like.lines),
            call=text_at(part, "tool_use_id"),
            # A command that ends otherwise than with 0 is reported as an error.
            exit=code if code is not None or untold else 0,
            failed=failed,
            refused=refused,
        )
