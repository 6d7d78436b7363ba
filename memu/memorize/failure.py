"""The record of a sync that did not come to its end: what a monitor sees until the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memu.errors import MemuError, StoreError
from memu.records import Scope
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["FailureNote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureNote:
    """Notes that a sync of a known folder failed. It began at ``began``; its lock is still held."""

    database: Database
    scope: Scope
    root: Path
    began: datetime
    extractor: str
    encoder: str | None

    async def write(self, error: MemuError) -> None:
        """Store the error in the sync's run, or in a new one if it failed before it had any.

        A folder that is no workspace yet gets no row; where the store is what failed, nothing can be noted.
        """
        try:
            root = str(self.root)
            known = await self.database.read(lambda session: session.within(self.scope).workspaces.find(root=root))
            if known is not None:
                await self.database.write(lambda session: self._note(session, known.id, str(error)))
        except StoreError as second:
            error.add_note(f"and the failure could not be noted: {second}")

    def _note(self, session: Session, workspace_id: str, message: str) -> None:
        runs = session.within(self.scope).runs
        run = runs.last(workspace_id)
        if run is None or run.state != "running" or run.started_at < self.began:
            run = runs.start(workspace_id, extractor=self.extractor, encoder=self.encoder)
        runs.finish(replace(run, state="failed", error=message))
