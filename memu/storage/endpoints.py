"""What was found out once about a model behind an address, so that no run has to find out again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from memu.storage.engine import insert_function
from memu.storage.tables import endpoint

__all__ = ["Endpoints"]


class Endpoints:
    """Rows of ``endpoint``; they belong to no scope."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self._now = now

    def recall(self, name: str) -> Mapping[str, Any]:
        """What is known of it; empty where nothing is."""
        found = select(endpoint.c.facts).where(endpoint.c.name == name)
        return dict(self._connection.execute(found).scalar_one_or_none() or {})

    def note(self, name: str, facts: Mapping[str, Any]) -> None:
        """Add to what is known of it; what is known already is written once."""
        known = self.recall(name)
        together = {**known, **facts}
        if together == known:
            return
        row = {"name": name, "facts": together, "updated_at": self._now}
        insert = insert_function(self._connection)(endpoint)
        changed = {each: insert.excluded[each] for each in ("facts", "updated_at")}
        self._connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=changed), [row])
