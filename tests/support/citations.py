"""P4 checked from outside: every block of an exported tree leads to lines that hold its words.

Nothing of memu is used here: the bytes are decoded anew, JSON strings by ``json``, entities by ``html``.
"""

from __future__ import annotations

import base64
import html
import json
import quopri
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

__all__ = ["Broken", "check_tree"]

Broken = str

_MARKS = re.compile(r"(?:\s*\[\^([a-z2-7]{5,52})\])+\s*$")
_MARK = re.compile(r"\[\^([a-z2-7]{5,52})\]")
_NOTE = re.compile(r"^\[\^([a-z2-7]{5,52})\]: (.*)$")
_LINK = re.compile(r"\]\(<?([^()<>]*(?:\([^()]*\)[^()<>]*)*)>?\)")
_LINES = re.compile(r"#L(\d+)(?:-L(\d+))?$")
_LABEL = re.compile(r"^\s*(?:>\s*)?(?:[-*+]|\d+[.)])?\s*\*\*.*?\*\* — ", re.DOTALL)
# Above a fence it stands as a line of its own.
_TITLE = re.compile(r"^\s*\*\*[^\n]*\*\*\n\s*\n")
# A quoted link is led anew from where the page lies; its words are the quote.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_TARGET = re.compile(r"\]\([^\s()]*\)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_REDACTED = re.compile(r"\[redacted:[a-z0-9-]+\]|\[forgotten\]")
_ENCODINGS = ("utf-8-sig", "utf-16", "shift_jis", "gb18030", "latin-1")


def check_tree(tree: Path) -> tuple[int, list[Broken]]:
    """How many blocks the pages of a tree have, and those whose words are not where their footnotes lead."""
    count, broken = 0, []
    for page in sorted([*tree.glob("memory/*.md"), *tree.glob("skill/*.md")]):
        text = page.read_text(encoding="utf-8")
        notes = dict(match.groups() for line in text.split("\n") if (match := _NOTE.match(line)))
        for block, marks in _blocks(text):
            count += 1
            places = [place for mark in marks for place in _places(page, notes.get(mark, ""))]
            if not places or not all(_holds(block, source) for source in places):
                broken.append(f"{page.name}: {block[:120]!r} {marks}")
    return count, broken


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each block's own words (label, markers and marks off) with its marks."""
    body = text.split("\n---\n", 1)[1]
    lines = [line for line in body.split("\n") if not _NOTE.match(line)]
    held: list[str] = []
    fence = ""
    for line in lines:
        opening = re.match(r"\s*(?:[-*+] |\d+[.)] )?\s*(`{3,}|~{3,})", line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            else:
                held.append(line)
            continue
        if opening:
            fence = opening[1]
            continue
        if re.match(r"#{1,6} ", line):
            held = []
            continue
        held.append(line)
        if _MARKS.search(line):
            yield "\n".join(held), _MARK.findall(_MARKS.search(line)[0])  # type: ignore[index]
            held = []
    assert not "".join(held).strip(), f"text without a mark: {held}"


def _places(page: Path, note: str) -> Iterator[str]:
    for target in _LINK.findall(note):
        lines = _LINES.search(target)
        path = page.parent / unquote(target[: lines.start()] if lines else target)
        text = _decode(path.read_bytes())
        if lines:
            cited = re.split(r"\r\n|\r|\n", text)[int(lines[1]) - 1 : int(lines[2] or lines[1])]
            text = "\n".join(cited)
        yield text


def _decode(data: bytes) -> str:
    for encoding in _ENCODINGS:
        if encoding == "utf-16" and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            continue
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 takes everything")


def _holds(block: str, source: str) -> bool:
    """Whether the block's words stand in the cited text, in order and whole; a label in front may be left off."""
    readings = [
        source,
        html.unescape(re.sub(r"<[^>]*>", " ", source)),
        _json_strings(source),
        quopri.decodestring(source.encode("utf-8", "replace")).decode("utf-8", "replace"),
        _base64_text(source),
    ]
    wanted = _MARK.sub("", block)
    candidates = {wanted, _LABEL.sub("", wanted), _TITLE.sub("", wanted)}
    return any(_pattern(each).search(_letters(reading)) for each in candidates for reading in readings)


def _pattern(text: str) -> re.Pattern[str]:
    parts = _REDACTED.split(text.strip())
    return re.compile(".*?".join(re.escape(_letters(_unmarked(part))) for part in parts) or r"(?!)")


def _unmarked(text: str) -> str:
    return re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", html.unescape(text))


def _letters(text: str) -> str:
    shown = _TERMINAL.sub("", text)
    return "".join(char for char in _TARGET.sub("]", shown) if char.isalnum())


def _base64_text(source: str) -> str:
    try:
        return base64.b64decode("".join(source.split()), validate=True).decode("utf-8", "replace")
    except ValueError:
        return ""


def _json_strings(source: str) -> str:
    found = []
    for literal in _STRING.findall(source):
        try:
            found.append(str(json.loads(literal)))
        except ValueError:
            continue
    return "\n".join(found)
