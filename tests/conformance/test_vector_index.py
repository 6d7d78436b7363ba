"""The vector indexes of a server's store: what they find against what a scan finds, and how they come and go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from support.many_vectors import COMMON, RARE, UNCOMMON, ManyVectors, add_many_vectors, draw_vectors
from support.postgres import Server, run_sql

from memu.errors import BusyError, ConfigurationError
from memu.records import EMPTY_SCOPE, Kind, Scope
from memu.storage.database import Database
from memu.storage.search import ScoredPassage, SearchFilter
from memu.storage.search_postgres import PostgresSearch
from memu.storage.session import Session
from memu.storage.vector_indexes import Maintenance, index_name, maintain
from memu.storage.vectors import VectorRow, restore

pytestmark = pytest.mark.conformance

# A small store that is treated as a large one.
COUNT, DIMENSION, EXACT_TO = 5000, 24, 1000
ANN = Scope.of({"user_id": "ann"})


@dataclass
class Indexed:
    """A store with one large scope and its index, and a small scope beside it."""

    url: str
    db: Database
    vectors: NDArray[np.float32]
    large: ManyVectors
    small: ManyVectors


@pytest.fixture(scope="module")
def indexed(postgres: Server) -> Iterator[Indexed]:
    url = postgres.make()
    vectors = draw_vectors(COUNT, DIMENSION, seed=3)
    large = add_many_vectors(url, vectors)
    small = add_many_vectors(url, vectors[:50], scope=ANN)
    with Database.open(url) as db:
        assert asyncio.run(db.maintain()) == Maintenance()
        made = maintain(db._engine, EXACT_TO)
        assert made == Maintenance(built=(index_name(large.encoder_id),))
        yield Indexed(url, db, vectors, large, small)
    postgres.drop(url)


def _nearest(
    db: Database,
    query: NDArray[np.float32],
    encoder_id: str,
    wanted: SearchFilter,
    limit: int,
    scope: Scope = EMPTY_SCOPE,
    exact_up_to: int = EXACT_TO,
) -> list[str]:
    def work(session: Session) -> list[ScoredPassage]:
        search = PostgresSearch(session.within(scope).passages._scoped, exact_up_to)
        return search.nearest(query, encoder_id, wanted, limit)

    return [each.id for each in db.read_now(work)]


def _queries(vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    chance = np.random.default_rng(11)
    near = vectors[chance.integers(len(vectors), size=count)]
    return (near + 0.3 * chance.normal(size=near.shape)).astype(np.float32)


@pytest.mark.parametrize(
    ("kind", "share"), [(RARE, 0.01), (UNCOMMON, 0.1), (None, 1.0)], ids=["1 %", "10 %", "100 %"]
)
@pytest.mark.parametrize("limit", [10, 50])
@pytest.mark.parametrize("exact_up_to", [EXACT_TO, 5], ids=["as it is", "by the index alone"])
def test_a_filtered_search_returns_as_many_as_wanted_and_misses_little(
    indexed: Indexed, record_property, kind: Kind | None, share: float, limit: int, exact_up_to: int
):
    """Recall against the exact ranking; the second time as if what passes the filter were too much to look at."""
    passing = [at for at, each in enumerate(indexed.large.kinds) if kind in (None, each)]
    assert len(passing) == pytest.approx(COUNT * share, rel=0.2)
    units = indexed.vectors[passing] / np.linalg.norm(indexed.vectors[passing], axis=1)[:, None]
    wanted = SearchFilter(kinds=None if kind is None else frozenset({kind}))
    hits, number = 0, 30
    for query in _queries(indexed.vectors, number):
        exact = {indexed.large.ids[passing[at]] for at in np.argsort(-(units @ query))[:limit]}
        found = _nearest(indexed.db, query, indexed.large.encoder_id, wanted, limit, exact_up_to=exact_up_to)
        assert len(set(found)) == limit
        hits += len(exact & set(found))
    recall = hits / limit / number
    record_property("recall", f"{recall:.3f}")
    assert recall >= 0.95


def test_the_index_is_what_answers_in_a_large_scope_and_not_in_a_small_one(indexed: Indexed):
    query = indexed.vectors[0]
    before = _count_scans(indexed)
    for _ in range(3):
        _nearest(indexed.db, query, indexed.small.encoder_id, SearchFilter(), 10, scope=ANN)
    assert _count_scans(indexed) == before
    for _ in range(3):
        _nearest(indexed.db, query, indexed.large.encoder_id, SearchFilter(), 10)
    assert _count_scans(indexed) == before + 3


def _count_scans(indexed: Indexed) -> int:
    # Connections tell what they counted when they end.
    indexed.db._engine.dispose()
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while run_sql(indexed.url, f"{others} AND backend_type = 'client backend'") != [(0,)]:
        time.sleep(0.05)
    counted = "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'hnsw%'"
    [(count,)] = run_sql(indexed.url, counted)
    return int(count)


def test_p6_an_index_over_all_scopes_gives_only_this_one_s(indexed: Indexed):
    found = _nearest(indexed.db, indexed.vectors[3], indexed.small.encoder_id, SearchFilter(), 100, scope=ANN)
    assert len(found) == 50
    assert set(found) == set(indexed.small.ids)


def test_a_filter_that_leaves_most_in_but_not_the_nearest_still_fills_the_answer(indexed: Indexed):
    """The index is followed until enough pass, or all that pass are looked at."""
    wanted = SearchFilter(kinds=frozenset({COMMON}))
    for query in indexed.vectors[[at for at, kind in enumerate(indexed.large.kinds) if kind is RARE][:5]]:
        assert len(_nearest(indexed.db, query, indexed.large.encoder_id, wanted, 200)) == 200


def test_what_is_written_after_the_index_was_built_is_found_and_what_is_deleted_is_not(indexed: Indexed):
    turned = -indexed.vectors[17]
    row = indexed.large.ids[17]

    def nearest() -> list[str]:
        return _nearest(indexed.db, turned, indexed.large.encoder_id, SearchFilter(), 3)

    stored = run_sql(
        indexed.url,
        f"SELECT vector::text, scale FROM passage_vector WHERE passage_id = '{row}' AND"
        f" scope_id = '{indexed.large.scope_id}'",
    )
    numbers = [-int(part) for part in stored[0][0].strip("[]").split(",")]
    vector = bytes(each & 0xFF for each in numbers)
    assert restore(vector, stored[0][1]) == pytest.approx(turned, abs=0.1)
    broken = VectorRow(passage_id=indexed.large.ids[18], vector=b"\x01\x02", scale=1.0)
    indexed.db.write_now(
        lambda session: session.within(EMPTY_SCOPE).passages.add_vectors(
            indexed.large.encoder_id, [VectorRow(passage_id=row, vector=vector, scale=stored[0][1]), broken]
        )
    )
    assert nearest()[0] == row
    run_sql(indexed.url, f"DELETE FROM passage WHERE id = '{row}' AND scope_id = '{indexed.large.scope_id}'")
    assert row not in nearest()


def test_maintenance_keeps_what_is_sound_and_drops_what_is_broken_or_of_no_use(indexed: Indexed):
    name = index_name(indexed.large.encoder_id)
    assert maintain(indexed.db._engine, EXACT_TO) == Maintenance(kept=(name,))
    # As a build that was broken off leaves it.
    run_sql(indexed.url, f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{name}'::regclass")
    run_sql(
        indexed.url,
        "CREATE INDEX hnsw_of_one_that_is_gone ON passage_vector"
        " USING hnsw ((vector::vector(3)) vector_cosine_ops) WHERE encoder_id = 'gone'",
    )
    assert maintain(indexed.db._engine, EXACT_TO) == Maintenance(
        built=(name,), dropped=tuple(sorted([name, "hnsw_of_one_that_is_gone"]))
    )


def test_one_maintenance_at_a_time(indexed: Indexed):
    async def several() -> list[object]:
        at_once = (asyncio.to_thread(maintain, indexed.db._engine, EXACT_TO) for _ in range(6))
        return list(await asyncio.gather(*at_once, return_exceptions=True))

    ended = asyncio.run(several())
    assert any(isinstance(each, Maintenance) for each in ended)
    assert all(isinstance(each, Maintenance | BusyError) for each in ended)


@pytest.mark.parametrize(
    ("dimension", "kind"), [(2000, "vector"), (2001, "halfvec"), (4000, "halfvec"), (4001, "")]
)
def test_the_type_that_is_indexed_follows_the_size(postgres: Server, dimension: int, kind: str):
    url = postgres.make()
    made = add_many_vectors(url, np.ones((60, 1), dtype=np.float32))
    run_sql(url, f"UPDATE encoder SET dimension = {dimension}")
    few = draw_vectors(60, dimension, seed=4)
    for each, row in zip(made.ids[:60], few, strict=True):
        numbers = ",".join(f"{part:.0f}" for part in row * 50)
        run_sql(url, f"UPDATE passage_vector SET vector = '[{numbers}]' WHERE passage_id = '{each}'")
    with Database.open(url) as db:
        built = maintain(db._engine, 50).built
        assert len(built) == bool(kind)
        if kind:
            [(definition,)] = run_sql(url, f"SELECT pg_get_indexdef('{built[0]}'::regclass)")
            assert f"(vector)::{kind}({dimension})" in definition
        for at in (0, 17, 41):
            found = _nearest(db, few[at], made.encoder_id, SearchFilter(), 5, exact_up_to=50)
            assert found[0] == made.ids[at]
            assert len(found) == 5
    postgres.drop(url)


def test_a_store_that_is_a_file_has_nothing_to_maintain():
    with Database.open("sqlite://") as db, pytest.raises(ConfigurationError, match="server"):
        asyncio.run(db.maintain())
