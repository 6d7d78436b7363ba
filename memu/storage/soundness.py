"""Whether the store as a file is sound: what the database itself says when asked to look at every page and key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection

__all__ = ["BrokenLink", "Soundness"]

_MOST_MESSAGES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLink:
    """Rows of ``table`` whose owner in ``parent`` does not exist."""

    table: str
    parent: str
    count: int


class Soundness:
    """Checks of the whole store, whatever the scope. A server holds its keys and pages itself: nothing to ask."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._embedded = connection.dialect.name == "sqlite"

    def damage(self) -> tuple[str, ...]:
        """What is wrong with pages, indexes and constraints, in the database's words; no row's values."""
        if not self._embedded:
            return ()
        rows = self._connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST_MESSAGES})")
        told = tuple(str(row[0]) for row in rows)
        return () if told == ("ok",) else told

    def broken_links(self) -> tuple[BrokenLink, ...]:
        """Rows without their owner, by table."""
        if not self._embedded:
            return ()
        rows = self._connection.exec_driver_sql("PRAGMA foreign_key_check")
        counts = Counter((str(row[0]), str(row[2])) for row in rows)
        return tuple(
            BrokenLink(table=table, parent=parent, count=count)
            for (table, parent), count in sorted(counts.items())
        )
