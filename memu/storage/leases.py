"""Lease rows: who holds a name, until when. SQLite stores use an OS file lock instead (``lock.py``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select

from memu.errors import LeaseLost
from memu.storage.engine import insert_function
from memu.storage.tables import lock

__all__ = ["Lease", "Leases"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """One holder. ``token`` is known to it alone; ``boot_id`` and ``pid`` tell the same host whether it lives."""

    name: str
    token: str
    boot_id: str
    pid: int
    process_started: str
    expires_at: datetime


class Leases:
    """Rows of ``lock``; names carry their scope themselves."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self._now = now

    def holder(self, name: str) -> Lease | None:
        """Who holds ``name``, expired or not."""
        columns = lock.c
        row = self._connection.execute(
            select(
                columns.name,
                columns.token,
                columns.boot_id,
                columns.pid,
                columns.process_started,
                columns.expires_at,
            ).where(columns.name == name)
        ).first()
        if row is None:
            return None
        return Lease(
            name=row[0], token=row[1], boot_id=row[2], pid=row[3], process_started=row[4], expires_at=row[5]
        )

    def take(self, wanted: Lease) -> Lease:
        """Take or renew a name that is free, expired or ours; returns who holds it now (compare the token)."""
        insert = insert_function(self._connection)(lock)
        changing = ("token", "boot_id", "pid", "process_started", "expires_at")
        statement = insert.on_conflict_do_update(
            index_elements=["name"],
            set_={name: insert.excluded[name] for name in changing},
            where=(lock.c.expires_at <= self._now) | (lock.c.token == wanted.token),
        )
        row = {"name": wanted.name, **{name: getattr(wanted, name) for name in changing}}
        self._connection.execute(statement, row)
        held = self.holder(wanted.name)
        assert held is not None
        return held

    def check(self, name: str, token: str) -> None:
        """Make sure that the name is still held by ``token``.

        Raises:
            LeaseLost: another has taken it over.
        """
        held = self.holder(name)
        if held is None or held.token != token:
            raise LeaseLost(f"The lock {name!r} was taken over by another process; nothing more is written.")

    def release(self, name: str, token: str) -> None:
        """Give a name back, if it is still held by ``token``."""
        self._connection.execute(delete(lock).where(lock.c.name == name, lock.c.token == token))
