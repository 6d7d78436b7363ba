"""Search on Postgres: words by their ranking, cosines by pgvector where the rows are. Only hits cross the wire.

A scope of few vectors is scanned, which is exact. A large one is searched by the encoder's index, if it was built;
where a filter leaves little of a large scope, what it leaves is scanned.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    REAL,
    ColumnElement,
    Double,
    Integer,
    Numeric,
    Select,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.sql.selectable import FromClause

from memu.storage.conditions import findable, select_passing, settle
from memu.storage.question import COSINE_DIGITS, FILTERS_KEPT, Questioned, length_of
from memu.storage.scoped import Scoped, linked
from memu.storage.search import TRIED_AT_FIRST, ScoredPassage, SearchFilter
from memu.storage.statements import listed, within
from memu.storage.tables import passage, passage_vector
from memu.storage.vector_indexes import EXACT_UP_TO, indexed_vector, is_of_size, is_ready

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PostgresSearch"]

# To look at vectors here and there costs so many times what it costs to look at all in a row.
_DEARER = 3
# How far the index is followed: this many candidates at once, the most that pgvector takes, and in all, until a
# filter has let enough pass. With fewer dense neighbourhoods are missed, and little time is saved (ADR 0018).
_AT_ONCE = 1000
_MOST_CANDIDATES = 40_000


class PostgresSearch(Questioned):
    """``Search`` for one repository. Of up to ``exact_up_to`` vectors each is looked at."""

    def __init__(self, scoped: Scoped, exact_up_to: int = EXACT_UP_TO) -> None:
        super().__init__(scoped)
        self._exact_up_to = exact_up_to

    def _nearest(
        self, asked: NDArray[np.float32], encoder_id: str, wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """Exact but in a scope so large that it has an index."""
        values: dict[str, Any] = {"query": asked, "length": length_of(asked), "encoder_id": encoder_id}
        size = len(asked)
        if wanted.among is None and self._is_large(encoder_id, size):
            return self._by_index(size, values, wanted, limit)
        return self._by_scan(size, values, wanted, limit)

    def _by_scan(self, size: int, values: dict[str, Any], wanted: SearchFilter, limit: int) -> list[ScoredPassage]:
        """All vectors are looked at; the filter is tried on the best first, for most leave much in."""
        first = limit * TRIED_AT_FIRST
        among = sorted(wanted.among or ())
        rows = self._scoped.run(_best_cosines(size, wanted.among is not None), **values, among=among, most=first)
        top = [(each, float(score)) for each, score in rows]
        if len(top) < first:
            return settle(self._scoped, top, wanted, limit)
        # Others may tie with the last one, so what ties with it is not known whole.
        found = settle(self._scoped, [item for item in top if item[1] > top[-1][1]], wanted, limit)
        return found if len(found) == limit else self._of_passing(size, values, wanted, limit)

    def _of_passing(
        self, size: int, values: dict[str, Any], wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """Of what passes the filter all vectors are looked at."""
        among = sorted(wanted.among or ())
        statement = _passing_cosines(size, replace(wanted, among=None), wanted.among is not None)
        rows = self._scoped.run(statement, **values, among=among, most=limit)
        return settle(self._scoped, [(each, float(score)) for each, score in rows], wanted, limit)

    def _by_index(
        self, size: int, values: dict[str, Any], wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        first = limit * TRIED_AT_FIRST
        found = settle(self._scoped, self._follow(_indexed_cosines(size, None), values, first), wanted, limit)
        if len(found) == limit:
            return found
        few = self._exact_up_to // _DEARER
        if int(self._scoped.run(_count_passing(wanted), most=few + 1).scalar_one()) > few:
            near = self._follow(_indexed_cosines(size, wanted), values, limit)
            if len(near) == limit:
                return settle(self._scoped, near, wanted, limit)
        return self._of_passing(size, values, wanted, limit)

    def _follow(self, statement: Select[Any], values: dict[str, Any], most: int) -> list[tuple[str, float]]:
        connection = self._scoped.connection
        connection.execute(_BY_INDEX, {"at_once": str(_AT_ONCE), "in_all": str(_MOST_CANDIDATES)})
        rows = self._scoped.run(statement, **values, most=most).all()
        connection.execute(_AS_PLANNED)
        return [(each, float(score)) for each, score in rows]

    def _is_large(self, encoder_id: str, size: int) -> bool:
        """Whether the scope has more vectors than a scan should look at, and an index on them."""
        if not is_ready(self._scoped.connection, encoder_id, size):
            return False
        counted = self._scoped.run(_count_vectors(), encoder_id=encoder_id, most=self._exact_up_to + 1)
        return int(counted.scalar_one()) > self._exact_up_to


# Sorting is what the planner would do instead of following the index.
_BY_INDEX = text("""
    SELECT set_config('hnsw.ef_search', :at_once, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
           set_config('hnsw.max_scan_tuples', :in_all, true), set_config('enable_sort', 'off', true)
""")
_AS_PLANNED = text("SELECT set_config('enable_sort', 'on', true)")


def _most() -> ColumnElement[int]:
    return bindparam("most", type_=Integer)


def _query(dimension: int) -> ColumnElement[Any]:
    from pgvector.sqlalchemy import VECTOR

    return bindparam("query", type_=VECTOR(dimension))


def _score(vectors: FromClause, dimension: int) -> ColumnElement[float]:
    # Of whole numbers the product is exact, and the length that of an embedded store, to the last bit.
    product = 0 - vectors.c.vector.op("<#>", return_type=Double)(_query(dimension))
    lengths = cast(cast(func.vector_norm(vectors.c.vector), REAL), Double) * bindparam("length", type_=Double)
    return func.round(cast(product / lengths, Numeric(asdecimal=False)), COSINE_DIGITS).label("score")


def _is_usable(dimension: int) -> tuple[ColumnElement[bool], ...]:
    """Of this encoder and size; a vector of length zero has no direction."""
    encoder_id: ColumnElement[bool] = passage_vector.c.encoder_id == bindparam("encoder_id")
    return within(passage_vector), encoder_id, is_of_size(dimension), func.vector_norm(passage_vector.c.vector) > 0


@cache
def _count_vectors() -> Select[Any]:
    """How many vectors the scope has of an encoder, ``most`` at most."""
    mine: Select[Any] = select(literal_column("1")).where(
        within(passage_vector), passage_vector.c.encoder_id == bindparam("encoder_id")
    )
    return select(func.count()).select_from(mine.limit(_most()).subquery())


@lru_cache(maxsize=FILTERS_KEPT)
def _count_passing(wanted: SearchFilter) -> Select[Any]:
    """How many passages pass the filter, ``most`` at most."""
    passing = select_passing(wanted, passage.c.id).subquery("passing")
    return select(func.count()).select_from(select(passing.c.id).limit(_most()).subquery())


@lru_cache(maxsize=FILTERS_KEPT)
def _best_cosines(dimension: int, among: bool) -> Select[Any]:
    """(passage id, cosine) of the ``most`` best, whatever the filter; ``among``: of the passages ``among``."""
    score = _score(passage_vector, dimension)
    statement = select(passage_vector.c.passage_id, score).where(*_is_usable(dimension))
    if among:
        statement = statement.where(listed(passage_vector.c.passage_id, "among"))
    return statement.order_by(score.desc()).limit(_most())


@lru_cache(maxsize=FILTERS_KEPT)
def _passing_cosines(dimension: int, wanted: SearchFilter, among: bool) -> Select[Any]:
    """(passage id, cosine) of those that pass the filter, down to the ``most``-th cosine."""
    also = (listed(passage.c.id, "among"),) if among else ()
    passing = select_passing(wanted, passage.c.scope_id, passage.c.id, also=also)
    # Found first, and once: there may be few of them in a scope of many vectors.
    found = passing.cte("passing").prefix_with("MATERIALIZED")
    scored = (
        select(passage_vector.c.passage_id.label("id"), _score(passage_vector, dimension))
        .join(found, linked(passage_vector, "passage_id", found))
        .where(*_is_usable(dimension))
        .cte("scored")
    )
    best = select(scored.c.score).order_by(scored.c.score.desc()).limit(_most()).subquery()
    least = select(func.min(best.c.score)).scalar_subquery()
    return select(scored.c.id, scored.c.score).where(scored.c.score >= least)


@lru_cache(maxsize=FILTERS_KEPT)
def _indexed_cosines(dimension: int, wanted: SearchFilter | None) -> Select[Any]:
    """(passage id, cosine) of ``most`` that the index finds near; with ``wanted`` of those that pass it."""
    # Written out, so that the server sees that the index covers it.
    encoder_id: ColumnElement[str] = bindparam("encoder_id", literal_execute=True)
    near = select(passage_vector.c.passage_id, passage_vector.c.vector).where(
        within(passage_vector), passage_vector.c.encoder_id == encoder_id, is_of_size(dimension)
    )
    if wanted is not None:
        # Asked of each candidate: as a join the server would look at all that pass.
        passes: Select[Any] = select(literal_column("true")).where(
            linked(passage_vector, "passage_id", passage), findable(wanted)
        )
        near = near.where(passes.correlate(passage_vector).scalar_subquery().is_(True))
    distance = indexed_vector(dimension).op("<=>", return_type=Double)(
        indexed_vector(dimension, _query(dimension))
    )
    found = near.order_by(distance).limit(_most()).subquery("near")
    return select(found.c.passage_id, _score(found, dimension))
