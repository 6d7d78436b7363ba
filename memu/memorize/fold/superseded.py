"""What was said earlier: statements of a page whose place a newer one of it takes, by naming what is no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memu.memorize.fold.entries import PageEntry
from memu.records import Origin
from memu.supersession import TOLD, Statement, find_replaced, supersedes

__all__ = ["mark_earlier"]

_EARLIER = "earlier"


def mark_earlier(entries: Sequence[PageEntry]) -> list[PageEntry]:
    """The entries, those that a newer one supersedes with "earlier" in their label; nothing is left out."""
    told = [each for each in entries if each.kind in TOLD and each.origin is not Origin.MODEL]
    changes = [_state(each) for each in told if find_replaced(each.text)]
    if not changes:
        return list(entries)
    gone = {each.id for each in told if any(supersedes(change, _state(each)) for change in changes)}
    return [_relabel(each) if each.id in gone else each for each in entries]


def _relabel(entry: PageEntry) -> PageEntry:
    return replace(entry, label=f"{entry.label}, {_EARLIER}" if entry.label else _EARLIER.capitalize())


def _state(entry: PageEntry) -> Statement:
    return Statement(
        text=entry.text,
        speaker=entry.label,
        time=entry.happened_at,
        path=f"{entry.workspace}\0{entry.path}",
        line=entry.line,
        ordinal=entry.ordinal,
    )
