"""BM25 in SQL over the postings, the same on every database: a statement made once for each shape of query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Double,
    FromClause,
    Integer,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    literal,
    select,
    union,
    union_all,
)

from memu.records import Kind
from memu.storage.conditions import SCORE_DIGITS, findable
from memu.storage.scoped import linked
from memu.storage.search import SearchFilter
from memu.storage.statements import listed, one_of, within
from memu.storage.tables import passage, posting
from memu.storage.words import KIND_CODES

__all__ = ["Shape", "best_scores", "count_either", "count_postings", "measure_passages", "passing_scores"]

_KEYS = (posting.c.scope_id, posting.c.passage_id)
_SHAPES_KEPT = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What decides the text of a ranking's statement.

    simple: places for terms of one spelling. varied: places for spellings of terms that have several.
    common: places for spellings of terms that are scored only on the ``finalists`` best by the others.
    across: whether several scopes are searched. In one the passage's id alone tells rows apart; to group tens of
        thousands of postings by one column and not by two takes two thirds of the time.
    A place that is not needed takes NULL for its term, which no posting equals.
    """

    simple: int
    varied: int
    common: int
    across: bool
    k1: float
    b: float
    b_of_kind: tuple[tuple[Kind, float], ...]
    among: bool


@cache
def measure_passages() -> Select[Any]:
    """Number of passages in the scope and the sum of their lengths."""
    columns: tuple[Any, ...] = (func.count(), func.sum(passage.c.length))
    return select(*columns).where(within(passage))


@cache
def count_postings() -> Select[Any]:
    """(spelling, passages with it) of each of ``terms`` that occurs."""
    columns: tuple[Any, ...] = (posting.c.term, func.count())
    return select(*columns).where(within(posting), one_of(posting.c.term, "terms")).group_by(posting.c.term)


@lru_cache(maxsize=_SHAPES_KEPT)
def count_either(spellings: int) -> Select[Any]:
    """Number of passages with any of ``term_0``, ``term_1`` …"""
    passages = union(*(select(*_KEYS).where(*_is_term(at)) for at in range(spellings)))
    return select(func.count()).select_from(passages.subquery())


@lru_cache(maxsize=_SHAPES_KEPT)
def best_scores(shape: Shape) -> Select[Any]:
    """(passage id, score) of the ``most`` best, whatever the filter.

    To round a score takes as long as to work it out, so whoever asks rounds those that he gets.
    """
    scored = _scored(shape)
    return select(scored.c.passage_id, scored.c.gain).order_by(scored.c.gain.desc()).limit(_most())


@lru_cache(maxsize=_SHAPES_KEPT)
def passing_scores(shape: Shape, wanted: SearchFilter) -> Select[Any]:
    """(passage id, score) of those that pass the filter, down to what is the ``most``-th score when rounded."""
    passing = _scored(shape, wanted)
    best = select(passing.c.gain).order_by(passing.c.gain.desc()).limit(_most()).subquery()
    least = select(func.min(best.c.gain)).scalar_subquery()
    return select(passing.c.passage_id, passing.c.gain).where(passing.c.gain >= least - 10.0**-SCORE_DIGITS)


def _most() -> ColumnElement[int]:
    return bindparam("most", type_=Integer)


def _is_term(at: int) -> Iterator[ColumnElement[bool]]:
    # One SELECT a term: given several at once to group, SQLite would walk the index by passage instead.
    yield within(posting)
    yield posting.c.term == bindparam(f"term_{at}")


def _scored(shape: Shape, wanted: SearchFilter | None = None) -> CTE:
    """(scope, passage id, gain) of the passages with any of the terms: read from their postings alone.

    With ``wanted`` of those that pass it.
    """
    parts = [_gain(shape, at) for at in range(shape.simple)]
    if shape.varied:
        parts.append(_varied_gain(shape))
    gains = union_all(*parts).subquery("gains") if len(parts) > 1 else parts[0].subquery("gains")
    keys = _keys(shape, gains)
    several = len(parts) > 1 or shape.varied > 0
    total = (func.sum(gains.c.gain) if several else gains.c.gain).label("gain")
    statement = select(*keys, total)
    if several:
        statement = statement.group_by(*keys)
    if shape.among:
        statement = statement.where(listed(gains.c.passage_id, "among"))
    if wanted is not None:
        owner = linked(gains, "passage_id", passage) if shape.across else passage.c.id == gains.c.passage_id
        statement = statement.join(passage, owner).where(findable(wanted))
    found = statement.cte("found")
    if shape.common:
        found = _with_common(shape, found)
    return found


def _with_common(shape: Shape, found: CTE) -> CTE:
    """The best of what the rarer terms found, with the gains by the common ones."""
    best = (
        select(found.c.gain).order_by(found.c.gain.desc()).limit(bindparam("finalists", type_=Integer)).subquery()
    )
    least = select(func.min(best.c.gain)).scalar_subquery()
    final = select(*_keys(shape, found), found.c.gain).where(found.c.gain >= least).cte("final")
    first = shape.simple + shape.varied
    rows = union_all(
        *(
            _gain(shape, at, _word(at)).join(final, _same_passage(shape, final))
            for at in range(first, first + shape.common)
        )
    ).subquery("common_spellings")
    keys = _keys(shape, rows)
    more = select(*keys, func.max(rows.c.gain).label("gain")).group_by(*keys, rows.c.word).subquery("more")
    every = union_all(select(final), select(more)).subquery("every")
    keys = _keys(shape, every)
    return select(*keys, func.sum(every.c.gain).label("gain")).group_by(*keys).cte("whole")


def _keys(shape: Shape, table: FromClause) -> tuple[ColumnElement[Any], ...]:
    """What tells the passages of these rows apart."""
    return (table.c.scope_id, table.c.passage_id) if shape.across else (table.c.passage_id,)


def _same_passage(shape: Shape, final: CTE) -> ColumnElement[bool]:
    pairs = zip(_keys(shape, posting), _keys(shape, final), strict=True)
    return and_(*(mine == theirs for mine, theirs in pairs))


def _word(at: int) -> ColumnElement[Any]:
    return bindparam(f"word_{at}", type_=posting.c.tf.type).label("word")


def _varied_gain(shape: Shape) -> Select[Any]:
    """The gain of each passage for each term of several spellings.

    The more often a word occurs the more it gains, so the best spelling is the most frequent one.
    """
    places = range(shape.simple, shape.simple + shape.varied)
    rows: Subquery = union_all(*(_gain(shape, at, _word(at)) for at in places)).subquery("spellings")
    keys = _keys(shape, rows)
    return select(*keys, func.max(rows.c.gain).label("gain")).group_by(*keys, rows.c.word)


def _gain(shape: Shape, at: int, *more: ColumnElement[Any]) -> Select[Any]:
    """(scope, passage id, gain) by the spelling at one place."""
    row = posting.c
    of_kind = {KIND_CODES[kind]: b for kind, b in shape.b_of_kind}
    b = case(of_kind, value=row.kind, else_=shape.b) if of_kind else literal(shape.b, Double)
    norm = shape.k1 * (1 - b + b * row.length / bindparam("average", type_=Double))
    rarity = bindparam(f"rarity_{at}", type_=Double)
    gain = rarity * row.tf * (shape.k1 + 1) / (row.tf + norm)
    return select(*_keys(shape, posting), gain.label("gain"), *more).where(*_is_term(at))
