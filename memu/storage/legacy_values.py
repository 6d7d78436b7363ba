"""How memU's databases write their values, and what is made of those that are not as they should be. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

__all__ = ["Vector", "read_time", "to_names", "to_text", "to_vector", "to_zoned"]

Vector = tuple[float, ...]

_QUOTED_AT_MOST = 60


def to_text(value: object) -> str:
    """A text column's value; bytes that are no UTF-8 become lone surrogates, which whoever stores it replaces."""
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", errors="surrogateescape")
    return value if isinstance(value, str) else str(value)


def to_zoned(text: str) -> datetime | None:
    """A time as it is written; what bears no zone is UTC, as memU wrote it. None for any other text."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def read_time(row: Mapping[str, Any], name: str, odd: list[str]) -> datetime | None:
    """A row's time; ``odd`` gains why it has none, if there is a value."""
    value = row.get(name)
    if value is None or value == "":
        return None
    time = to_zoned(value.isoformat() if isinstance(value, datetime) else to_text(value))
    if time is None:
        odd.append(f"its {name} {to_text(value)[:_QUOTED_AT_MOST]!r} is no time here; it is kept as one without")
    return time


def to_vector(row: Mapping[str, Any]) -> Vector | None:
    """A row's vector; None where it has none that is one."""
    told, _ = _parsed(row.get("embedding") or row.get("embedding_json"))
    if not isinstance(told, list) or not all(isinstance(part, int | float) for part in told):
        return None
    try:
        return tuple(map(float, told))
    except OverflowError:
        return None


def to_names(extra: object) -> tuple[str, ...]:
    """The names under which an item's further facts hold something; "extra" where they are no such facts."""
    parsed, is_json = _parsed(extra)
    if isinstance(parsed, dict):
        return tuple(sorted(str(name) for name, value in parsed.items() if value not in (None, "", [], {})))
    return () if is_json and parsed in (None, "", []) else ("extra",)


def _parsed(value: object) -> tuple[object, bool]:
    """What JSON says, written once or twice over, and whether it is any; a vector's text is JSON too."""
    for _ in range(2):
        if not isinstance(value, str | bytes) or not value:
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None, False
    return value, True
