"""The overview step of sync: a few sentences by a model above each list of pages, if somebody asked for them.

An overview goes with the first change of a page of its track (see ``SavePage``), so it never says more than the
pages do; here it is written anew where it is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memu.errors import ProviderError
from memu.memorize.states import SyncState
from memu.records import FileProblem, RecallFile, Scope, Track
from memu.storage.database import Database
from memu.storage.session import Session

if TYPE_CHECKING:
    from memu.providers.models import ChatModels

__all__ = ["WriteOverviews"]


@dataclass(frozen=True, slots=True)
class WriteOverviews:
    """Have the overviews written that are missing, each sentence held against the pages it cites."""

    database: Database
    models: ChatModels | None

    async def __call__(self, state: SyncState) -> SyncState:
        if state.synthesize and self.models is not None:
            for track in Track:
                if (reason := await self._write(state, track, self.models)) is not None:
                    problem = FileProblem(path=f"{track.value.upper()}.md", reason=reason)
                    state = replace(state, unpatched=(*state.unpatched, problem))
        return state

    async def _write(self, state: SyncState, track: Track, models: ChatModels) -> str | None:
        """Write one track's; why it is still missing, if it is."""
        pages = await self.database.read(lambda session: _load_missing(session, state.scope, track))
        if not pages:
            return None
        # Loaded only where an overview is asked for.
        from memu.memorize.asking import ask_once
        from memu.memorize.llm.overviews import ask_about_pages, read_overview

        messages = ask_about_pages(pages)
        try:
            text = await ask_once(models.overview, state.meter, "overview", messages)
            sentences = read_overview(text, pages)
        except ProviderError as error:
            # The list below it is whole without it; the next sync that is asked for one tries again.
            return str(error)
        if not sentences:
            return "Nothing that the model said of the pages is on them."
        prompt = hashlib.sha256("".join(each.content for each in messages).encode("utf-8")).hexdigest()

        def work(session: Session) -> None:
            repository = session.within(state.scope)
            stand = [page for page in repository.pages.list() if page.track is track and page.content]
            if _version_of(stand) == _version_of(pages):
                repository.overviews.set(track, prompt, sentences)

        await self.database.write(work)
        return None


def _load_missing(session: Session, scope: Scope, track: Track) -> tuple[RecallFile, ...]:
    """The pages that an overview is missing for; none where it stands."""
    repository = session.within(scope)
    if repository.overviews.get(track) is not None:
        return ()
    return tuple(page for page in repository.pages.list() if page.track is track and page.content)


def _version_of(pages: Sequence[RecallFile]) -> dict[str, int]:
    return {page.id: page.version for page in pages}
