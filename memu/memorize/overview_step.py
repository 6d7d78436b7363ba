"""The overview step of sync: a few sentences by a model above each list of pages, if somebody asked for them.

An overview goes with the first change of a page of its track (see ``SavePage``), so it never says more than the
pages do; here it is written anew where it is missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memu.errors import ProviderError
from memu.memorize.asking import ask_once
from memu.memorize.states import SyncState
from memu.providers.models import ChatModels
from memu.providers.protocols import ChatMessage
from memu.providers.replies import parse_items
from memu.records import OverviewSentence, RecallFile, Scope, Track
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["WriteOverviews"]

_MOST_PAGES, _MOST_SENTENCES = 60, 6
_PAGE_CHARS, _ALL_CHARS, _SENTENCE_CHARS = 600, 16_000, 400
_MARKS = re.compile(r"[ \t]*\[\^[a-z2-7]{5,52}\]")


def _read_names(value: object) -> object:
    return [str(each).strip("[] ").lower() for each in value] if isinstance(value, list) else value


class _Sentence(BaseModel):
    """One sentence as a model gives it."""

    model_config = ConfigDict(frozen=True)

    text: str
    cites: Annotated[tuple[str, ...], BeforeValidator(_read_names)]


@dataclass(frozen=True, slots=True)
class WriteOverviews:
    """Have the overviews written that are missing, each sentence held against the pages it cites."""

    database: Database
    models: ChatModels | None

    async def __call__(self, state: SyncState) -> SyncState:
        if state.synthesize and self.models is not None:
            for track in Track:
                await self._write(state, track, self.models)
        return state

    async def _write(self, state: SyncState, track: Track, models: ChatModels) -> None:
        pages = await self.database.read(lambda session: _load_missing(session, state.scope, track))
        if not pages:
            return
        messages = _ask_about(pages)
        try:
            text = await ask_once(models.overview, state.meter, "overview", messages)
            sentences = _check(parse_items(text, _Sentence).items, pages)
        except ProviderError:
            # The list below it is whole without it; the next sync that is asked for one tries again.
            return
        if not sentences:
            return
        prompt = hashlib.sha256("".join(each.content for each in messages).encode("utf-8")).hexdigest()

        def work(session: Session) -> None:
            repository = session.within(state.scope)
            stand = [page for page in repository.pages.list() if page.track is track and page.content]
            if _version_of(stand) == _version_of(pages):
                repository.overviews.set(track, prompt, sentences)

        await self.database.write(work)


def _load_missing(session: Session, scope: Scope, track: Track) -> tuple[RecallFile, ...]:
    """The pages that an overview is missing for; none where it stands."""
    repository = session.within(scope)
    if repository.overviews.get(track) is not None:
        return ()
    return tuple(page for page in repository.pages.list() if page.track is track and page.content)


def _version_of(pages: Sequence[RecallFile]) -> dict[str, int]:
    return {page.id: page.version for page in pages}


def _ask_about(pages: Sequence[RecallFile]) -> tuple[ChatMessage, ...]:
    room, shown = _ALL_CHARS, []
    for number, page in enumerate(pages[:_MOST_PAGES], 1):
        beginning = " ".join(_plain(page).split())[:_PAGE_CHARS]
        line = f"p{number}| {' '.join(page.name.split())}: {beginning}"
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    listed = "\n".join(shown)
    return (
        ChatMessage(role="system", content=_template()),
        ChatMessage(role="user", content=f"<pages>\n{listed}\n</pages>"),
    )


def _check(given: Sequence[_Sentence], pages: Sequence[RecallFile]) -> tuple[OverviewSentence, ...]:
    """The sentences whose names, numbers, dates and quotes stand on the pages that they cite."""
    from memu.memorize.llm.grounding import ungrounded

    by_name = {f"p{number}": page for number, page in enumerate(pages[:_MOST_PAGES], 1)}
    kept = []
    for sentence in given[:_MOST_SENTENCES]:
        cited = [by_name[name] for name in dict.fromkeys(sentence.cites) if name in by_name]
        text = " ".join(sentence.text.split())
        backed = cited and not ungrounded(text, [f"{page.name}\n{_plain(page)}" for page in cited])
        if backed and 0 < len(text) <= _SENTENCE_CHARS:
            kept.append(OverviewSentence(text=text, pages=tuple(page.id for page in cited)))
    return tuple(kept)


def _plain(page: RecallFile) -> str:
    return _MARKS.sub("", page.content)


@cache
def _template() -> str:
    raw = resources.files("memu.memorize").joinpath("prompts").joinpath("overview.md").read_text(encoding="utf-8")
    return raw.partition("\n")[2].strip()
