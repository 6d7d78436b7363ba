"""The assign step of sync: pages are settled where a source changed, or names of pages were left unsettled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memu.errors import CapReached
from memu.memorize.file_work import Carry
from memu.memorize.retries import is_due
from memu.memorize.states import AssignState, SyncState
from memu.records import FileProblem
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["AssignPages"]

_NAMES = "names of pages"


@dataclass(frozen=True, slots=True)
class AssignPages:
    """Settle over all sources which page each entry stands on, if any source changed since the last time.

    Also where a model that is there (``asks``) gave no use for names of pages, and it is due to ask it again.
    """

    database: Database
    carry: Carry
    asks: bool

    async def __call__(self, state: SyncState) -> SyncState:
        assert state.workspace is not None
        changed, tried, due = await self.database.read(lambda session: self._look(session, state))
        if not changed and not (tried and due):
            return replace(state, unpatched=(_left(_later(tried)),)) if tried else state
        assigning = AssignState(
            scope=state.scope, workspace_id=state.workspace.id, meter=state.meter, tried=tried, due=due
        )
        # What is new waits for the run that may ask whether its pages stand already; nothing is named twice.
        try:
            done = await self.carry("assign", assigning)
        except CapReached as cap:
            return replace(state, unpatched=(_left(str(cap)),))
        if tried and not done.tried:
            # Only now: killed before, they would be taken for settled, and their pages not be joined.
            await self.database.write(lambda session: self._settle(session, assigning))
        failed = done.failed or (_later(done.tried) if done.tried else None)
        return replace(state, unpatched=(_left(failed),)) if failed is not None else state

    def _look(self, session: Session, state: SyncState) -> tuple[bool, int, bool]:
        """Whether a source changed; how many times names were asked about in vain; whether it is due again."""
        assert state.workspace is not None
        repository = session.within(state.scope)
        workspace = repository.workspaces.get(state.workspace.id)
        if workspace is None:
            return False, 0, False
        tried, at = repository.runs.names_failures(workspace.id) if self.asks else (0, None)
        return workspace.assigned != workspace.version, tried, state.retry_failed or is_due(tried, at, session.now)

    @staticmethod
    def _settle(session: Session, assigned: AssignState) -> None:
        session.within(assigned.scope).runs.note_names(assigned.workspace_id, failed=False)


def _left(reason: str) -> FileProblem:
    return FileProblem(path=_NAMES, reason=reason)


def _later(tried: int) -> str:
    return f"A model gave no use {tried} times; it is asked again later, or now with --retry-failed."
