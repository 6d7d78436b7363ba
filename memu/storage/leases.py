"""Lease rows: who holds a name, until when. SQLite stores use an OS file lock instead (``lock.py``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from memu.errors import LeaseLost
from memu.storage.engine import insert_function
from memu.storage.tables import lock

__all__ = ["Lease", "Leases"]

_LEASE = tuple(lock.c[name] for name in ("name", "token", "boot_id", "pid", "process_started", "expires_at"))


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
        row = self._connection.execute(select(*_LEASE).where(lock.c.name == name)).first()
        return None if row is None else _to_lease(row)

    def list(self) -> tuple[Lease, ...]:
        """All, by name."""
        rows = self._connection.execute(select(*_LEASE))
        return tuple(sorted((_to_lease(row) for row in rows), key=lambda lease: lease.name))

    def server_time(self) -> datetime:
        """What the server's clock says now, for hosts differ; on an embedded store the transaction's time."""
        if self._connection.dialect.name != "postgresql":
            return self._now
        now: datetime = self._connection.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)

    def take(self, wanted: Lease, *, over: str | None = None, now: datetime | None = None) -> Lease:
        """Take or renew a name that is free, expired or ours; returns who holds it now (compare the token).

        Args:
            over: the token of a holder that is known to be dead.
            now: the time that decides what is expired; by default the transaction's.
        """
        insert = insert_function(self._connection)(lock)
        changing = ("token", "boot_id", "pid", "process_started", "expires_at")
        statement = insert.on_conflict_do_update(
            index_elements=["name"],
            set_={name: insert.excluded[name] for name in changing},
            where=(lock.c.expires_at <= (now or self._now))
            | lock.c.token.in_([wanted.token, over or wanted.token]),
        )
        row = {"name": wanted.name, **{name: getattr(wanted, name) for name in changing}}
        self._connection.execute(statement, row)
        held = self.holder(wanted.name)
        assert held is not None
        return held

    def check(self, name: str, token: str) -> None:
        """Make sure that the name is still held by ``token``, and stays so until the transaction ends.

        Raises:
            LeaseLost: another has taken it over.
        """
        # Who would take it over waits for the row until we have committed.
        statement = select(lock.c.token).where(lock.c.name == name).with_for_update(read=True)
        if self._connection.execute(statement).scalar_one_or_none() != token:
            raise LeaseLost(f"The lock {name!r} was taken over by another process; nothing more is written.")

    def renew(self, name: str, token: str, expires_at: datetime) -> bool:
        """Let the lease of ``token`` last until then; False where it is another's by now."""
        mine = update(lock).where(lock.c.name == name, lock.c.token == token)
        return bool(self._connection.execute(mine.values(expires_at=expires_at)).rowcount)

    def release(self, name: str, token: str) -> None:
        """Give a name back, if it is still held by ``token``."""
        self._connection.execute(delete(lock).where(lock.c.name == name, lock.c.token == token))


def _to_lease(row: Row[*tuple[Any, ...]]) -> Lease:
    return Lease(name=row[0], token=row[1], boot_id=row[2], pid=row[3], process_started=row[4], expires_at=row[5])
