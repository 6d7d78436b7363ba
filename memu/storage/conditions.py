"""What a SearchFilter means in SQL, and the order of passages that fit equally well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, SelectBase, and_, false, func, or_, select, true, union_all

from memu.records import Layer
from memu.storage.globs import glob_pattern
from memu.storage.scoped import Scoped, chunks, linked
from memu.storage.search import ScoredPassage, SearchFilter
from memu.storage.statements import listed, within
from memu.storage.tables import passage, recall_entry, recall_file, recall_file_entry, resource

__all__ = ["SCORE_DIGITS", "find_passing", "findable", "select_passing", "settle"]

# Sums of equal terms in another order differ in the last bits; beyond this a difference means nothing.
SCORE_DIGITS = 9
_FILTERS_KEPT = 128
# To look at each of more than these takes longer than to find all that passes the filter.
_FEW = 2000
# A column of 64 bits holds them.
_MOST_NANOSECONDS = 2**63 - 1

_OWNER = {
    Layer.FILE: passage.c.file_id,
    Layer.ENTRY: passage.c.entry_id,
    Layer.RESOURCE: passage.c.resource_id,
}


# Path or page name, line, ordinal of the entry or passage, whether it is not the source's own, ordinal, track.
_Place = tuple[str, int, int, bool, int, str]


def findable(wanted: SearchFilter) -> ColumnElement[bool]:
    """The condition on ``passage`` rows in ``the_scopes``. An entry that is not shown is never found.

    ``among`` is left to the search: whatever it scores is among them.
    """
    conditions = [within(passage), _shown(wanted)]
    if wanted.layers is not None:
        conditions.append(or_(*(_OWNER[layer].is_not(None) for layer in sorted(wanted.layers)), false()))
    if wanted.tracks is not None:
        tracks = [track.value for track in sorted(wanted.tracks)]
        conditions.append(or_(passage.c.track.in_(tracks), passage.c.resource_id.is_not(None)))
    if wanted.kinds is not None:
        conditions.append(passage.c.kind.in_([kind.value for kind in sorted(wanted.kinds)]))
    if wanted.since is not None:
        conditions.append(passage.c.happened_at >= wanted.since)
    if wanted.until is not None:
        conditions.append(passage.c.happened_at <= wanted.until)
    owners = _owners_of(wanted)
    if owners:
        conditions.append(or_(*(column.in_(ids) for column, ids in owners)))
    return and_(*conditions)


def select_passing(
    wanted: SearchFilter, *columns: ColumnElement[Any], also: Sequence[ColumnElement[bool]] = ()
) -> SelectBase:
    """Columns of the ``passage`` rows that pass the filter, and what else is asked.

    Where the filter names sources, passages are looked up from these, each sort of passage by its own index. Asked
    of each passage in turn it takes a hundred times as long in a scope of 100,000 of which a hundredth is left; a
    join of the two SQLite may begin at either end.
    """
    owners = _owners_of(wanted)
    if not owners:
        return select(*columns).select_from(passage).where(findable(wanted), *also)
    rest = findable(replace(wanted, path_glob=None, changed_since=None, changed_until=None, workspace_id=None))
    parts = [select(*columns).select_from(passage).where(own.in_(ids), rest, *also) for own, ids in owners]
    return union_all(*parts)


def find_passing(scoped: Scoped, wanted: SearchFilter, ids: Sequence[str]) -> list[str]:
    """Those of ``ids`` that pass the filter, in their order; ``among`` is left to the search."""
    filters = replace(wanted, among=None)
    if len(ids) > _FEW:
        passing = set(scoped.run(_all_passing(filters)).scalars())
    else:
        passing = set(scoped.run(_passing(filters), ids=ids).scalars())
    return [each for each in ids if each in passing]


@lru_cache(maxsize=_FILTERS_KEPT)
def _passing(wanted: SearchFilter) -> Select[Any]:
    """Those of ``ids`` that pass the filter."""
    return select(passage.c.id).where(listed(passage.c.id, "ids"), findable(wanted))


@lru_cache(maxsize=_FILTERS_KEPT)
def _all_passing(wanted: SearchFilter) -> Select[Any]:
    """All that passes the filter."""
    passing = select_passing(wanted, passage.c.id).subquery()
    return select(passing.c.id)


def _owners_of(wanted: SearchFilter) -> list[tuple[ColumnElement[Any], Select[Any]]]:
    """By the column of their passages, the ids of what comes from the sources that the filter names, if it does.

    Pages rest on sources of a workspace; they lie at no path and have no time.
    """
    conditions = []
    if wanted.path_glob is not None:
        conditions.append(_lies_at(wanted.path_glob))
    if wanted.changed_since is not None or wanted.changed_until is not None:
        conditions.append(_changed_within(wanted.changed_since, wanted.changed_until))
    pages = not conditions
    if wanted.workspace_id is not None:
        conditions.append(resource.c.workspace_id == wanted.workspace_id)
    if not conditions:
        return []
    sources = select(resource.c.id).where(within(resource), *conditions)
    entries = select(recall_entry.c.id).where(within(recall_entry), recall_entry.c.resource_id.in_(sources))
    owners: list[tuple[ColumnElement[Any], Select[Any]]] = [
        (passage.c.resource_id, sources),
        (passage.c.entry_id, entries),
    ]
    if pages:
        link = recall_file_entry.c
        owners.append(
            (passage.c.file_id, select(link.file_id).where(within(recall_file_entry), link.entry_id.in_(entries)))
        )
    return owners


def _shown(wanted: SearchFilter) -> ColumnElement[bool]:
    of_entry = linked(passage, "entry_id", recall_entry) & recall_entry.c.shown
    if wanted.memory_types is not None:
        of_entry &= recall_entry.c.memory_type.in_([each.value for each in sorted(wanted.memory_types)])
        return select(recall_entry.c.id).where(of_entry).correlate(passage).exists()
    if wanted.layers is not None and Layer.ENTRY not in wanted.layers:
        return true()
    return or_(passage.c.entry_id.is_(None), select(recall_entry.c.id).where(of_entry).correlate(passage).exists())


def _changed_within(since: datetime | None, until: datetime | None) -> ColumnElement[bool]:
    """That a source's file changed then. One that lies in no folder has no such time, and is left out."""
    changed = resource.c.mtime_ns
    conditions: list[ColumnElement[bool]] = [changed != 0]
    if since is not None:
        conditions.append(changed >= _to_stored(_nanoseconds(since)))
    if until is not None:
        # All of the microsecond that a range ends with is in it.
        conditions.append(changed <= _to_stored(_nanoseconds(until) + 999))
    return and_(*conditions)


def _nanoseconds(moment: datetime) -> int:
    """Since 1970, exact."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def _to_stored(nanoseconds: int) -> int:
    """The nearest time that a file can bear: from the year 1677 to 2262. Nothing lies beyond."""
    return max(-_MOST_NANOSECONDS, min(_MOST_NANOSECONDS, nanoseconds))


def _lies_at(glob: str) -> ColumnElement[bool]:
    """That a source's path matches; what the glob begins with is compared first, which is many times faster."""
    pattern, path = glob_pattern(glob), resource.c.path
    start = re.match(r"\(\?s\)\^((?:[\w/-]|\\[^Z])*)(.*)", pattern, flags=re.DOTALL)
    begin = re.sub(r"\\(.)", r"\1", start[1], flags=re.DOTALL) if start else ""
    if start is None or not begin:
        return path.regexp_match(pattern)
    begins: ColumnElement[bool] = func.substr(path, 1, len(begin)) == begin
    match start[2]:
        case r"\Z":
            return path == begin
        case r".*\Z":
            return begins
        case _:
            return and_(begins, path.regexp_match(pattern))


def settle(
    scoped: Scoped, found: Sequence[tuple[str, float]], wanted: SearchFilter, limit: int
) -> list[ScoredPassage]:
    """The best ``limit`` of (passage id, score) that pass the filter.

    Equal scores are ordered by (path or page name, line, ordinal), a source before its entries.
    """
    places: dict[str, _Place] = {}
    statement = _places(replace(wanted, among=None))
    for piece in chunks([each for each, _ in found]):
        places.update((row[0], tuple(row[1:])) for row in scoped.run(statement, ids=piece))
    ranked = sorted(
        ((-score, places[each], each) for each, score in found if each in places), key=lambda item: item[:2]
    )
    return [ScoredPassage(each, -score) for score, _, each in ranked[:limit]]


@lru_cache(maxsize=_FILTERS_KEPT)
def _places(wanted: SearchFilter) -> Select[Any]:
    """(id, place) of those of ``ids`` that pass the filter."""
    own, entry, through = resource.alias("own"), recall_entry.alias("entry"), resource.alias("through")
    return (
        select(
            passage.c.id,
            func.coalesce(own.c.path, through.c.path, recall_file.c.folded_name),
            func.coalesce(passage.c.line_start, 0),
            func.coalesce(entry.c.ordinal, passage.c.ordinal),
            passage.c.resource_id.is_(None),
            passage.c.ordinal,
            func.coalesce(passage.c.track, ""),
        )
        .select_from(passage)
        .outerjoin(own, linked(passage, "resource_id", own))
        .outerjoin(entry, linked(passage, "entry_id", entry))
        .outerjoin(through, linked(entry, "resource_id", through))
        .outerjoin(recall_file, linked(passage, "file_id", recall_file))
        .where(listed(passage.c.id, "ids"), findable(wanted))
    )
