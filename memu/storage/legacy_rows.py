"""Rows of memU's as they are found, whatever is wrong with them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memu.storage.legacy_values import Vector, read_time, to_names, to_text, to_vector

__all__ = ["LegacyCategory", "LegacyIds", "LegacyItem", "to_category", "to_item"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyCategory:
    """A category, later called a file. ``track`` is None where the database knows none.

    odd: what is not as it should be, in words.
    """

    id: str
    name: str
    description: str
    content: str
    track: str | None
    created_at: datetime | None
    vector: Vector | None = None
    odd: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyItem:
    """An item, later called an entry. source_url, source_caption: of the resource that it was made of.

    extra: the names of its further facts. odd: what is not as it should be, in words.
    """

    id: str
    text: str
    memory_type: str
    happened_at: datetime | None
    created_at: datetime | None
    source_url: str = ""
    source_caption: str = ""
    extra: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    vector: Vector | None = None
    odd: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyIds:
    """Which rows of a scope can be told apart: the ids by code point, each once, as the database has them.

    again: ids that more than one row bears, of which the first is read. nameless: how many rows have none that is
    a text.
    """

    ids: tuple[Any, ...] = ()
    again: tuple[str, ...] = ()
    nameless: int = 0


def to_category(row: Mapping[str, Any], *, vectors: bool) -> LegacyCategory:
    """A category as it is found. ``vectors``: with its vector."""
    odd: list[str] = []
    return LegacyCategory(
        id=to_text(row["id"]),
        name=to_text(row.get("name")),
        description=to_text(row.get("description")),
        content=to_text(row.get("content")) or to_text(row.get("summary")),
        track=to_text(row.get("track")) or None,
        created_at=read_time(row, "created_at", odd),
        vector=to_vector(row) if vectors else None,
        odd=tuple(odd),
    )


def to_item(
    row: Mapping[str, Any], source: tuple[str, str], categories: tuple[str, ...], *, vectors: bool
) -> LegacyItem:
    """An item as it is found, with the (URL, caption) that it was made of. ``vectors``: with its vector."""
    odd: list[str] = []
    url, caption = source
    return LegacyItem(
        id=to_text(row["id"]),
        text=to_text(row.get("summary")) or to_text(row.get("content")),
        memory_type=to_text(row.get("memory_type")),
        happened_at=read_time(row, "happened_at", odd),
        created_at=read_time(row, "created_at", odd),
        source_url=url,
        source_caption=caption,
        extra=to_names(row.get("extra")),
        categories=categories,
        vector=to_vector(row) if vectors else None,
        odd=tuple(odd),
    )
