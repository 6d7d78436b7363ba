"""How a database of memU is opened, what its tables are called and how its values are written, in any version."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, FromClause, column, create_engine, event, inspect, table
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from memu.errors import StoreError
from memu.storage.engine import make_engine, show_url, store_path
from memu.storage.legacy_values import to_text, to_zoned

if TYPE_CHECKING:
    import psycopg

__all__ = ["KINDS", "OWN_COLUMNS", "connect", "find_tables"]

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

_NEEDED = {
    "items": {"id"},
    "categories": {"id"},
    "links": {"item_id", "category_id"},
    "sources": {"id", "url", "caption"},
}

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
        engine = make_engine(url)
        event.listen(engine, "connect", _take_any_time)
        return engine
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
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, check_same_thread=False)
    # One text that is none would end the reading of all.
    connection.text_factory = to_text
    return connection


def _take_any_time(connection: psycopg.Connection, _record: object) -> None:
    """Give the times that Python does not know, ``infinity`` and those before Christ, as their texts."""
    from psycopg.adapt import Loader

    class AnyTime(Loader):
        def load(self, data: bytes | bytearray | memoryview) -> object:
            text = bytes(data).decode("ascii")
            return to_zoned(text) or text

    for name in ("timestamp", "timestamptz", "date"):
        connection.adapters.register_loader(name, AnyTime)


def find_tables(connection: Connection) -> dict[str, FromClause]:
    """Kind → table, for those of the kinds that are there."""
    inspector = inspect(connection)
    there = set(inspector.get_table_names())
    found: dict[str, FromClause] = {}
    for kind, names in KINDS.items():
        for name in (f"{prefix}{each}" for each in reversed(names) for prefix in _PREFIXES):
            if kind not in found and name in there:
                columns = [each["name"] for each in inspector.get_columns(name)]
                if _NEEDED[kind] <= set(columns):
                    # Without types: each database's driver gives what it has.
                    found[kind] = table(name, *map(column, columns))
    return found
