"""Looking into parsed JSON of a form that somebody else decides: what is missing or of another type is empty."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from memu.ingest.readers.dates import parse_time
from memu.records import LineSpan

__all__ = [
    "PlacedText",
    "find_lines",
    "items_at",
    "number_at",
    "object_at",
    "parse_object",
    "text_at",
    "texts_in",
    "time_at",
    "value_at",
]

_LARGEST = 1e15
_NOTHING: Mapping[str, object] = {}


class PlacedText(str):
    """A string of a JSON text that is spread over lines, with those that it stands on itself."""

    __slots__ = ("lines",)
    lines: LineSpan


def value_at(value: object, *path: str) -> object:
    """What lies at the end of a path of keys; None where there is nothing."""
    for key in path:
        # Parsed JSON holds plain dicts; asking for those is far quicker than for any mapping.
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text_at(value: object, *path: str) -> str:
    """The string at the end of the path, else ""."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def object_at(value: object, *path: str) -> Mapping[str, object]:
    """The object at the end of the path, else an empty one."""
    found = value_at(value, *path)
    return found if isinstance(found, dict) else _NOTHING


def items_at(value: object, *path: str) -> Sequence[object]:
    """The array at the end of the path, else an empty one."""
    found = value_at(value, *path)
    return found if isinstance(found, list) else ()


def number_at(value: object, *path: str) -> float | None:
    """The number at the end of the path; truth values, and what is not finite, are none."""
    found = value_at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return found if abs(found) < _LARGEST else None


def time_at(value: object, *names: str) -> datetime | None:
    """When it was, under the first of these names that says so."""
    for name in names:
        found = value_at(value, name)
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            return parse_time(str(found))
    return None


def texts_in(content: object, kinds: frozenset[str]) -> Iterator[str]:
    """The strings of a content that is one, or a list of parts; of parts with a type only those of ``kinds``."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and str(part.get("type") or "text") in kinds:
            text = part.get("text")
            if isinstance(text, str):
                yield text


def parse_object(value: object) -> Mapping[str, object]:
    """An object, or the one that a string holds as JSON."""
    if isinstance(value, dict):
        return value
    try:
        parsed = json.loads(value) if isinstance(value, str) and value.lstrip()[:1] == "{" else None
    except (ValueError, RecursionError):
        return _NOTHING
    return parsed if isinstance(parsed, dict) else _NOTHING


def find_lines(value: object, otherwise: LineSpan) -> LineSpan:
    """The lines of a string that knows its own."""
    return value.lines if isinstance(value, PlacedText) else otherwise
