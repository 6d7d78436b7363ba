"""Search on SQLite: words by their ranking, cosines by numpy, exact whatever the filter.

Where a filter leaves little, the rows that it leaves are looked at. Else all packs of the scope are, which takes
less than a quarter of what as many rows do, and the filter is tried on the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Integer, LargeBinary, Select, bindparam, select, type_coerce

from memu.storage.conditions import find_passing, select_passing, settle
from memu.storage.question import COSINE_DIGITS, FILTERS_KEPT, Questioned, length_of
from memu.storage.scoped import Scoped, linked
from memu.storage.search import EVERYTHING, TRIED_AT_FIRST, ScoredPassage, SearchFilter
from memu.storage.statements import listed, within
from memu.storage.tables import passage, passage_vector
from memu.storage.vector_packs import Scan, find_places, scan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SqliteSearch"]

# So many rows take as long as the packs of some ten times as many.
_FEW = 2000
# As many as wanted times this are tried before all that passes the filter is asked for.
_TRIED_AT_SECOND = 20


class SqliteSearch(Questioned):
    """``Search`` for one repository. Up to ``few`` rows that pass a filter are looked at without their packs."""

    def __init__(self, scoped: Scoped, few: int = _FEW) -> None:
        super().__init__(scoped)
        self._few = few

    def _nearest(
        self, asked: NDArray[np.float32], encoder_id: str, wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        if wanted.among is not None:
            rows = self._scoped.run(_vectors_among(), encoder_id=encoder_id, among=sorted(wanted.among)).all()
            return settle(self._scoped, _cosines(rows, asked), wanted, limit)
        if _is_narrow(wanted):
            passing = self._scoped.run(_passing_ids(wanted), most=self._few + 1).scalars().all()
            if len(passing) <= self._few:
                rows = self._scoped.run(_vectors_among(), encoder_id=encoder_id, among=passing).all()
                # They pass already: to ask again costs as much as to find them.
                return settle(self._scoped, _best(_cosines(rows, asked), limit), EVERYTHING, limit)
        return self._of_packs(asked, encoder_id, wanted, limit)

    def _of_packs(
        self, asked: NDArray[np.float32], encoder_id: str, wanted: SearchFilter, limit: int
    ) -> list[ScoredPassage]:
        """The best that pass the filter: tried on the highest scores first, then on more, at last on all."""
        found = scan(self._scoped, encoder_id, asked)
        scores = found.cosines.round(COSINE_DIGITS)
        for tried in (limit * TRIED_AT_FIRST, limit * _TRIED_AT_SECOND):
            if len(scores) <= tried:
                return self._settle(found, scores, range(len(scores)), encoder_id, wanted, limit)
            # Others may tie with the last one, so what ties with it is not known whole.
            best = _above(scores, tried, ties=False)
            settled = self._settle(found, scores, best, encoder_id, wanted, limit)
            if len(settled) == limit:
                return settled
        passing = found.among(self._scoped.run(_passing_places(wanted), encoder_id=encoder_id).all())
        best = passing[_above(scores[passing], limit, ties=True)].tolist()
        return self._settle(found, scores, best, encoder_id, EVERYTHING, limit)

    def _settle(
        self,
        found: Scan,
        scores: NDArray[np.float64],
        chosen: Sequence[int],
        encoder_id: str,
        wanted: SearchFilter,
        limit: int,
    ) -> list[ScoredPassage]:
        places = [found.place(at) for at in chosen]
        names = find_places(self._scoped, encoder_id, places)
        named = [
            (names[place], float(scores[at])) for place, at in zip(places, chosen, strict=True) if place in names
        ]
        if len(named) <= limit * TRIED_AT_FIRST:
            return settle(self._scoped, named, wanted, limit)
        # Places are dear: they are asked only of the best of those that pass.
        passing = set(find_passing(self._scoped, wanted, [each for each, _ in named]))
        left = [(each, score) for each, score in named if each in passing]
        return settle(self._scoped, _best(left, limit), EVERYTHING, limit)


def _is_narrow(wanted: SearchFilter) -> bool:
    """Whether the filter may leave little. Layers and tracks mostly leave a good part."""
    named = (wanted.kinds, wanted.path_glob, wanted.memory_types, wanted.workspace_id)
    times = (wanted.since, wanted.until, wanted.changed_since, wanted.changed_until)
    return any(each is not None for each in (*named, *times))


def _cosines(rows: Sequence[Any], asked: NDArray[np.float32]) -> list[tuple[str, float]]:
    """(passage id, cosine) of (passage id, vector); vectors of another size or of length zero are passed over."""
    import numpy as np

    usable = [(each, vector) for each, vector in rows if len(vector) == len(asked) and any(vector)]
    whole = np.frombuffer(b"".join([vector for _, vector in usable]), dtype=np.int8)
    floats = whole.reshape(len(usable), len(asked)).astype(np.float32)
    lengths = np.linalg.norm(floats, axis=1).astype(np.float64) * length_of(asked)
    cosines = ((floats @ asked).astype(np.float64) / lengths).round(COSINE_DIGITS)
    return [(each, float(cosine)) for (each, _), cosine in zip(usable, cosines, strict=True)]


def _best(named: list[tuple[str, float]], count: int) -> list[tuple[str, float]]:
    """The ``count`` best with all that tie with the last one."""
    if len(named) <= count:
        return named
    least = sorted((score for _, score in named), reverse=True)[count - 1]
    return [(each, score) for each, score in named if score >= least]


def _above(scores: NDArray[np.float64], count: int, *, ties: bool) -> list[int]:
    """The indices of the ``count`` best: with all that tie with the last one, or without any that do."""
    import numpy as np

    if len(scores) <= count:
        return list(range(len(scores)))
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    chosen: list[int] = np.flatnonzero(scores >= least if ties else scores > least).tolist()
    return chosen


def _of_encoder() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    encoder_id: ColumnElement[bool] = passage_vector.c.encoder_id == bindparam("encoder_id")
    return within(passage_vector), encoder_id


def _vector() -> ColumnElement[bytes]:
    # Taken as the bytes that they are, where the column type would look at each.
    return type_coerce(passage_vector.c.vector, LargeBinary)


@cache
def _vectors_among() -> Select[Any]:
    """(passage id, vector) of the passages ``among``."""
    statement = select(passage_vector.c.passage_id, _vector()).where(*_of_encoder())
    return statement.where(listed(passage_vector.c.passage_id, "among"))


@lru_cache(maxsize=FILTERS_KEPT)
def _passing_ids(wanted: SearchFilter) -> Select[Any]:
    """``most`` passages that pass the filter."""
    passing = select_passing(wanted, passage.c.id).subquery("passing")
    return select(passing.c.id).limit(bindparam("most", type_=Integer))


@lru_cache(maxsize=FILTERS_KEPT)
def _passing_places(wanted: SearchFilter) -> Select[Any]:
    """(scope, place) of all that pass the filter."""
    # As a value of each passage that passes. Joined, SQLite would go through all vectors and look for theirs.
    place = (
        select(passage_vector.c.place)
        .where(*_of_encoder(), linked(passage_vector, "passage_id", passage))
        .correlate(passage)
        .scalar_subquery()
        .label("place")
    )
    passing = select_passing(wanted, passage.c.scope_id, place).subquery("passing")
    return select(passing.c.scope_id, passing.c.place).where(passing.c.place.is_not(None))
