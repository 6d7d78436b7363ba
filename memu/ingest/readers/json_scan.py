"""One pass over JSON: values with their positions, read until the root is closed or the syntax breaks.

It keeps no call stack, so depth is bounded by a number and not by the interpreter. It also passes over comments
and trailing commas, which configuration files have.
"""

from __future__ import annotations

import json.decoder
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["BAD_SYNTAX", "DEEPEST", "TRUNCATED", "Json", "Scan", "decode_string", "skip_space"]

BAD_SYNTAX, TRUNCATED, TOO_DEEP = "bad_syntax", "truncated", "too_deep"

_SPACE = re.compile(r"(?:[ \t\n\r]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_LITERAL = re.compile(r"(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
DEEPEST = 200


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

    def close(self, end: int) -> None:
        """Ends a container there; a key that waits for its value is dropped."""
        self.end = end
        del self.keys[len(self.items) :]


def skip_space(text: str, at: int) -> int:
    """Where space and comments end that begin here, if any do."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def decode_string(raw: str) -> str:
    """The text of a string that the standard library does not read."""
    return _ESCAPE.sub(_unescape, raw)


class Scan:
    """One reading of one text from ``at``, with the containers that stand open, the outermost first.

    ``last``: the string that reading stopped behind, if it stopped behind one.
    """

    def __init__(
        self, text: str, base: int = 0, at: int = 0, opened: Iterable[Json] = (), deepest: int = DEEPEST
    ) -> None:
        self.at = at
        self.open: list[Json] = list(opened)
        self.root: Json | None = self.open[0] if self.open else None
        self.last: Json | None = None
        self._text = text
        self._base = base
        self._deepest = deepest

    def run(self) -> str | None:
        """Reads until the root is closed, or to the damage, which it names."""
        damage: str | None = None
        while damage is None and (self.root is None or self.open):
            self.at = skip_space(self._text, self.at)
            damage = self._step() if self.at < len(self._text) else TRUNCATED
        return damage

    def _step(self) -> str | None:
        char = self._text[self.at]
        top = self.open[-1] if self.open else None
        if top is not None:
            if char == ("}" if top.form == "object" else "]"):
                return self._close(top)
            if char == ",":
                self.last = None
                self.at += 1
                return None
            if top.form == "object" and len(top.keys) == len(top.items):
                return self._read_key(top, char)
        if char in "{[":
            return self._descend("object" if char == "{" else "array")
        if char == '"':
            value, damage = self._read_string()
            self._add(value)
            return damage
        match = _LITERAL.match(self._text, self.at)
        if match is None:
            return BAD_SYNTAX
        self.last = None
        self._add(self._node("literal", self.at, match.end(), match[0]))
        self.at = match.end()
        return None

    def _node(self, form: str, start: int, end: int, text: str = "") -> Json:
        return Json(form, self._base + start, self._base + end, text)

    def _add(self, value: Json) -> None:
        if self.open:
            self.open[-1].items.append(value)
        else:
            self.root = value

    def _descend(self, form: str) -> str | None:
        if len(self.open) >= self._deepest:
            return TOO_DEEP
        value = self._node(form, self.at, self.at)
        self._add(value)
        self.open.append(value)
        self.last = None
        self.at += 1
        return None

    def _close(self, top: Json) -> str | None:
        if len(top.keys) > len(top.items):
            return BAD_SYNTAX
        self.last = None
        self.at += 1
        top.end = self._base + self.at
        self.open.pop()
        return None

    def _read_key(self, top: Json, char: str) -> str | None:
        if char != '"':
            return BAD_SYNTAX
        key, damage = self._read_string()
        if damage:
            return damage
        self.at = skip_space(self._text, self.at)
        if self._text[self.at : self.at + 1] != ":":
            return TRUNCATED if self.at >= len(self._text) else BAD_SYNTAX
        self.last = None
        self.at += 1
        top.keys.append(key)
        return None

    def _read_string(self) -> tuple[Json, str | None]:
        start = self.at
        damage: str | None = None
        try:
            value, self.at = json.decoder.scanstring(self._text, start + 1, False)  # type: ignore[attr-defined]
        except json.JSONDecodeError:
            match = _STRING.match(self._text, start)
            self.at = match.end() if match else len(self._text)
            value = decode_string(self._text[start + 1 : self.at - bool(match)])
            damage = None if match else TRUNCATED
        self.last = self._node("string", start, self.at, value)
        return self.last, damage


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _SHORT.get(match[2], match[2])
