"""Writing a store anew, so that nothing deleted is left in its bytes."""

from __future__ import annotations

import time
from contextlib import closing

from sqlalchemy import Engine

from memu.errors import BusyError, ConfigurationError
from memu.storage.engine import store_path

__all__ = ["compact"]

_WAIT_SECONDS = 30.0
_PAUSE_SECONDS = 0.1


def compact(engine: Engine) -> None:
    """Rewrite the store without its free pages and empty its write-ahead log.

    Raises:
        ConfigurationError: the database is a server's; its own VACUUM does this.
        BusyError: readers kept the log in use; the store itself is compact.
    """
    if engine.dialect.name != "sqlite":
        raise ConfigurationError(
            "A server's store is not compacted by memu yet; let an administrator run VACUUM on its tables."
        )
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
