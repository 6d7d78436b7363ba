"""The names step of assign: what a model calls in two ways becomes one page, before any page is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from memu.memorize.assign.records import AssignCandidate
from memu.memorize.states import AssignState
from memu.records import Origin
from memu.storage.database import Database
from memu.storage.session import Session

if TYPE_CHECKING:
    from memu.memorize.assign.joining import PageName
    from memu.providers.models import ChatModels

__all__ = ["SettleNames"]

_Joined = Mapping["PageName", "PageName"]


@dataclass(frozen=True, slots=True)
class SettleNames:
    """Join the names that a model gave: spellings by rule; what may be one thing, and is new, by asking once.

    What the model joins is written into the entries, so that it is asked once. Without its answer all stay apart.
    """

    database: Database
    models: ChatModels | None

    async def __call__(self, state: AssignState) -> AssignState:
        given = {name for name in map(_name_of, state.candidates) if name is not None}
        if not given:
            return replace(state, tried=0)
        from memu.memorize.assign.joining import find_doubtful, follow, join_spellings

        spelled = join_spellings({*given, *state.standing})
        mine, standing = {spelled[name] for name in given}, {spelled[name] for name in state.standing}
        pairs = find_doubtful(mine - standing, standing)
        if state.tried and (state.due or pairs):
            # What stands apart for want of an answer is asked about as it was then: as new.
            pairs = find_doubtful(mine, standing - mine)
            state = replace(state, due=True)
        judged: _Joined = {}
        failed: str | None = None
        if self.models is not None and pairs:
            from memu.memorize.llm.page_names import judge_pairs

            judged, failed = await judge_pairs(self.models.default, state.meter, pairs)
        tried = 0 if state.due and failed is None else state.tried + (failed is not None)
        if failed is not None:
            await self.database.write(partial(_note_failure, state))
        settled = {name: follow(judged, spelled[name]) for name in given}
        moved = {name: onward for name, onward in settled.items() if onward != spelled[name]}
        if moved:
            await self._write(state, moved)
        renamed = tuple(_renamed(each, settled) for each in state.candidates)
        return replace(state, candidates=renamed, failed=failed, tried=tried)

    async def _write(self, state: AssignState, moved: _Joined) -> None:
        ids: dict[str, list[str]] = {}
        for each in state.candidates:
            name = _name_of(each)
            if name is not None and name in moved:
                ids.setdefault(moved[name][1], []).append(each.id)

        def work(session: Session) -> None:
            entries = session.within(state.scope).entries
            for hint, found in ids.items():
                entries.set_page_hint(found, hint)

        await self.database.write(work)


def _note_failure(state: AssignState, session: Session) -> None:
    session.within(state.scope).runs.note_names(state.workspace_id, failed=True)


def _name_of(candidate: AssignCandidate) -> PageName | None:
    """The page that a model named for it."""
    if candidate.origin is not Origin.MODEL or not candidate.page_hint:
        return None
    return candidate.track, candidate.page_hint


def _renamed(candidate: AssignCandidate, settled: _Joined) -> AssignCandidate:
    name = _name_of(candidate)
    return candidate if name is None else replace(candidate, page_hint=settled[name][1])
