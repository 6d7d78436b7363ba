"""The schema's version: checked with one SELECT on opening, brought up to date by Alembic.

A new SQLite store is made from the tables at once, which is what the scripts end with; Alembic is imported only
where an older store is changed, and for Postgres.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table, inspect, text

from memu.errors import SchemaOutdated, SchemaTooNew, StoreError
from memu.storage.engine import is_read_only, store_path, writing
from memu.storage.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["SHIPPED", "Revisions", "check", "current", "prepare", "upgrade"]

_ADVISORY_LOCK = 0x6D656D75
_WAL_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisions:
    """The schemas that this memu knows: the newest, those before it (oldest first), and their scripts."""

    head: str
    older: tuple[str, ...]
    folder: Path


def _find_scripts() -> Path:
    """Inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).with_name("migrations")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "alembic"


# Named here so that opening a store needs no look at the scripts; a test holds the two together.
SHIPPED = Revisions(head="0005", older=("0001", "0002", "0003", "0004"), folder=_find_scripts())


def prepare(engine: Engine, *, migrate: bool, revisions: Revisions = SHIPPED) -> None:
    """Make the store ready to use: an embedded one is made or upgraded if ``migrate``, any other only checked,
    and so is a file that may only be read.

    Raises:
        SchemaOutdated: it has to be upgraded by hand. SchemaTooNew: a newer memu made it.
        StoreError: it is not there, or holds other tables than memu's.
    """
    path = store_path(engine.url)
    embedded = engine.dialect.name == "sqlite"
    if path is not None and not migrate and not path.exists():
        raise StoreError(f"There is no store at {path}; sync a folder first, or name another with --db.")
    if is_read_only(engine.url):
        _check_revision(current(engine), revisions)
        return
    if path is not None:
        _touch(path)
    revision = current(engine)
    made_or_upgraded = embedded and migrate and (revision is None or revision in revisions.older)
    if not made_or_upgraded:
        _check_revision(revision, revisions)
    if path is not None:
        _keep_a_write_ahead_log(engine)
    if made_or_upgraded:
        upgrade(engine, revisions)


def current(engine: Engine) -> str | None:
    """The store's revision, or None where it has no tables of memu's."""
    with engine.connect() as connection, connection.begin():
        return _revision(connection)


def check(engine: Engine, revisions: Revisions = SHIPPED) -> None:
    """Make sure that the store's tables are this version's.

    Raises:
        SchemaOutdated: ``memu db upgrade`` is needed. SchemaTooNew: a newer memu made the store.
    """
    _check_revision(current(engine), revisions)


def upgrade(engine: Engine, revisions: Revisions = SHIPPED) -> str | None:
    """Bring the store to the newest revision, whole or not at all; returns the revision it had before.

    Whoever comes second waits, then finds nothing to do. A SQLite file of an older version is copied first to
    ``NAME.before-REVISION``.

    Raises:
        SchemaTooNew: a newer memu made the store.
        StoreError: the database holds tables that are not memu's.
    """
    with engine.connect() as plain:
        connection = writing(plain)
        with connection.begin():
            if connection.dialect.name == "postgresql":
                _begin_on_server(connection)
            before = _revision(connection)
            if before == revisions.head:
                return before
            if before is None:
                _refuse_foreign_tables(connection)
            elif before not in revisions.older:
                _check_revision(before, revisions)
            else:
                _back_up(engine, revisions.head)
            if before is None and revisions is SHIPPED and connection.dialect.name == "sqlite":
                _make_tables(connection, revisions.head)
            else:
                _run_scripts(connection, revisions.folder)
            return before


def _touch(path: Path) -> None:
    """Make a file that only its owner may read, if there is none: SQLite would let everybody read it."""
    # Where it cannot be made, SQLite's own message follows.
    with suppress(OSError):
        path.touch(mode=0o600, exist_ok=False)


def _check_revision(revision: str | None, revisions: Revisions) -> None:
    if revision == revisions.head:
        return
    if revision is None:
        raise SchemaOutdated("The store has no tables yet; run `memu db upgrade` to make them.")
    if revision in revisions.older:
        raise SchemaOutdated(
            f"The store is of schema {revision}, this memu needs {revisions.head}; run `memu db upgrade`."
        )
    raise SchemaTooNew(
        f"The store is of schema {revision}, newer than this memu's {revisions.head}; install a newer memu."
    )


def _revision(connection: Connection) -> str | None:
    if connection.dialect.name == "postgresql":
        from memu.storage.engine_postgres import require_home

        require_home(connection)
    if not _has_version_table(connection):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _has_version_table(connection: Connection) -> bool:
    if connection.dialect.name == "sqlite":
        statement = text("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'")
        return connection.execute(statement).first() is not None
    # In the schema that is written to: another memu may have its own further down the search_path.
    statement = text("SELECT to_regclass(format('%I.alembic_version', current_schema()))")
    return connection.execute(statement).scalar() is not None


def _begin_on_server(connection: Connection) -> None:
    """Let only one upgrade run, for as long as it takes."""
    from memu.storage.engine_postgres import lift_timeouts

    lift_timeouts(connection, local=True)
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})


def _refuse_foreign_tables(connection: Connection) -> None:
    ours, server = {"alembic_version"}, connection.dialect.name == "postgresql"
    # Where no schema is named, tables of all schemas in the search_path would be listed.
    named = connection.execute(text("SELECT current_schema()")).scalar() if server else None
    others = sorted(set(inspect(connection).get_table_names(schema=named)) - ours)
    if not others:
        return
    advice = "name another with --db"
    if server:
        advice += ", or give memu a schema of its own there: CREATE SCHEMA memu, and ?options=-csearch_path%3Dmemu"
    raise StoreError(f"The database holds tables that are not memu's ({', '.join(others[:3])}); {advice}.")


def _keep_a_write_ahead_log(engine: Engine) -> None:
    """Set the file to WAL, so that readers and the writer do not wait for each other. It stays so."""
    deadline = time.monotonic() + _WAL_SECONDS
    # Outside any transaction; and SQLite does not wait by itself when several processes change the mode at once.
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        while True:
            try:
                if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    cursor.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return


def _back_up(engine: Engine, head: str) -> None:
    """Copy an embedded store beside itself. The write lock is held: the copy is what the upgrade begins with."""
    path = store_path(engine.url)
    if path is None:
        return
    target = path.with_name(f"{path.name}.before-{head}")
    partial = target.with_name(f"{target.name}.part")
    partial.unlink(missing_ok=True)
    _touch(partial)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
        source.backup(copy)
    partial.replace(target)


def _make_tables(connection: Connection, head: str) -> None:
    """What the scripts make from nothing, to the letter, in a tenth of the time; a test holds the two together."""
    metadata.create_all(connection)
    version = Table(
        "alembic_version",
        MetaData(),
        Column("version_num", String(32), nullable=False),
        PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
    )
    version.create(connection)
    connection.execute(version.insert(), {"version_num": head})


def _run_scripts(connection: Connection, folder: Path) -> None:
    from alembic import command

    command.upgrade(_configure(connection, folder), "head")


def _configure(connection: Connection, folder: Path) -> Config:
    from alembic.config import Config

    config = Config()
    # Percent signs in a path would be read as the configuration's own.
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
