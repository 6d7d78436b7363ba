"""From a key that stands behind a break in JSON to the next break: the containers that are closed on the way.

A quote inside a string is escaped, so what looks like a key between a comma or a brace and a colon is one,
however the break left the quotes. In which container it stands is told by the brackets that close more than was
opened.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, field

from memu.ingest.readers.json_scan import BAD_SYNTAX, DEEPEST, TRUNCATED, Json, Scan, skip_space

__all__ = ["Walk", "find_anchors", "walk_on"]

_ANCHOR = re.compile(r'([,{])\s*("(?:[^"\\\n]|\\.){1,200}")\s*:')
_KEY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"\s*:', re.DOTALL)
_VALUE = re.compile(r'["{\[\dtfnNI-]')
_CLOSERS = {"}": "object", "]": "array"}


@dataclass(slots=True)
class Walk:
    """What was read: ``levels``, the innermost container first, with what they hold behind the break.

    All but the last are closed; ``inside`` are the last, if it stands open, and what stands open in it.
    ``damage`` is None where the text ended with the last. ``orphan`` is a value whose key was lost.
    """

    levels: list[Json] = field(default_factory=list)
    inside: list[Json] = field(default_factory=list)
    at: int = 0
    damage: str | None = None
    last: Json | None = None
    orphan: Json | None = None


def find_anchors(text: str, start: int) -> Generator[re.Match[str], int | None, None]:
    """The places from ``start`` on at which an object or a key of one begins; group 2 is the key.

    What is sent is the place to go on from. An object that is the value of a key which was read is none.
    """
    while anchor := _ANCHOR.search(text, start):
        start = anchor.end()
        if anchor[1] == "," or text[max(0, anchor.start() - 200) : anchor.start()].rstrip()[-1:] != ":":
            start = max(start, (yield anchor) or 0)


def walk_on(text: str, base: int, anchor: re.Match[str], deepest: int) -> Walk:
    """Reads from an anchor to the next break or to the end."""
    if anchor[1] == ",":
        start = anchor.start(2)
        return _climb(text, base, Walk(at=start), Json("object", base + start, base + start), deepest)
    scan = Scan(text, base, anchor.start(), deepest=deepest)
    damage = scan.run()
    value = scan.root
    assert value is not None
    form = None if damage else _tell_form(text, scan.at)
    if form == "object":
        level = Json("object", value.start, value.end)
        return _climb(text, base, Walk(at=scan.at, orphan=value), level, deepest)
    level = Json("array", value.start, value.end, items=[value])
    if form == "array":
        return _climb(text, base, Walk(at=scan.at), level, deepest)
    damage = damage or (TRUNCATED if form is None else BAD_SYNTAX)
    return Walk([level], [level, *scan.open], scan.at, damage, scan.last)


def _climb(text: str, base: int, walk: Walk, level: Json, deepest: int) -> Walk:
    """Reads container by container outwards."""
    while True:
        scan = Scan(text, base, walk.at, [level], deepest)
        walk.damage = scan.run()
        walk.levels.append(level)
        walk.at, walk.last, walk.inside = scan.at, scan.last, scan.open
        if walk.damage:
            return walk
        if len(walk.levels) > 2 * DEEPEST:
            walk.damage = BAD_SYNTAX
            return walk
        form = _tell_form(text, scan.at)
        if not form:
            walk.damage = None if form is None else BAD_SYNTAX
            return walk
        level = Json(form, base + scan.at, base + scan.at)


def _tell_form(text: str, at: int) -> str | None:
    """The form of the container in which reading is behind a value; "" where it is in none, None at the end."""
    at = skip_space(text, at)
    if at >= len(text):
        return None
    if text[at] == ",":
        at = skip_space(text, at + 1)
        if _KEY.match(text, at):
            return "object"
        if _VALUE.match(text, at):
            return "array"
    return _CLOSERS.get(text[at : at + 1], "")
