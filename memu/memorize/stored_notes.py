"""What was found out about a model's address, kept in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memu.storage.database import Database

__all__ = ["StoredNotes"]


@dataclass(frozen=True, slots=True)
class StoredNotes:
    """The ``endpoint`` table as a model's memory."""

    database: Database

    async def recall(self, endpoint: str) -> Mapping[str, Any]:
        """What is known of it; empty where nothing is."""
        return await self.database.read(lambda session: session.endpoints.recall(endpoint))

    async def note(self, endpoint: str, facts: Mapping[str, Any]) -> None:
        """Add to what is known of it."""
        await self.database.write(lambda session: session.endpoints.note(endpoint, facts))
