"""JSON with positions: every value knows where it stands in the text, and a broken text gives what it can.

The standard library's parser gives no positions. This one keeps no call stack, so depth is bounded by a number
and not by the interpreter. It also passes over comments and trailing commas, which configuration files have.
"""

from __future__ import annotations

import json.decoder
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Json", "JsonText", "find_records", "parse_json"]

_SPACE = re.compile(r"(?:[ \t\n\r]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_LITERAL = re.compile(r"(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 200
_SAMPLE = 10


@dataclass(slots=True)
class Json:
    """One value. ``text`` is a string's decoded text or a literal as written; an object's ``keys`` and ``items``
    run side by side; characters ``start`` up to ``end`` of the source are the value, quotes included."""

    form: str
    start: int
    end: int
    text: str = ""
    keys: list[Json] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)

    def get(self, *names: str) -> Json | None:
        """The value of the first of these keys that the object has."""
        for name in names:
            for key, value in zip(self.keys, self.items, strict=False):
                if key.text == name:
                    return value
        return None

    def read_text(self, *names: str) -> str | None:
        """The string or number under the first of these keys, if it is one."""
        found = self.get(*names)
        return found.text if found is not None and found.form in ("string", "literal") else None


@dataclass(frozen=True, slots=True)
class JsonText:
    """What was read: the root (None if there is none), where reading stopped, and what was wrong if anything."""

    root: Json | None
    end: int
    damage: str | None


def parse_json(text: str, base: int = 0) -> JsonText:
    """The first JSON value of ``text``; positions are counted from ``base``.

    ``damage`` is None, "truncated", "bad_syntax" or "too_deep"; then the root holds what came before.
    """
    return _Scan(text, base).run()


def find_records(text: str) -> tuple[list[Json], bool, dict[str, int]]:
    """The records of a JSON or JSON-lines text, whether it was lines, and its damage.

    A JSON text is one record, also when it is one line. Of JSON lines, a line that cannot be read is counted
    and left out.
    """
    if not _is_lines(text):
        parsed = parse_json(text)
        damage = {parsed.damage: 1} if parsed.damage else {}
        if not damage and text[_skip(text, parsed.end) :].strip():
            damage = {"bad_syntax": 1}
        return ([parsed.root] if parsed.root else []), False, damage
    records: list[Json] = []
    bad = 0
    for offset, line in _each_line(text):
        parsed = parse_json(line, offset)
        if parsed.root is None or parsed.damage or parsed.root.form not in ("object", "array"):
            bad += 1
        else:
            records.append(parsed.root)
    return records, True, ({"bad_record": bad} if bad else {})


def _is_lines(text: str) -> bool:
    if text.lstrip()[:1] != "{":
        return False
    whole = seen = 0
    for offset, line in _each_line(text):
        parsed = parse_json(line, offset)
        complete = parsed.damage is None and parsed.root is not None and parsed.root.form == "object"
        whole += complete and not line[_skip(line, parsed.end - offset) :].strip()
        seen += 1
        if seen == _SAMPLE:
            break
    return seen > 1 and whole > seen / 2


def _each_line(text: str) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in text.split("\n"):
        if line.strip():
            yield offset, line
        offset += len(line) + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


class _Scan:
    """One reading of one text, with the containers that stand open."""

    def __init__(self, text: str, base: int) -> None:
        self._text = text
        self._base = base
        self._at = 0
        self._open: list[Json] = []
        self._root: Json | None = None

    def run(self) -> JsonText:
        damage: str | None = None
        while damage is None and (self._root is None or self._open):
            self._at = _skip(self._text, self._at)
            damage = self._step() if self._at < len(self._text) else "truncated"
        for container in self._open:
            container.end = self._base + self._at
            if len(container.keys) > len(container.items):
                container.keys.pop()
        return JsonText(self._root, self._base + self._at, damage)

    def _step(self) -> str | None:
        char = self._text[self._at]
        top = self._open[-1] if self._open else None
        if top is not None:
            if char == ("}" if top.form == "object" else "]"):
                return self._close(top)
            if char == ",":
                self._at += 1
                return None
            if top.form == "object" and len(top.keys) == len(top.items):
                return self._read_key(top, char)
        if char in "{[":
            return self._descend("object" if char == "{" else "array")
        if char == '"':
            value, damage = self._read_string()
            self._add(value)
            return damage
        match = _LITERAL.match(self._text, self._at)
        if match is None:
            return "bad_syntax"
        self._add(self._node("literal", self._at, match.end(), match[0]))
        self._at = match.end()
        return None

    def _node(self, form: str, start: int, end: int, text: str = "") -> Json:
        return Json(form, self._base + start, self._base + end, text)

    def _add(self, value: Json) -> None:
        if self._open:
            self._open[-1].items.append(value)
        else:
            self._root = value

    def _descend(self, form: str) -> str | None:
        if len(self._open) >= _DEEPEST:
            return "too_deep"
        value = self._node(form, self._at, self._at)
        self._add(value)
        self._open.append(value)
        self._at += 1
        return None

    def _close(self, top: Json) -> str | None:
        if len(top.keys) > len(top.items):
            return "bad_syntax"
        self._at += 1
        top.end = self._base + self._at
        self._open.pop()
        return None

    def _read_key(self, top: Json, char: str) -> str | None:
        if char != '"':
            return "bad_syntax"
        key, damage = self._read_string()
        if damage:
            return damage
        self._at = _skip(self._text, self._at)
        if self._text[self._at : self._at + 1] != ":":
            return "truncated" if self._at >= len(self._text) else "bad_syntax"
        self._at += 1
        top.keys.append(key)
        return None

    def _read_string(self) -> tuple[Json, str | None]:
        start = self._at
        try:
            value, self._at = json.decoder.scanstring(self._text, start + 1, False)  # type: ignore[attr-defined]
        except json.JSONDecodeError:
            match = _STRING.match(self._text, start)
            self._at = match.end() if match else len(self._text)
            value = _ESCAPE.sub(_unescape, self._text[start + 1 : self._at - bool(match)])
            return self._node("string", start, self._at, value), None if match else "truncated"
        return self._node("string", start, self._at, value), None


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _SHORT.get(match[2], match[2])
