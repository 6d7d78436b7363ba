"""The one read of a search: both sides' best passages, scored by both, with what they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memu.errors import EncoderMismatch
from memu.records import Layer
from memu.retrieve.asking import only_asks, write_patterns
from memu.retrieve.ranking import Candidate, RankingPolicy, names_only
from memu.retrieve.states import RetrieveState
from memu.retrieve.turns import find_cards
from memu.storage.database import Database
from memu.storage.owners import FoundPassage
from memu.storage.repository import Repository
from memu.storage.search import ScoredPassage, SearchFilter
from memu.storage.session import Session
from memu.tokens import QueryTerm, query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memu.providers.protocols import Encoder

__all__ = ["SearchPassages", "languages_of", "wanted_by"]

_NO_VECTORS = "words only: nothing in the store has a vector yet; the next sync makes them"
_UNFINISHED = "words only: a reindex was begun and has not ended; `memu reindex` goes on with it"
_MAX_TERMS = 64
_MAX_LANGUAGES = 4


@dataclass(frozen=True, slots=True)
class SearchPassages:
    """Find the candidates in one read of the store, words and vectors from the same snapshot."""

    database: Database
    encoder: Encoder | None
    policy: RankingPolicy

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        return await self.database.read(lambda session: self._search(session, state))

    def _search(self, session: Session, state: RetrieveState) -> RetrieveState:
        repository = session.within(state.scopes[0]) if len(state.scopes) == 1 else session.across(state.scopes)
        languages = languages_of(state, repository)
        terms = query_terms(state.text, languages)[:_MAX_TERMS]
        vector, encoder_id, reason = self._vector(session, state)
        sides = _Sides(repository, terms, vector, encoder_id, wanted_by(state), self.policy.depth)
        candidates, found = sides.gather()
        return replace(
            state,
            names_only=names_only(terms),
            most_words=repository.search.most(terms),
            candidates=candidates,
            found=found,
            cards=find_cards(repository, found.values()),
            earlier=frozenset(),
            degraded=(*state.degraded, reason) if reason else state.degraded,
        )

    def _vector(
        self, session: Session, state: RetrieveState
    ) -> tuple[NDArray[np.float32] | None, str, str | None]:
        """The question's vector and the store's encoder to compare it with, or why there is none."""
        if self.encoder is None or state.vector is None:
            return None, "", None
        try:
            stored = session.encoders.check(self.encoder.identity)
        except EncoderMismatch as error:
            return None, "", str(error)
        if stored is None:
            return None, "", _UNFINISHED if session.encoders.list() else _NO_VECTORS
        import numpy as np

        return np.array(state.vector, dtype=np.float32), stored.id, None


@dataclass(frozen=True, slots=True)
class _Sides:
    repository: Repository
    terms: Sequence[QueryTerm]
    vector: NDArray[np.float32] | None
    encoder_id: str
    wanted: SearchFilter
    depth: int

    def gather(self) -> tuple[tuple[Candidate, ...], Mapping[str, FoundPassage]]:
        words = self._words(self.terms, self.wanted, self.depth)
        nearest = self._nearest(self.wanted, self.depth)
        # In a sentence a name weighs as its rarity has it; more than that gained nothing.
        named = [term for term in self.terms if term.exact] if names_only(self.terms) else []
        exact = self._words(named, self.wanted, self.depth) if named else []
        ids = list(dict.fromkeys(each.id for each in (*words, *nearest, *exact)))
        by_words = self._complete(words, ids, self.terms)
        by_cosine = _scores(nearest) | _scores(self._nearest(*self._rest(ids, nearest)))
        by_name = self._complete(exact, ids, named) if named else {}
        found = self.repository.passages.hydrate(ids)
        ranks = {"words": _places(words), "vector": _places(nearest)}
        asking = write_patterns(self.terms)
        return tuple(
            Candidate(
                id=each,
                words=by_words.get(each, 0.0),
                cosine=by_cosine.get(each),
                exact=each in by_name,
                asks=only_asks(found[each].passage, asking),
                kind=found[each].passage.kind,
                language=found[each].passage.language,
                ranks={side: places[each] for side, places in ranks.items() if each in places},
            )
            for each in found
        ), found

    def _complete(
        self, some: Sequence[ScoredPassage], ids: Sequence[str], terms: Sequence[QueryTerm]
    ) -> dict[str, float]:
        wanted, limit = self._rest(ids, some)
        return _scores(some) | _scores(self._words(terms, wanted, limit))

    def _rest(self, ids: Sequence[str], some: Sequence[ScoredPassage]) -> tuple[SearchFilter, int]:
        """The filter for the candidates that a side has yet to score, and how many they are.

        A list that is not full holds all that the side can score.
        """
        rest = frozenset(ids) - {each.id for each in some} if len(some) == self.depth else frozenset()
        return replace(self.wanted, among=rest), len(rest)

    def _words(self, terms: Sequence[QueryTerm], wanted: SearchFilter, limit: int) -> list[ScoredPassage]:
        return self.repository.search.words(terms, wanted, limit) if terms and limit else []

    def _nearest(self, wanted: SearchFilter, limit: int) -> list[ScoredPassage]:
        if self.vector is None or not limit:
            return []
        return self.repository.search.nearest(self.vector, self.encoder_id, wanted, limit)


def wanted_by(state: RetrieveState) -> SearchFilter:
    """The filter of what may be found, hits of pages through their entries."""
    # Most of what a page says is found through its entries.
    layers = state.layers | {Layer.ENTRY} if Layer.FILE in state.layers else state.layers
    return replace(state.within, layers=layers, tracks=state.tracks)


def languages_of(state: RetrieveState, repository: Repository) -> tuple[str, ...]:
    """The question's language first; English is always among them, for it stems what no language is known of."""
    own = [state.language] if state.language else []
    return tuple(dict.fromkeys((*own, *repository.resources.languages()[:_MAX_LANGUAGES], "en")))


def _scores(passages: Sequence[ScoredPassage]) -> dict[str, float]:
    return {each.id: each.score for each in passages}


def _places(passages: Sequence[ScoredPassage]) -> dict[str, int]:
    return {each.id: place for place, each in enumerate(passages, start=1)}
