"""Logs too large to be held: each record is brought down to what its dialect reads of it, line by line.

A line stays a line, so that citations lead to the log itself. What is left out is what no dialect reads: file
contents, images, reasoning, the middle of outputs. A reading of the shrunk log equals one of the log itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memu.ingest.encoding import replace_unstorable
from memu.ingest.sessions.fields import text_at
from memu.ingest.sessions.log_records import LONGEST_LINE, load_line
from memu.ingest.sessions.noise import TAIL_WINDOW

__all__ = ["ShrunkLog", "shrink_line", "shrink_log"]

_SHORT = 4_096
_HEAD = 400
_LONG_TEXT = 256 << 10
_LONG_COMMAND = 16 << 10
_UNREAD = frozenset(
    {
        *("encrypted_content", "signature", "thinkingSignature", "thinking", "data", "originalFile", "snapshot"),
        *("structuredPatch", "patch_result", "rate_limits"),
    }
)
_OUTPUT_TYPES = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
_OUTPUT_ROLES = frozenset({"tool", "function", "toolResult", "bashExecution"})
_GIVEN = frozenset({"input", "arguments", "args"})
_OUTPUTS = frozenset({"output", "resultDisplay"})
_TOLD = frozenset({"interrupted", "exitCode", "exit_code"})
_LONG_LINE = '{"long_line": true}'


@dataclass(frozen=True, slots=True)
class ShrunkLog:
    """What is left of a log, with the SHA-256 of all its bytes as 64 hex digits, and how many they are."""

    text: str
    content_hash: str
    size: int


def shrink_log(pieces: Iterable[bytes]) -> ShrunkLog:
    """The shrunk text of JSON lines in UTF-8 that come in pieces of any size; of them at most a line is held."""
    digest, size = hashlib.sha256(), 0

    def hashed() -> Iterator[bytes]:
        nonlocal size
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            yield piece

    text = "\n".join(shrink_line(line) for line in _cut_lines(hashed()))
    return ShrunkLog(text.removeprefix("\ufeff"), digest.hexdigest(), size)


def shrink_line(line: str) -> str:
    """The record of a line as one line; a line that is no record keeps its beginning, and so stays none."""
    if len(line) <= _SHORT:
        return line
    try:
        value = load_line(line)
    except (ValueError, RecursionError):
        return line[:_SHORT]
    return replace_unstorable(json.dumps(_shrink(value, output=False, given=False), ensure_ascii=False))[0]


def _cut_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *rest = piece.split(b"\n")
        # Of a line that is too long nothing more is kept.
        size += len(first)
        held += [first] if size <= LONGEST_LINE else []
        for part in rest:
            yield _decode(held, size)
            held, size = [part], len(part)
    yield _decode(held, size)


def _decode(held: list[bytes], size: int) -> str:
    if size > LONGEST_LINE:
        return _LONG_LINE
    return replace_unstorable(b"".join(held).decode("utf-8", errors="replace").removesuffix("\r"))[0]


def _shrink(value: object, *, output: bool, given: bool) -> object:
    """``output``: inside of what a tool gave back; ``given``: inside of what it was given."""
    if isinstance(value, str):
        return _shrink_text(value, output=output, given=given)
    if isinstance(value, list):
        return [_shrink(item, output=output, given=given) for item in value]
    if isinstance(value, dict):
        told = output or text_at(value, "type") in _OUTPUT_TYPES or text_at(value, "role") in _OUTPUT_ROLES
        return {name: _shrink_field(name, item, output=told, given=given) for name, item in value.items()}
    return value


def _shrink_field(name: str, item: object, *, output: bool, given: bool) -> object:
    if name in _UNREAD:
        return None
    if name == "toolUseResult":
        return {key: item[key] for key in _TOLD & item.keys()} if isinstance(item, dict) else None
    if name in ("command", "cmd", "script") and isinstance(item, str):
        return item[:_LONG_COMMAND]
    return _shrink(item, output=output or name in _OUTPUTS, given=given or (name in _GIVEN and not output))


def _shrink_text(text: str, *, output: bool, given: bool) -> str:
    if len(text) <= _SHORT:
        return text
    if text.lstrip()[:1] == "{" and (output or given):
        return _shrink_inner(text, output=output, given=given)
    if given:
        # Of a patch the names of its files are read.
        named = [line for line in text.split("\n") if line.startswith("*** ")]
        return "\n".join(named) if named else text[:_SHORT]
    if output:
        end = text.rstrip()
        return f"{text[:_HEAD]}\n{end[-TAIL_WINDOW:]}" if len(end) > _HEAD + TAIL_WINDOW else end
    # No word is cut in two: half of a secret is not known for one.
    return text if len(text) <= _LONG_TEXT else text[:_LONG_TEXT].rpartition(" ")[0]


def _shrink_inner(text: str, *, output: bool, given: bool) -> str:
    """JSON in a string. One that was cut short is read from its beginning."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text[:_LONG_TEXT]
    return json.dumps(_shrink(value, output=output, given=given), ensure_ascii=False)
