"""The offer step of sync: which pages a model may put entries on, settled before the first file is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memu.memorize.file_survey import work_of
from memu.memorize.states import SyncState
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session

if TYPE_CHECKING:
    from memu.providers.models import ChatModels

__all__ = ["OfferNames", "list_names"]


@dataclass(frozen=True, slots=True)
class OfferNames:
    """Note the names of the pages that stand, for every prompt of this run.

    So neither which file is read first nor a crash changes a prompt: the run after a killed one offers the names
    of that one again, and finds the replies that had arrived.
    """

    database: Database
    models: ChatModels | None

    async def __call__(self, state: SyncState) -> SyncState:
        assert state.diff is not None
        if self.models is None or not work_of(state.diff):
            return state

        def work(session: Session) -> tuple[str, ...]:
            repository = session.within(state.scope)
            return repository.runs.offer_names(state.run_id, list_names(repository))

        return replace(state, offered=await self.database.write(work))


def list_names(repository: Repository) -> tuple[str, ...]:
    """The pages that stand, as ``track/name``."""
    # A page without content is only named so far, by a run that was killed or capped before it was folded.
    return tuple(sorted(f"{page.track.value}/{page.name}" for page in repository.pages.list() if page.content))
