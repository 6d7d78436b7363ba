"""What was said later comes first: a statement that takes the place of one that was found stands in front of it.

Who asks for a thing asks in the words of the time when it was told, so that what changed since may share no word
with the question. It names what it replaces, though, and that is what the older statement is about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memu.records import Layer
from memu.retrieve.current_values import Asked, find_asked
from memu.retrieve.finding import languages_of, wanted_by
from memu.retrieve.states import RetrieveState
from memu.retrieve.turns import find_cards
from memu.storage.database import Database
from memu.storage.owners import FoundPassage
from memu.storage.repository import Repository
from memu.storage.session import Session
from memu.supersession import (
    TOLD,
    Statement,
    find_superseded,
    holds_name,
    is_later,
    list_names,
    split_told,
    supersedes,
)
from memu.tokens import QueryTerm, index_terms, query_terms

__all__ = ["FollowChanges", "put_last_first", "put_newer_first"]

_LOOKED_AT = 5
_MAX_NAMES = 24
_DEPTH = 100


@dataclass(frozen=True, slots=True)
class FollowChanges:
    """Look up what was said later of the things that the best hits name, and put it in front of them."""

    database: Database

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        best = _best_told(state)
        asked = find_asked(state.text) if best else None
        names = list_names(_text_of(state.found[each]) for each in best)[:_MAX_NAMES]
        if not names and asked is None:
            return state
        return await self.database.read(lambda session: self._follow(session, state, best, names, asked))

    def _follow(
        self,
        session: Session,
        state: RetrieveState,
        best: Sequence[str],
        names: Sequence[str],
        asked: Asked | None,
    ) -> RetrieveState:
        repository = session.within(state.scopes[0]) if len(state.scopes) == 1 else session.across(state.scopes)
        looked_for = [*names, *(asked.words if asked else ())]
        found = {**_find_named(repository, state, looked_for), **state.found}
        terms = query_terms(state.text, languages_of(state, repository))
        ratings, earlier = put_newer_first(best, found, state.ratings, terms)
        if asked is not None:
            ratings, before = put_last_first(best, found, ratings, asked)
            earlier |= before
        if ratings == state.ratings and not earlier:
            return state
        kept = {each: found[each] for each in found if each in state.found or each in ratings}
        cards = find_cards(repository, kept.values())
        return replace(state, found=kept, ratings=ratings, earlier=earlier, cards=cards)


def put_newer_first(
    best: Sequence[str],
    found: Mapping[str, FoundPassage],
    ratings: Mapping[str, float],
    asked: Sequence[QueryTerm] = (),
) -> tuple[dict[str, float], frozenset[str]]:
    """The ratings with what was said later just above what it takes the place of, and the ids of the latter.

    Args:
        best: the passages that are looked at, best first; none of them loses more than the least difference.
        found: those and whatever else may take their place, by id.
        asked: the words of the question. Where they stand in other sentences than what was replaced, it asks for
            something else, and nothing goes up.
    """
    changed = dict(ratings)
    earlier: set[str] = set()
    for each in best:
        newer = _find_newest(found[each], found)
        if newer is None:
            continue
        earlier.add(each)
        if changed.get(newer, -1.0) <= changed[each] and _is_asked(found[each], found[newer], asked):
            changed[newer] = changed[each]
            changed[each] = math.nextafter(changed[each], 0.0)
    return changed, frozenset(earlier)


def put_last_first(
    best: Sequence[str], found: Mapping[str, FoundPassage], ratings: Mapping[str, float], asked: Asked
) -> tuple[dict[str, float], frozenset[str]]:
    """The ratings with the last that was told of what is asked for above the best that tells it, among entries and
    among passages; and the ids of those of the best that tell an earlier value.
    """
    changed = dict(ratings)
    earlier: set[str] = set()
    telling = [each for each in best if asked.is_told(_text_of(found[each]))]
    for of_entries in (True, False):
        alike = [each for each in telling if (found[each].entry is not None) is of_entries]
        last = _find_last_told(found[alike[0]], found, asked) if alike else None
        if last is None:
            continue
        top = changed[alike[0]]
        if changed.get(last, -1.0) <= top:
            changed[last] = top
            changed[alike[0]] = math.nextafter(top, 0.0)
        value = _text_of(found[last])
        earlier.update(each for each in alike if each != last and asked.differ(_text_of(found[each]), value))
    return changed, frozenset(earlier)


def _find_last_told(first: FoundPassage, found: Mapping[str, FoundPassage], asked: Asked) -> str | None:
    """The last in which who told ``first`` tells anew what is asked for; None where that is ``first``."""
    before = _state(first)
    named = [name for name in asked.names if holds_name(before.text, name)]
    telling = [
        each
        for each, other in found.items()
        if _may_follow(first, other)
        and _state(other).speaker == before.speaker
        and is_later(_state(other), before)
        and asked.is_newly_told(_text_of(other))
        and all(holds_name(_text_of(other), name) for name in named)
    ]
    return _find_last(telling, found)


def _find_newest(older: FoundPassage, found: Mapping[str, FoundPassage]) -> str | None:
    """The last said of what takes the place of ``older``."""
    before = _state(older)
    taking = [
        each for each, other in found.items() if _may_follow(older, other) and supersedes(_state(other), before)
    ]
    return _find_last(taking, found)


def _find_last(taking: Sequence[str], found: Mapping[str, FoundPassage]) -> str | None:
    last: str | None = None
    for each in sorted(taking, key=lambda each: _place_of(found[each])):
        if last is None or is_later(_state(found[each]), _state(found[last])):
            last = each
    return last


def _is_asked(older: FoundPassage, newer: FoundPassage, asked: Sequence[QueryTerm]) -> bool:
    """Whether the question speaks of what was replaced no less than of what else the older one tells."""
    before = _state(older)
    names = find_superseded(_state(newer), before)
    own, other = 0, 0
    for sentence in split_told(before.text):
        terms = index_terms(sentence, older.passage.language)
        count = sum(not terms.keys().isdisjoint(each.variants) for each in asked)
        if any(holds_name(sentence, name) for name in names):
            own = max(own, count)
        else:
            other = max(other, count)
    return own >= other


def _may_follow(older: FoundPassage, other: FoundPassage) -> bool:
    if other.resource is None or older.resource is None or other.resource.kind not in TOLD:
        return False
    return (other.entry is None) is (
        older.entry is None
    ) and other.resource.workspace_id == older.resource.workspace_id


def _best_told(state: RetrieveState) -> list[str]:
    """The best-rated passages in which somebody tells something."""
    told = [each for each in state.ratings if _is_told(state.found[each])]
    return sorted(told, key=lambda each: (-state.ratings[each], *_place_of(state.found[each])))[:_LOOKED_AT]


def _is_told(found: FoundPassage) -> bool:
    return found.resource is not None and found.resource.kind in TOLD


def _find_named(repository: Repository, state: RetrieveState, names: Sequence[str]) -> Mapping[str, FoundPassage]:
    wanted = wanted_by(state)
    kinds = TOLD if wanted.kinds is None else wanted.kinds & TOLD
    layers = (wanted.layers or frozenset(Layer)) - {Layer.FILE}
    if not kinds or not layers or not names:
        return {}
    terms = query_terms(" ".join(names), languages_of(state, repository))
    scored = repository.search.words(terms, replace(wanted, kinds=kinds, layers=layers), _DEPTH)
    return repository.passages.hydrate([each.id for each in scored])


def _place_of(found: FoundPassage) -> tuple[str, int, int, str]:
    """What comes first of those that are alike, in every store of the same sources: ids are drawn at random."""
    told = _state(found)
    return told.path, told.line, told.ordinal, found.passage.id


def _text_of(found: FoundPassage) -> str:
    return found.entry.text if found.entry is not None else found.passage.text


def _state(found: FoundPassage) -> Statement:
    passage, entry, resource = found.passage, found.entry, found.resource
    path = resource.path if resource is not None else ""
    # The last line of a passage's header is who speaks.
    speaker = entry.label if entry is not None else passage.header.rpartition("\n")[2]
    return Statement(
        text=_text_of(found),
        speaker=speaker,
        time=passage.happened_at,
        path=path,
        line=passage.lines.start if passage.lines else 0,
        ordinal=entry.ordinal if entry is not None else passage.ordinal,
    )
