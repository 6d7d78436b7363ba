"""Engines: how each database is opened, how its transactions begin, and what differs in its SQL."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from memu.errors import ConfigurationError, MemuError, StoreError
from memu.storage.side_files import connect_alone, connect_to_read, has_no_room, open_side_files

__all__ = [
    "COUNTS",
    "hold_table",
    "insert_function",
    "is_memory",
    "is_read_only",
    "is_writing",
    "make_engine",
    "open_engine",
    "parse_url",
    "reading",
    "show_url",
    "store_path",
    "writing",
]

_BUSY_SECONDS = 60
COUNTS = "memu_counts"
_WRITING = "memu_writing"
_SET_TO_WRITE = "memu_set_to_write"
_PRAGMAS = (
    f"busy_timeout = {_BUSY_SECONDS * 1000}",
    "foreign_keys = ON",
    "synchronous = NORMAL",
    # Deleted text is overwritten with zeros, not just unlinked.
    "secure_delete = ON",
    "temp_store = MEMORY",
    # A commit touches pages all over the word index, and the next one often the same: carry them home seldom.
    "wal_autocheckpoint = 8000",
    # Megabytes of packed vectors are read by a search: mapped, they pass through no small cache page by page.
    f"mmap_size = {1 << 30}",
)
# A commit touches pages all over the word index; with the default of 2 MB they would be read again and again.
_WRITER_CACHE_KIB = 32 * 1024


def parse_url(url: str | URL) -> URL:
    """The database that ``url`` names: ``sqlite://`` (in memory), ``sqlite:///PATH`` or ``postgresql://…``.

    Raises:
        ConfigurationError: it is no URL, or names a database that memu does not know.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigurationError(
            "The store is no database URL; give sqlite:///PATH or postgresql://USER@HOST:PORT/NAME."
        ) from None
    if "@" in (parsed.host or ""):
        # It is not shown: what stands before the last @ is the end of the password.
        raise ConfigurationError(
            "The store's URL has more than one @; in a user name or password write it as %40."
        )
    match parsed.get_backend_name():
        case "sqlite":
            return parsed.set(drivername="sqlite+pysqlite")
        case "postgresql" | "postgres":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ConfigurationError(f"memu keeps no store in {other}; give a sqlite:/// or postgresql:// URL.")


def show_url(url: URL) -> str:
    """The URL as people write it: without the driver's name, and without a password wherever it holds one."""
    hidden = {name: "***" for name in url.query if "password" in name.casefold()}
    shown = url.set(drivername=url.get_backend_name()).update_query_dict(hidden)
    return shown.render_as_string(hide_password=True)


def is_memory(url: URL) -> bool:
    """Whether the store lives in this process only."""
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def store_path(url: URL) -> Path | None:
    """The file of a SQLite store, or None where there is none."""
    if url.get_backend_name() != "sqlite" or is_memory(url) or url.database is None:
        return None
    return Path(url.database)


def is_read_only(url: URL) -> bool:
    """Whether the store is a file that may be read but not written: by its mode, its folder's or the disk's."""
    path = store_path(url)
    if path is None or not path.exists():
        return False
    # A writer makes the log beside the file, so that it needs both.
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def make_engine(url: URL, *, alone: bool = False) -> Engine:
    """An engine whose transactions begin as memu needs them. Nothing is connected yet.

    ``alone``: on SQLite, one connection at a time and no file for the log's index: for a disk without room for it.

    Raises:
        ExtraMissing: the driver for Postgres is not installed.
        StoreError: the folder of a SQLite store does not exist.
    """
    if url.get_backend_name() == "sqlite":
        return _make_sqlite(url, alone=alone)
    return _make_postgres(url)


def open_engine(
    url: URL, ready: Callable[[Engine], object], ready_alone: Callable[[Engine], object] | None = None
) -> Engine:
    """An engine on which ``ready`` has run; it reads at the least.

    Where the disk has no room for the log's index, nobody can read a SQLite file as usual: then it is an engine
    that needs none, on which ``ready_alone`` has run. What writes says that the disk is full.
    """
    engine = make_engine(url)
    try:
        ready(engine)
    except (DBAPIError, sqlite3.Error) as error:
        engine.dispose()
        if not has_no_room(error.orig if isinstance(error, DBAPIError) else error):
            raise
        engine = make_engine(url, alone=True)
        try:
            (ready_alone or ready)(engine)
        except MemuError:
            # It holds no tables yet, or older ones, and for these it has no room either.
            engine.dispose()
            raise error from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def writing(connection: Connection) -> Connection:
    """``connection`` set so that its next transaction may write (on SQLite: begins with the write lock held)."""
    return connection.execution_options(**{_WRITING: True})


def reading(connection: Connection) -> Connection:
    """``connection`` set so that its next transaction reads one snapshot and cannot write; SQLite's do so."""
    if connection.dialect.name != "postgresql":
        return connection
    return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def is_writing(connection: Connection) -> bool:
    """Whether its transaction may write."""
    return bool(connection.get_execution_options().get(_WRITING, False))


def _make_sqlite(url: URL, *, alone: bool) -> Engine:
    path = store_path(url)
    if path is not None and not _is_folder(path.parent):
        raise StoreError(f"The folder {path.parent} does not exist; make it, or name another store with --db.")
    options: dict[str, Any] = {
        "connect_args": {"check_same_thread": False, "timeout": _BUSY_SECONDS},
        # Parameters hold people's text; it must not reach logs through an error's message.
        "hide_parameters": True,
    }
    if path is None:
        engine = create_engine(url, poolclass=StaticPool, **options)
    elif is_read_only(url):
        # A connection for each transaction: each looks anew whether somebody writes.
        creator = partial(connect_to_read, path, _BUSY_SECONDS)
        engine = create_engine(url, creator=creator, poolclass=NullPool, hide_parameters=True)
    elif alone:
        creator = partial(connect_alone, path, _BUSY_SECONDS)
        engine = create_engine(url, creator=creator, poolclass=NullPool, hide_parameters=True)
    else:
        open_side_files(path)
        # The one used last is used next: its cache is warm, and it is set as the next transaction likely needs it.
        engine = create_engine(url, pool_size=4, max_overflow=-1, pool_use_lifo=True, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise StoreError(f"The folder {path} cannot be read: {error.strerror or error}.") from error


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # The driver would begin late and only before some statements; SQLAlchemy documents this way to take over.
    connection.isolation_level = None
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()
    except sqlite3.Error:
        connection.close()
        raise


def _begin_sqlite(connection: Connection) -> None:
    may_write = is_writing(connection)
    # Pragmas hold as long as the connection does: to set one again takes as long as to begin.
    if connection.info.get(_SET_TO_WRITE) is not may_write:
        connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if may_write else 'ON'}")
        if may_write:
            connection.exec_driver_sql(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
        connection.info[_SET_TO_WRITE] = may_write
    if may_write:
        connection.info.pop(COUNTS, None)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if may_write else "BEGIN")


def _make_postgres(url: URL) -> Engine:
    # Loaded only where a server is asked for.
    from memu.storage.engine_postgres import make_postgres

    return make_postgres(url)


def insert_function(connection: Connection) -> Callable[[Table], Any]:
    """The dialect's ``insert`` construct, which knows ON CONFLICT in the same words on both databases."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as postgres_insert

        return postgres_insert
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert

    return sqlite_insert


def hold_table(connection: Connection, table: Table) -> None:
    """Let nobody else write to a table until the transaction ends; on SQLite nobody can."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f'LOCK TABLE "{table.name}" IN SHARE ROW EXCLUSIVE MODE')
