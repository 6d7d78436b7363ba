"""What goes where: data on stdout, notices and errors on stderr, colour and control only for a terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Line",
    "console",
    "error_document",
    "plain",
    "print_error",
    "print_lines",
    "print_notice",
    "write_json",
    "write_text",
]

Line = tuple[str, str]
"""A line for people: its text and the style it takes on a terminal ("" for none)."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without what could steer a terminal: control characters and direction overrides."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def write_json(document: Any, *, to_stderr: bool = False) -> None:
    """One JSON document and a newline; as ASCII where the stream cannot take every character."""
    stream = sys.stderr if to_stderr else sys.stdout
    unicode_safe = (stream.encoding or "").lower().replace("-", "") == "utf8"
    stream.write(json.dumps(document, ensure_ascii=not unicode_safe, indent=2) + "\n")


def write_text(text: str) -> None:
    """Text as it is stored, for a pipe or file; made harmless for a terminal."""
    shown = plain(text) if sys.stdout.isatty() else text
    _write(sys.stdout, shown if shown.endswith("\n") else f"{shown}\n")


def print_lines(lines: Iterable[Line]) -> None:
    """Lines for people on stdout, long ones left whole."""
    from rich.text import Text

    screen = console()
    for text, style in lines:
        screen.print(Text(plain(text), style=style), soft_wrap=True)


def print_notice(message: str) -> None:
    """A line on stderr that is not an error."""
    _write(sys.stderr, f"{plain(message)}\n")


def print_error(message: str) -> None:
    """One line on stderr, whatever line breaks the message has."""
    _write(sys.stderr, f"memu: {' '.join(plain(message).split())}\n")


def error_document(kind: str, message: str, code: int) -> Mapping[str, Any]:
    """The documented JSON form of an error."""
    return {"schema": 1, "error": {"type": kind, "message": message, "exit": code}}


def console(*, to_stderr: bool = False) -> Console:
    """A rich console that takes text as it is; it keeps ``NO_COLOR`` and writes no codes into a pipe."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            # Called while the BrokenPipeError is handled; rich would end the program with 1 here.
            raise

    return Plain(stderr=to_stderr, markup=False, emoji=False, highlight=False)


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, errors="replace").decode(encoding))
