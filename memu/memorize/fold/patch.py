"""A page before and after a patch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memu.memorize.fold.entries import PageEntry
from memu.records import Track

__all__ = ["PageDraft", "Patched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDraft:
    """A page as it stands, and all the entries that it is to rest on.

    content, description: as they are stored, "" for a new page.
    marks: living entry's id → its mark in ``content``; an entry that the page does not cite yet has none, and a
        mark in ``content`` that no entry here has is lost.
    """

    track: Track
    name: str
    content: str = ""
    description: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[PageEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Patched:
    """A page that every entry backs: each block cites one or more, each entry is cited.

    marks: entry's id → its mark in ``content``.
    description_cites: ids of the entries that a model's description rests on; empty where it is counted from rows.
    accepted: how many operations were carried out. rejected: why others were not, each naming its operation; these
        hold words of the page and of the reply, so they are for the next prompt and not for a row.
    written: (plain text, heading) of each block in a model's words, for search.
    asked: how many replies were asked for. failed: why the model had no part in it, else None.
    """

    content: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    description_cites: tuple[str, ...] = ()
    accepted: int = 0
    rejected: tuple[str, ...] = ()
    written: tuple[tuple[str, str], ...] = ()
    asked: int = 0
    failed: str | None = None
