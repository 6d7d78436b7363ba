"""What deleted rows leave behind: a file is written anew without it, a server's tables are vacuumed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

from sqlalchemy import Connection, Engine, text
from sqlalchemy.engine.interfaces import DBAPICursor

from memu.errors import BusyError, ConfigurationError
from memu.storage.engine import store_path
from memu.storage.engine_postgres import unhurried
from memu.storage.tables import metadata

__all__ = ["compact"]

_PAUSE_SECONDS = 0.1

# What a server would skip with a mere warning. Who owns a database may vacuum what others own in it.
_FIND_OTHERS = """
    SELECT relname FROM pg_class c JOIN pg_database d ON d.datname = current_database()
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relname = ANY (:names)
      AND NOT (pg_has_role(relowner, 'USAGE') OR pg_has_role(d.datdba, 'USAGE'){or_maintains})
    ORDER BY relname
"""


def compact(engine: Engine, *, wait_seconds: float) -> bool:
    """Let nothing deleted be read in the store any more; True where no byte of it is left in its files either.

    A file is rewritten without its free pages and its write-ahead log emptied. On a server the tables and their
    indexes are vacuumed, while others read and write; their files are not rewritten.

    ``wait_seconds``: for readers of a file, before its log is left as it is.

    Raises:
        ConfigurationError: the role does not own the server's tables.
        BusyError: readers kept the file's log in use; the store itself is compact.
    """
    if engine.dialect.name == "sqlite":
        _rewrite(engine, wait_seconds)
        return True
    with engine.connect() as plain:
        _vacuum(plain.execution_options(isolation_level="AUTOCOMMIT"))
    return False


def _vacuum(connection: Connection) -> None:
    names = [table.name for table in metadata.sorted_tables]
    version = connection.dialect.server_version_info or ()
    or_maintains = " OR has_table_privilege(c.oid, 'MAINTAIN')" if version >= (17,) else ""
    statement = text(_FIND_OTHERS.format(or_maintains=or_maintains))
    others = list(connection.execute(statement, {"names": names}).scalars())
    schema = connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one()
    # Whoever is told to run it may search other schemas first.
    command = "VACUUM (INDEX_CLEANUP ON) " + ", ".join(f'{schema}."{name}"' for name in names)
    if others:
        raise ConfigurationError(
            f"The role does not own {', '.join(others[:3])} …, so it may not vacuum them; what was asked is "
            f"forgotten. Let their owner run: {command}"
        )
    with unhurried(connection):
        # Where little was deleted a vacuum would leave the indexes as they are, words of what is gone among them.
        connection.execute(text(command.replace(":", r"\:")))


def _rewrite(engine: Engine, wait_seconds: float) -> None:
    # Neither statement may stand in a transaction, so both go past SQLAlchemy, which would begin one.
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        cursor.execute("PRAGMA query_only = OFF")
        cursor.execute("VACUUM")
        if store_path(engine.url) is None:
            return
        waits = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        # Else it would wait for as long inside one statement as a writer waits for another.
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            _empty_log(cursor, time.monotonic() + wait_seconds)
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {waits}")


def _empty_log(cursor: DBAPICursor, deadline: float) -> None:
    while not _is_emptied(cursor):
        if time.monotonic() > deadline:
            raise BusyError(
                "Other processes read the store, so its log could not be emptied; run `memu forget --purge` "
                "again when they are done."
            )
        time.sleep(_PAUSE_SECONDS)


def _is_emptied(cursor: DBAPICursor) -> bool:
    try:
        return not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
