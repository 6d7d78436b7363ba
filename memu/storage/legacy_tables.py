"""How a database of memU is opened, what its tables are called and how its values are written, in any version."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, FromClause, column, create_engine, inspect, table
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from memu.errors import StoreError
from memu.storage.engine import make_engine, show_url, store_path

__all__ = ["KINDS", "OWN_COLUMNS", "Vector", "connect", "find_tables", "to_names", "to_time", "to_vector"]

Vector = tuple[float, ...]

KINDS = {
    "items": ("memory_items", "recall_entries"),
    "categories": ("memory_categories", "recall_files"),
    "links": ("category_items", "recall_file_entries"),
    "sources": ("resources",),
}
"""What each kind of table was called, the newest name last; SQLite's bear a prefix."""

OWN_COLUMNS = frozenset(
    [
        *("id", "created_at", "updated_at", "resource_id", "item_id", "category_id"),
        *("memory_type", "summary", "content", "track", "name", "description", "happened_at", "extra"),
        *("url", "modality", "local_path", "caption", "embedding", "embedding_json"),
    ]
)
"""Every column that is memU's own; the others say whose row it is."""

_PREFIXES = ("", "memu_")
_WAL_AT, _WAL = 18, 2


def connect(url: URL) -> Engine:
    """An engine that only reads; a file is neither written nor is another made beside it.

    Raises:
        StoreError: there is no such file.
    """
    path = store_path(url)
    if url.get_backend_name() != "sqlite":
        # Who looks at its tables would be warned of a type that nobody knows.
        import pgvector.sqlalchemy  # noqa: F401

        # Its transactions read only, unless asked to write.
        return make_engine(url)
    if path is None or not path.is_file():
        raise StoreError(f"There is no database at {path or show_url(url)}.")
    return create_engine(url, creator=partial(_open_file, path), poolclass=NullPool, hide_parameters=True)


def _open_file(path: Path) -> sqlite3.Connection:
    """A connection that can neither write the file nor make another beside it."""
    with path.open("rb") as file:
        keeps_log = file.read(_WAL_AT + 1)[_WAL_AT:] == bytes([_WAL])
    # A log is read where there is one. Where there is none, SQLite would make one to see whether somebody writes.
    log = path.with_name(f"{path.name}-wal")
    how = "immutable=1" if keeps_log and not log.exists() else "mode=ro"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, check_same_thread=False)


def find_tables(connection: Connection) -> dict[str, FromClause]:
    """Kind → table, for those of the kinds that are there."""
    inspector = inspect(connection)
    there = set(inspector.get_table_names())
    found: dict[str, FromClause] = {}
    for kind, names in KINDS.items():
        for name in (f"{prefix}{each}" for each in reversed(names) for prefix in _PREFIXES):
            if kind not in found and name in there:
                # Without types: each database's driver gives what it has.
                found[kind] = table(name, *(column(each["name"]) for each in inspector.get_columns(name)))
    return found


def to_time(value: object) -> datetime | None:
    """A stored time; what bears no zone is UTC, as memU wrote it."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def to_vector(row: Mapping[str, Any]) -> Vector | None:
    """A row's vector; None where it has none that is one."""
    told = _parsed(row.get("embedding") or row.get("embedding_json"))
    if not isinstance(told, list) or not all(isinstance(part, int | float) for part in told):
        return None
    return tuple(map(float, told))


def to_names(extra: object) -> list[str]:
    """The names under which an item's further facts hold something."""
    parsed = _parsed(extra)
    return (
        [str(name) for name, value in parsed.items() if value not in (None, "", [], {})]
        if isinstance(parsed, dict)
        else []
    )


def _parsed(value: object) -> object:
    """What JSON says, written once or twice over; a vector's text is JSON too."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value
