"""Records as plain data, for JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from memu.records.kinds import LineSpan

__all__ = ["plain"]


def plain(record: Any) -> dict[str, Any]:
    """The fields of a dataclass and of those in it; times in ISO 8601, spans of lines as pairs."""
    return {item.name: _plain_value(getattr(record, item.name)) for item in dataclasses.fields(record)}


def _plain_value(value: Any) -> Any:
    if isinstance(value, LineSpan):
        return [value.start, value.end]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_plain_value(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(value)
    return value
