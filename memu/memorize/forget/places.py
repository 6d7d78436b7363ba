"""Where in a text forgotten statements stand, as it is written and as it is seen. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from memu.memorize.forget.marks import MARK
from memu.memorize.forget.openings import may_hold
from memu.memorize.forget.runs import Statements, find_runs
from memu.memorize.forget.units import list_joined, list_units
from memu.memorize.forget.visible import read_views

__all__ = ["find_places", "mark_places", "merge_places"]


def find_places(text: str, statements: Statements) -> list[tuple[int, int]]:
    """Beginning and end of each part of ``text`` that is forgotten, some of them inside others."""
    hits = list(_find_places(text, frozenset(), statements))
    for view in read_views(text):
        hits += (view.locate(*place) for place in _find_places(view.text, view.joints, statements))
    return hits


def mark_places(text: str, places: Sequence[tuple[int, int]]) -> str:
    """``text`` with a mark in each of these places."""
    borders = [(0, 0), *merge_places(text, places), (len(text), len(text))]
    return MARK.join(text[before[1] : after[0]] for before, after in pairwise(borders))


def _find_places(text: str, joints: frozenset[int], statements: Statements) -> Iterator[tuple[int, int]]:
    if not may_hold(text, joints, statements.openings):
        return
    hits = [unit for unit in list_units(text) if statements.covers(unit.text)]
    hits += [run for run in list_joined(text, hits) if statements.covers(run.text)] if hits else []
    hits += find_runs(text, joints, statements)
    yield from ((hit.start, hit.end) for hit in hits)


def merge_places(text: str, hits: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places to be cut, joined where they overlap or only spaces part them."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(hits):
        if merged and (start <= merged[-1][1] or text[merged[-1][1] : start].strip(" ") == ""):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
