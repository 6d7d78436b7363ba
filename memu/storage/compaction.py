"""What deleted rows leave behind: a file is written anew without it, a server's tables are vacuumed."""

from __future__ import annotations

import time
from contextlib import closing

from sqlalchemy import Connection, Engine, text

from memu.errors import BusyError, ConfigurationError
from memu.storage.engine import store_path
from memu.storage.tables import metadata

__all__ = ["compact"]

_WAIT_SECONDS = 30.0
_PAUSE_SECONDS = 0.1


_FIND_OTHERS = text("""
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (:names)
      AND NOT pg_has_role(relowner, 'USAGE')
    ORDER BY relname
""")


def compact(engine: Engine) -> bool:
    """Let nothing deleted be read in the store any more; True where no byte of it is left in its files either.

    A file is rewritten without its free pages and its write-ahead log emptied. On a server the tables and their
    indexes are vacuumed, while others read and write; their files are not rewritten.

    Raises:
        ConfigurationError: the role does not own the server's tables.
        BusyError: readers kept the file's log in use; the store itself is compact.
    """
    if engine.dialect.name == "sqlite":
        _rewrite(engine)
        return True
    with engine.connect() as plain:
        _vacuum(plain.execution_options(isolation_level="AUTOCOMMIT"))
    return False


def _vacuum(connection: Connection) -> None:
    names = [table.name for table in metadata.sorted_tables]
    # A server skips what is not the role's with a mere warning.
    others = list(connection.execute(_FIND_OTHERS, {"names": names}).scalars())
    quoted = ", ".join(f'"{name}"' for name in names)
    if others:
        raise ConfigurationError(
            f"The role does not own {', '.join(others[:3])} …, so it may not vacuum them; what was asked is "
            f"forgotten. Let their owner run: VACUUM (INDEX_CLEANUP ON) {quoted}"
        )
    # Where little was deleted a vacuum would leave the indexes as they are, words of what is gone among them.
    connection.exec_driver_sql(f"VACUUM (INDEX_CLEANUP ON) {quoted}")


def _rewrite(engine: Engine) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    # Neither statement may stand in a transaction, so both go past SQLAlchemy, which would begin one.
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        cursor.execute("PRAGMA query_only = OFF")
        cursor.execute("VACUUM")
        if store_path(engine.url) is None:
            return
        while cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise BusyError(
                    "Other processes read the store, so its log could not be emptied; run `memu forget --purge` "
                    "again when they are done."
                )
            time.sleep(_PAUSE_SECONDS)
