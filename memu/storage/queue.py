"""The pages of a scope that wait to be folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func

from memu.storage.scoped import Group, linked
from memu.storage.tables import fold_queue, recall_file

__all__ = ["Queue", "QueuedPage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedPage:
    """A waiting page. ``ticket`` is what the one who folded it shows to take it off the queue."""

    file_id: str
    ticket: str


class Queue(Group):
    """Rows of ``fold_queue``."""

    def add(self, file_ids: Sequence[str]) -> None:
        """Queue pages; one that waits already gets a new ticket, so that a fold under way does not clear it."""
        rows = [{"file_id": each, "queued_at": self._scoped.now} for each in dict.fromkeys(file_ids)]
        self._scoped.upsert(fold_queue, rows, ("queued_at",))

    def list(self) -> tuple[QueuedPage, ...]:
        """All waiting pages, by (track, folded name)."""
        statement = self._scoped.select(
            fold_queue.c.file_id,
            fold_queue.c.queued_at,
            recall_file.c.track,
            recall_file.c.folded_name,
            of=fold_queue,
        ).join(recall_file, linked(fold_queue, "file_id", recall_file))
        rows = sorted(self._connection.execute(statement), key=lambda row: (row[2], row[3], row[0]))
        return tuple(QueuedPage(file_id=row[0], ticket=row[1].isoformat()) for row in rows)

    def count(self) -> int:
        """How many pages wait."""
        return int(self._connection.execute(self._scoped.select(func.count(), of=fold_queue)).scalar_one())

    def remove(self, file_id: str, ticket: str | None = None) -> bool:
        """Take a page off; with a ``ticket`` only if it was not queued anew since. Returns whether it went."""
        statement = self._scoped.delete(fold_queue).where(fold_queue.c.file_id == file_id)
        if ticket is not None:
            statement = statement.where(fold_queue.c.queued_at == datetime.fromisoformat(ticket))
        return bool(self._connection.execute(statement).rowcount)
