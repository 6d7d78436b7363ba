"""Words are summed by the database or, in one scope of a file, by us: scores and order are the same."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from memu.records import EMPTY_SCOPE, Kind, Scope
from memu.storage.search import EVERYTHING, ScoredPassage, SearchFilter, WordWeights
from memu.storage.session import Session
from memu.tokens import QueryTerm

pytestmark = pytest.mark.conformance

WORDS = [f"w{at}x" for at in range(30)]
PASSAGES = 400
NOBODY = Scope.of({"user_id": "nobody"})


@pytest.mark.parametrize("seed", range(3))
def test_a_scope_alone_ranks_as_together_with_an_empty_one(store: Any, make: Any, seed: int) -> None:
    """Short texts of few words, so that many tie; words in most passages, and in few; filters that leave few."""
    chance = random.Random(seed)

    def fill(repository: Any) -> list[str]:
        workspace = repository.workspaces.add(name=None, root="/notes")
        ids: list[str] = []
        for at in range(PASSAGES // 20):
            kind = chance.choice([Kind.CHAT, Kind.DOCUMENT, Kind.CODE])
            folder = "few" if at % 10 == 0 else "many"
            resource = repository.resources.save(make.resource(workspace, f"{folder}/{at:03}.md", kind=kind))
            texts = (chance.choices(WORDS, weights=range(1, 31), k=chance.randint(1, 12)) for _ in range(20))
            passages = [
                make.passage(" ".join(text), header=chance.choice(WORDS), kind=kind, ordinal=place, line=place + 1)
                for place, text in enumerate(texts)
            ]
            ids += repository.passages.replace_for_resource(resource.id, passages)
        return ids

    ids = store.write(fill)
    store.db.write_now(lambda session: session.within(NOBODY))
    filters = [
        EVERYTHING,
        SearchFilter(path_glob="few/**"),
        SearchFilter(kinds=frozenset({Kind.CHAT})),
        SearchFilter(among=frozenset(chance.sample(ids, 30))),
        SearchFilter(path_glob="few/**", among=frozenset(ids[:100])),
    ]
    for _ in range(25):
        order = chance.sample(WORDS, chance.randint(1, 9))
        cuts = sorted({0, *chance.choices(range(len(order)), k=3), len(order)})
        groups = [order[start:end] for start, end in pairwise(cuts)]
        terms = [QueryTerm(variants=tuple(group)) for group in groups]
        weights = chance.choice([None, WordWeights(common_from=20, common_share=0.1), WordWeights(k1=2.0, b=0.2)])
        limit = chance.choice([1, 5, 20, 1000])
        more = {"limit": limit, "weights": weights}
        for wanted in filters:
            assert_alike(store, terms, wanted, more)


def assert_alike(store: Any, terms: Sequence[QueryTerm], wanted: SearchFilter, more: Mapping[str, Any]) -> None:
    def work(session: Session) -> tuple[list[ScoredPassage], list[ScoredPassage]]:
        alone, together = session.within(EMPTY_SCOPE), session.across([EMPTY_SCOPE, NOBODY])
        return alone.search.words(terms, wanted, **more), together.search.words(terms, wanted, **more)

    alone, together = store.db.read_now(work)
    assert alone == together


def test_a_filter_finds_what_many_better_ones_of_those_named_hide(store: Any, make: Any) -> None:
    """By the rarer word all of ``many/`` are better, and more than are scored by common words too."""

    def fill(repository: Any) -> list[str]:
        workspace = repository.workspaces.add(name=None, root="/notes")
        ids: list[str] = []
        for path, texts in {
            "many/a.md": ["rare rare gold"] * 30,
            "few/b.md": ["rare iron salt", "rare gold salt"],
            "rest/c.md": ["gold salt iron"] * 100,
        }.items():
            resource = repository.resources.save(make.resource(workspace, path))
            passages = [make.passage(text, header="", ordinal=at, line=at + 1) for at, text in enumerate(texts)]
            ids += repository.passages.replace_for_resource(resource.id, passages)
        return ids

    ids = store.write(fill)
    store.db.write_now(lambda session: session.within(NOBODY))
    weights = WordWeights(common_from=40, common_share=0.1)
    terms = [QueryTerm(variants=("rare",)), QueryTerm(variants=("gold",))]
    for among in (None, frozenset(ids)):
        wanted = SearchFilter(path_glob="few/**", among=among)
        assert_alike(store, terms, wanted, {"limit": 1, "weights": weights})
        found = store.db.read_now(
            lambda session, wanted=wanted: session.within(EMPTY_SCOPE).search.words(
                terms, wanted, limit=1, weights=weights
            )
        )
        assert [each.id for each in found] == [ids[31]]
