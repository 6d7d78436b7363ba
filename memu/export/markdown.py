"""Small pieces of Markdown and YAML, written so that any parser reads back what was meant."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["COMMENT_MARK", "GENERATOR", "escape_text", "front_matter", "link", "one_line", "path_url", "shorten"]

GENERATOR = "memu"
COMMENT_MARK = "<!-- memu -->"

_SPACE = re.compile(r"\s+")
_ALWAYS = frozenset("\\`*~<")
_SPECIAL = re.compile(r"[\\`*~<\[\]_&#]")
_PLAIN_URL = re.compile(r"[A-Za-z0-9._~/+@=,-]*")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_URL_SAFE = frozenset("-._~/+@=,")


def one_line(text: str) -> str:
    """The text with every run of white space and control characters made one space."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    kept = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    return _SPACE.sub(" ", kept).strip()


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters, cut at a word where one is near, with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = head.rfind(" ")
    return f"{head[:space] if space > limit // 2 else head}…".strip()


def escape_text(text: str) -> str:
    """One line of inline Markdown that shows ``text`` as it is.

    Brackets become character references, so that the simple patterns by which agents read a link list
    (``[^]]+``) find the whole name.
    """
    line = one_line(text)
    if not _SPECIAL.search(line):
        return line
    return "".join(_escaped(line, index) for index in range(len(line)))


def _escaped(line: str, index: int) -> str:
    char = line[index]
    if char in _ALWAYS:
        return f"\\{char}"
    if char == "[":
        return "&#91;"
    if char == "]":
        return "&#93;"
    if char == "_":
        # Inside a word an underscore never means emphasis.
        inside = 0 < index < len(line) - 1 and line[index - 1].isalnum() and line[index + 1].isalnum()
        return char if inside else "\\_"
    if char == "&":
        return "&amp;" if _ENTITY.match(line, index) else char
    if char == "#" and (index == 0 or line[index - 1] in " #"):
        return "\\#"
    return char


def path_url(path: str) -> str:
    """A path as a link destination: letters and digits of any script stay readable, the rest is encoded."""
    if _PLAIN_URL.fullmatch(path):
        return path
    return "".join(char if _is_url_safe(char) else quote(char, safe="") for char in path)


def _is_url_safe(char: str) -> bool:
    return char in _URL_SAFE or unicodedata.category(char)[0] in "LMN"


def link(text: str, url: str) -> str:
    """``[text](url)`` with the text escaped; ``url`` is already encoded."""
    return f"[{escape_text(text) or 'untitled'}]({url})"


def front_matter(fields: Iterable[tuple[str, str]]) -> str:
    """A YAML block with double-quoted values, closed by its own line. ``generator`` stays a plain word."""
    lines = [f"{key}: {value if key == 'generator' else _quoted(value)}" for key, value in fields]
    return "\n".join(["---", *lines, "---", ""])


def _quoted(value: str) -> str:
    """A double-quoted scalar: JSON's form, with what YAML does not print or reads as a line break escaped too."""
    text = json.dumps(one_line(value), ensure_ascii=False)
    return "".join(char if _is_printed(char) else _code(char) for char in text)


def _is_printed(char: str) -> bool:
    return char == " " or unicodedata.category(char)[0] not in "CZ"


def _code(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
