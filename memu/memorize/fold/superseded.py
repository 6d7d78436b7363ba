"""What was said earlier: statements of a page whose place a newer one of it takes, by naming what is no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memu.memorize.fold.entries import PageEntry
from memu.records import Origin
from memu.supersession import TOLD, Statement, find_replaced, supersedes

__all__ = ["mark_earlier"]

_EARLIER = "earlier"


def mark_earlier(entries: Sequence[PageEntry]) -> list[PageEntry]:
    """The entries, those that a newer one supersedes with "earlier" in their label; nothing is left out."""
    told = [each for each in entries if each.kind in TOLD and each.origin is not Origin.MODEL]
    naming: defaultdict[str, list[Statement]] = defaultdict(list)
    for each in told:
        for replaced in find_replaced(each.text):
            naming[replaced.name].append(_state(each))
    gone = {each.id for each in told if _is_superseded(each, naming)} if naming else set()
    # Who says the same once more afterwards has changed their mind again; the page has one block for both.
    standing = {each.identity for each in entries if each.id not in gone}
    gone = {each.id for each in told if each.identity not in standing}
    return [_relabel(each) if each.id in gone else each for each in entries]


def _is_superseded(entry: PageEntry, naming: Mapping[str, Sequence[Statement]]) -> bool:
    """Whether any statement takes the entry's place. ``naming``: what is no more → the statements that say so."""
    folded, state = entry.text.lower(), _state(entry)
    # A look for the characters first: there may be thousands of entries, and few have such a name.
    near = (statement for name, statements in naming.items() if name in folded for statement in statements)
    return any(supersedes(statement, state) for statement in near)


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
