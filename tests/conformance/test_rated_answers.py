"""Scores of an answer, and its explanation, through the whole workflow on every database."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from memu.providers.fakes import HashingEncoder
from memu.records import EMPTY_SCOPE, Kind, RetrieveResult
from memu.retrieve.bounds import bound
from memu.retrieve.states import ask
from memu.retrieve.workflow import retrieve_workflow
from memu.tokens import query_terms
from memu.workflow import LocalRunner

pytestmark = pytest.mark.conformance

TEXTS = {
    "deploy.md": "Deploys go out on Tuesday mornings, after the release train was cut.",
    "oncall.md": "Whoever is on call carries the phone from Monday to Monday.",
    "bread.md": "The dough rests overnight and is baked in an iron pot.",
    "garden.md": "Tomatoes are watered in the morning and never over their leaves.",
    "cats.md": "Our two cats get dry food in the morning.",
}


@pytest.fixture
def filled(store: Any) -> Any:
    for path, text in TEXTS.items():
        store.add_source(path, text)
    return store


def answer(store: Any, query: str, encoder: HashingEncoder | None = None, **more: Any) -> RetrieveResult:
    state = ask((EMPTY_SCOPE,), query, layers=["resource"], tracks=None, max_hits=5, max_words=None, **more)
    return asyncio.run(LocalRunner().run(retrieve_workflow(store.db, encoder), state)).result


def test_what_words_could_score_at_most_is_never_reached(filled: Any) -> None:
    for query in ("deploys", "release train on Tuesday", "morning", "morning nonsense", "the"):
        terms = query_terms(query, ("en",))
        most, found = filled.read(
            lambda repository, terms=terms: (repository.search.most(terms), repository.search.words(terms))
        )
        assert found
        assert all(0 < each.score < most for each in found)
    assert filled.read(lambda repository: repository.search.most([])) == 0.0


def test_a_right_hit_is_strong_and_one_of_a_common_word_is_weak(filled: Any) -> None:
    right = answer(filled, "when do deploys go out").hits[0]
    assert (right.path, right.weak) == ("deploy.md", False)
    beside = answer(filled, "which vaccine does the veterinary surgeon recommend in the morning").hits
    assert beside
    assert all(hit.weak for hit in beside)
    assert all(hit.score < right.score for hit in beside)


def test_min_score_leaves_out_what_scores_less_and_nothing_else(filled: Any) -> None:
    whole = answer(filled, "deploys in the morning")
    assert len(whole.hits) > 1
    for bar in [hit.score for hit in whole.hits]:
        kept = answer(filled, "deploys in the morning", min_score=bar)
        assert [hit.path for hit in kept.hits] == [hit.path for hit in whole.hits if hit.score >= bar]


def test_of_an_encoder_that_nobody_measured_weakness_is_not_known(filled: Any) -> None:
    encoder = HashingEncoder()

    async def embed() -> None:
        from memu.storage.vectors import quantise

        missing = await filled.db.read(
            lambda session: session.within(EMPTY_SCOPE).passages.without_vector("", limit=99)
        )
        vectors = await encoder.encode([each.text for each in missing])
        rows = quantise([each.id for each in missing], vectors, encoder.identity.dimension).rows
        await filled.db.write(
            lambda session: session.within(EMPTY_SCOPE).passages.add_vectors(
                session.encoders.register(encoder.identity).id, rows
            )
        )

    asyncio.run(embed())
    hits = answer(filled, "when do deploys go out", encoder).hits
    assert hits
    assert all(hit.weak is None and 0 < hit.score < 1 for hit in hits)


def test_an_explanation_tells_scores_filters_and_cuts_and_not_the_question(filled: Any) -> None:
    result = answer(
        filled,
        "deploys zebra in the morning",
        explain=True,
        within=bound(kinds=["document"], path="*.md", since=None),
        min_score=0.05,
    )
    told = result.to_dict()["explanation"]
    assert told["filters"] == {
        "scopes": 1,
        "layers": ["resource"],
        "tracks": ["memory", "skill"],
        "kinds": [Kind.DOCUMENT],
        "path_glob": "*.md",
    }
    assert told["found"]["words"] == told["found"]["candidates"]
    assert told["cuts"]["min_score"] == told["found"]["hits"] - len(result.hits)
    for hit in result.hits:
        assert set(hit.scores) == {"words", "fused"}
        assert hit.to_dict()["scores"]["words"] > 0
    assert "zebra" not in json.dumps(result.to_dict())
    plain = answer(filled, "deploys")
    assert plain.explanation is None
    assert "explanation" not in plain.to_dict()
    assert all(not hit.scores for hit in plain.hits)
