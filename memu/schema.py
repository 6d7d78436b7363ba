"""The schema of a store, for whoever runs it: which version it has, and bringing it up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from memu.errors import ConfigurationError, StoreError
from memu.settings import locate_store
from memu.storage import migrate
from memu.storage.engine import make_engine, open_engine, parse_url, show_url, store_path
from memu.storage.failures import translated
from memu.storage.soundness import Soundness

if TYPE_CHECKING:
    from memu.storage.vector_indexes import Maintenance

__all__ = ["SchemaVersion", "check_schema", "maintain_store", "read_schema", "upgrade_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersion:
    """The revision that a store had when it was looked at (None: no tables) and the one this memu needs."""

    store: str
    found: str | None
    wanted: str


def read_schema(db: str | None) -> SchemaVersion:
    """The version of the store ``db``; without one, of the nearest store upwards.

    Raises:
        StoreError: there is none, or it does not answer.
    """
    with _engine(db) as engine:
        return _version(engine, migrate.current(engine))


def check_schema(db: str | None) -> SchemaVersion:
    """As :func:`read_schema`, for a store whose version is right and whose file, if it is one, is sound.

    Raises:
        SchemaOutdated: ``memu db upgrade`` is needed. SchemaTooNew: a newer memu made the store.
        StoreError: the file is damaged.
    """
    with _engine(db) as engine:
        migrate.check(engine)
        with engine.connect() as connection, connection.begin():
            damage = Soundness(connection).damage()
        if damage:
            raise StoreError(f"The store {show_url(engine.url)} is damaged: {damage[0]}. Run `memu doctor`.")
        return _version(engine, migrate.current(engine))


def upgrade_schema(db: str | None) -> SchemaVersion:
    """Bring the store up to date, whole or not at all; tells the version that it had before.

    Raises:
        SchemaTooNew: a newer memu made the store. StoreError: it holds tables that are not memu's.
    """
    with _engine(db, must_exist=False) as engine:
        return _version(engine, migrate.upgrade(engine))


def maintain_store(db: str | None) -> Maintenance:
    """Build the vector indexes that a server's store is worth, and drop broken ones; others go on meanwhile.

    Raises:
        ConfigurationError: the store is a file. SchemaOutdated: ``memu db upgrade`` is needed.
        BusyError: another maintenance runs.
    """
    with _engine(db) as engine:
        migrate.check(engine)
        if engine.dialect.name != "postgresql":
            raise ConfigurationError("Only a server's store has indexes to maintain; a file is searched whole.")
        from memu.storage.vector_indexes import maintain

        return maintain(engine)


@contextmanager
def _engine(db: str | None, *, must_exist: bool = True) -> Iterator[Engine]:
    # A URL as a value, not as text: a folder's name may hold what a URL would read as its query.
    url = parse_url(db) if db else URL.create("sqlite+pysqlite", database=str(locate_store(Path.cwd())))
    path = store_path(url)
    # Looking at a SQLite file that is not there would make it.
    if must_exist and path is not None and not path.is_file():
        raise StoreError(f"There is no store at {path}; `memu db upgrade` or a first sync makes it.")
    with translated(url):
        engine = open_engine(url, migrate.current) if path is not None else make_engine(url)
        try:
            yield engine
        finally:
            engine.dispose()


def _version(engine: Engine, found: str | None) -> SchemaVersion:
    return SchemaVersion(store=show_url(engine.url), found=found, wanted=migrate.SHIPPED.head)
