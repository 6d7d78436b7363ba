"""The names step of assign: what a model calls in two ways becomes one page, before any page is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from pydantic import BaseModel

from memu.errors import ProviderError
from memu.memorize.asking import ask_once
from memu.memorize.assign.joining import PageName, find_doubtful, follow, join_spellings
from memu.memorize.assign.records import AssignCandidate
from memu.memorize.states import AssignState
from memu.providers.models import ChatModels
from memu.providers.protocols import ChatMessage
from memu.providers.replies import parse_items
from memu.records import Origin
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["SettleNames"]

_Joined = Mapping[PageName, PageName]


class _Verdict(BaseModel):
    """That the pair of this number is one thing."""

    pair: int
    same: bool


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
            return state
        spelled = join_spellings({*given, *state.standing})
        new = {spelled[name] for name in given} - {spelled[name] for name in state.standing}
        pairs = find_doubtful(new, {spelled[name] for name in state.standing})
        judged = await self._judge(state, pairs) if self.models and pairs else {}
        settled = {name: follow(judged, spelled[name]) for name in given}
        moved = {name: onward for name, onward in settled.items() if onward != spelled[name]}
        if moved:
            await self._write(state, moved)
        return replace(state, candidates=tuple(_renamed(each, settled) for each in state.candidates))

    async def _judge(self, state: AssignState, pairs: Sequence[tuple[PageName, PageName]]) -> _Joined:
        """The first name of each pair → the second, where the model says that they are one."""
        assert self.models is not None
        shown = [{"pair": n, "one": one[1], "other": other[1]} for n, (one, other) in enumerate(pairs, 1)]
        messages = (
            ChatMessage(role="system", content=_template()),
            ChatMessage(role="user", content=json.dumps(shown, ensure_ascii=False)),
        )
        try:
            text = await ask_once(self.models.default, state.meter, "names", messages)
            verdicts = parse_items(text, _Verdict).items
        except ProviderError:
            # Names that stay apart are no fault that anybody has to hear of: two pages are found as well as one.
            return {}
        said = {verdict.pair for verdict in verdicts if verdict.same}
        return {one: other for n, (one, other) in enumerate(pairs, 1) if n in said}

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


def _name_of(candidate: AssignCandidate) -> PageName | None:
    """The page that a model named for it."""
    if candidate.origin is not Origin.MODEL or not candidate.page_hint:
        return None
    return candidate.track, candidate.page_hint


def _renamed(candidate: AssignCandidate, settled: _Joined) -> AssignCandidate:
    name = _name_of(candidate)
    return candidate if name is None else replace(candidate, page_hint=settled[name][1])


@cache
def _template() -> str:
    raw = resources.files("memu.memorize").joinpath("prompts").joinpath("names.md").read_text(encoding="utf-8")
    return raw.partition("\n")[2].strip()
