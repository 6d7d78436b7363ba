"""How well a store answers questions whose answer's place is known: recall by words, by vectors and by both.

Recall@k is the share of questions for which one of the first k hits holds the place: a source or an entry that
lies in its lines, or a page that rests on such an entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memu.arguments import require_text
from memu.errors import ConfigurationError
from memu.providers.protocols import Encoder
from memu.records import Hit, Layer, LineSpan, Scope
from memu.retrieve.ranking import RankingPolicy
from memu.retrieve.states import RetrieveState
from memu.retrieve.workflow import retrieve_workflow
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.workflow import LocalRunner, Workflow

__all__ = ["ALL_LAYERS", "DEPTHS", "EvalReport", "Evaluator", "Question"]

DEPTHS = (1, 5, 10)
"""The numbers of hits at which recall is told."""

ALL_LAYERS = "all"
"""Stands for an answer of every layer together, as a search gives it."""

Place = tuple[str, LineSpan | None]
"""A source's path and lines; None for those of a hit that has a place instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What somebody may ask, and where its answer stands: a source's path, and its lines if only they will do."""

    query: str
    path: str
    lines: LineSpan | None = None

    @classmethod
    def of(cls, given: object) -> Question:
        """From ``{"query": …, "path": …, "lines": [10, 12]}``; ``lines`` may be left out.

        Raises:
            ConfigurationError: it is not of that form.
        """
        if not isinstance(given, Mapping):
            raise ConfigurationError(
                f"A question is an object with query, path and lines, and no {type(given).__name__}."
            )
        unknown = sorted(given.keys() - {"query", "path", "lines"})
        if unknown:
            raise ConfigurationError(f"A question has query, path and lines, and no {unknown[0]!r}.")
        for name in ("query", "path"):
            if not isinstance(given.get(name), str) or not given[name].strip():
                raise ConfigurationError(f"A question needs {name!r}, a text that is not empty.")
        return cls(query=given["query"], path=given["path"], lines=_read_lines(given.get("lines")))


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """How a store answered.

    recall: side ("words", "vectors", "fused") → layer ("all", or one alone) → recall@k in the order of ``DEPTHS``.
        Without an encoder there is only "words".
    missed: the questions that no hit among the ten of a search answers, as query and path.
    unknown: the paths that questions name and the store has no source of; these questions count as missed.
    """

    questions: int
    recall: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    missed: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()
    degraded: str | None = None

    @property
    def side(self) -> str:
        """The side that a search takes: "fused" where there are vectors."""
        return "fused" if "fused" in self.recall else "words"

    def at(self, depth: int) -> float:
        """Recall at this depth of the answers that a search gives.

        Raises:
            ConfigurationError: it is none of ``DEPTHS``.
        """
        if depth not in DEPTHS:
            raise ConfigurationError(f"Recall is told at {', '.join(map(str, DEPTHS))}, not at {depth}.")
        return self.recall[self.side][ALL_LAYERS][DEPTHS.index(depth)]

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        recall = {
            side: {layer: dict(zip(map(str, DEPTHS), values, strict=True)) for layer, values in layers.items()}
            for side, layers in self.recall.items()
        }
        missed = [{"query": query, "path": path} for query, path in self.missed]
        told = {"recall": recall, "missed": missed, "unknown": list(self.unknown), "degraded": self.degraded}
        return {"schema": 1, "questions": self.questions, **told}


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Asks a store. Every question is searched as often as there are sides and layers; nothing is written."""

    database: Database
    encoder: Encoder | None

    async def evaluate(self, scope: Scope, questions: Sequence[Question]) -> EvalReport:
        """Ask each question of the scope and see how far down its answer stands.

        Raises:
            ConfigurationError: there is no question, or one holds what no text does.
        """
        if not questions:
            raise ConfigurationError("There is no question to ask.")
        for each in questions:
            require_text("query", each.query)
            require_text("path", each.path)
        known = await self._known(scope, {each.path for each in questions})
        sides = {"words": retrieve_workflow(self.database, None)}
        if self.encoder is not None:
            sides["vectors"] = retrieve_workflow(self.database, self.encoder, RankingPolicy(vector_weight=1.0))
            sides["fused"] = retrieve_workflow(self.database, self.encoder)
        layers = {ALL_LAYERS: frozenset(Layer), **{layer.value: frozenset([layer]) for layer in Layer}}
        ranks: dict[str, dict[str, list[int | None]]] = {side: {name: [] for name in layers} for side in sides}
        degraded: dict[str, None] = {}
        for question in questions:
            for side, workflow in sides.items():
                for name, wanted in layers.items():
                    rank, reason = await self._ask(workflow, scope, question, wanted)
                    ranks[side][name].append(rank)
                    if side != "words" and reason:
                        degraded[reason] = None
        asked = ranks["fused" if "fused" in sides else "words"][ALL_LAYERS]
        return EvalReport(
            questions=len(questions),
            recall={side: {name: _recall(of) for name, of in each.items()} for side, each in ranks.items()},
            missed=tuple((each.query, each.path) for each, rank in zip(questions, asked, strict=True) if not rank),
            unknown=tuple(sorted({each.path for each in questions} - known)),
            degraded="; ".join(degraded) or None,
        )

    async def _known(self, scope: Scope, paths: set[str]) -> set[str]:
        return await self.database.read(
            lambda session: {path for path in paths if session.within(scope).resources.at(path)}
        )

    async def _ask(
        self, workflow: Workflow[RetrieveState], scope: Scope, question: Question, layers: frozenset[Layer]
    ) -> tuple[int | None, str | None]:
        """The rank of the first hit that holds the answer, from 1, None where none does; and what was degraded."""
        state = RetrieveState(scopes=(scope,), query=question.query, layers=layers, max_hits=DEPTHS[-1])
        result = (await LocalRunner().run(workflow, state)).result
        hits = await self.database.read(lambda session: _locate(session.within(scope), result.hits))
        ranked = (rank for rank, places in enumerate(hits, 1) if any(_holds(place, question) for place in places))
        return next(ranked, None), result.degraded


def _locate(repository: Repository, hits: Sequence[Hit]) -> list[list[Place]]:
    """The places that each hit shows: its own, or those of the entries that a page rests on."""
    places: list[list[Place]] = []
    for hit in hits:
        if hit.layer is Layer.FILE:
            resting = repository.entries.of_page(hit.id)
            places.append([(each.resource.path, each.entry.lines) for each in resting])
        else:
            places.append([(hit.path or "", hit.lines)])
    return places


def _holds(place: Place, question: Question) -> bool:
    path, lines = place
    if path != question.path:
        return False
    if question.lines is None or lines is None:
        return True
    return lines.start <= question.lines.end and question.lines.start <= lines.end


def _recall(ranks: Sequence[int | None]) -> tuple[float, ...]:
    return tuple(sum(rank is not None and rank <= depth for rank in ranks) / len(ranks) for depth in DEPTHS)


def _read_lines(given: object) -> LineSpan | None:
    if given is None:
        return None
    numbers = [each for each in given if type(each) is int and each > 0] if isinstance(given, list) else []
    if not isinstance(given, list) or len(numbers) != 2 or len(given) != 2:
        raise ConfigurationError(f"The lines of a question are [first, last], counted from 1, not {given!r}.")
    first, last = numbers
    if first > last:
        raise ConfigurationError(f"The lines {given!r} of a question end before they begin.")
    return LineSpan(first, last)
