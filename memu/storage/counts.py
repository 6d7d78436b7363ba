"""Numbers of a whole scope that take long to count, kept by a connection for as long as nobody writes.

SQLite tells a connection whether another one has committed since it looked last; what the connection writes itself
drops all (``engine``). So a number that is kept is the one that counting would give in the same snapshot. A server
tells no such thing: there everything is counted.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from sqlalchemy import Connection

from memu.storage.engine import COUNTS, is_writing

__all__ = ["Counts"]

_MOST = 10_000


@dataclass(slots=True)
class _Kept:
    version: int
    numbers: dict[Hashable, int] = field(default_factory=dict)


class Counts:
    """What one transaction may take as counted."""

    def __init__(self, connection: Connection) -> None:
        self._numbers = _numbers_of(connection)

    def find(self, key: Hashable) -> int | None:
        """The number kept for ``key``, which says all that it depends on but the rows."""
        return self._numbers.get(key) if self._numbers is not None else None

    def keep(self, key: Hashable, number: int) -> int:
        """Keep what was counted in this transaction, if it may be kept; returns it."""
        if self._numbers is not None:
            if len(self._numbers) >= _MOST:
                self._numbers.clear()
            self._numbers[key] = number
        return number


def _numbers_of(connection: Connection) -> dict[Hashable, int] | None:
    if connection.dialect.name != "sqlite" or is_writing(connection):
        return None
    # Asked inside the transaction: it is the version of the snapshot that is read.
    version = int(connection.exec_driver_sql("PRAGMA data_version").scalar_one())
    kept = connection.info.get(COUNTS)
    if not isinstance(kept, _Kept) or kept.version != version:
        kept = connection.info[COUNTS] = _Kept(version)
    return kept.numbers
