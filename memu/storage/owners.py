"""What the passages of a search belong to: their sources, entries and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memu.records import Passage, RecallEntry, Resource, Track
from memu.storage.rows import ENTRY, PASSAGE, RESOURCE, to_entry, to_passage, to_resource
from memu.storage.scoped import Scoped, chunks, linked
from memu.storage.tables import passage, recall_entry, recall_file, recall_file_entry, resource

__all__ = ["PAGE_NAME", "FoundPassage", "PageName", "find_owners", "to_page_name"]

PAGE_NAME = tuple(recall_file.c[name] for name in ("id", "track", "folded_name", "name", "description"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageName:
    """A page without its content."""

    id: str
    track: Track
    folded_name: str
    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage with what it belongs to.

    ``resource`` is the source of a source's or an entry's passage; ``entry`` is set for an entry's passage;
    ``pages`` is the page that owns it, or the pages that rest on its entry, by (track, folded name).
    """

    passage: Passage
    resource: Resource | None = None
    entry: RecallEntry | None = None
    pages: tuple[PageName, ...] = ()


def to_page_name(row: Sequence[Any]) -> PageName:
    """The record of a row of the columns ``PAGE_NAME``."""
    each, track, folded_name, name, description = row
    return PageName(id=each, track=Track(track), folded_name=folded_name, name=name, description=description)


def find_owners(scoped: Scoped, ids: Sequence[str]) -> dict[str, FoundPassage]:
    """Id → passage with its owners, in the order of ``ids``; ids that are gone are left out."""
    found: dict[str, FoundPassage] = {}
    for piece in chunks(ids):
        found.update(_find_some(scoped, piece))
    return {each: found[each] for each in ids if each in found}


def _find_some(scoped: Scoped, ids: Sequence[str]) -> dict[str, FoundPassage]:
    rows = scoped.connection.execute(scoped.select(*PASSAGE, of=passage).where(passage.c.id.in_(ids)))
    passages = [to_passage(row) for row in rows]
    entries = _entries(scoped, [each.entry_id for each in passages if each.entry_id])
    sources = {each.resource_id for each in passages if each.resource_id}
    resources = _resources(scoped, sorted(sources | {entry.resource_id for entry in entries.values()}))
    pages = _pages(scoped, list(entries), [each.file_id for each in passages if each.file_id])
    found: dict[str, FoundPassage] = {}
    for each in passages:
        entry = entries.get(each.entry_id or "")
        found[each.id] = FoundPassage(
            passage=each,
            entry=entry,
            resource=resources.get(entry.resource_id if entry else each.resource_id or ""),
            pages=tuple(pages.get(each.file_id or each.entry_id or "", ())),
        )
    return found


def _entries(scoped: Scoped, ids: Sequence[str]) -> dict[str, RecallEntry]:
    statement = scoped.select(*ENTRY, of=recall_entry).where(recall_entry.c.id.in_(ids))
    return {row[0]: to_entry(row) for row in scoped.connection.execute(statement)}


def _resources(scoped: Scoped, ids: Sequence[str]) -> dict[str, Resource]:
    statement = scoped.select(*RESOURCE, of=resource).where(resource.c.id.in_(ids))
    return {row[0]: to_resource(row) for row in scoped.connection.execute(statement)}


def _pages(scoped: Scoped, entry_ids: Sequence[str], file_ids: Sequence[str]) -> dict[str, list[PageName]]:
    """Owner (an entry's or a page's id) → pages, sorted."""
    page = recall_file.c
    owned = scoped.select(page.id, *PAGE_NAME, of=recall_file).where(page.id.in_(file_ids))
    rested = (
        scoped.select(recall_file_entry.c.entry_id, *PAGE_NAME, of=recall_file)
        .join(recall_file_entry, linked(recall_file_entry, "file_id", recall_file))
        .where(recall_file_entry.c.entry_id.in_(entry_ids))
    )
    found: dict[str, list[PageName]] = {}
    for statement in (owned, rested):
        for owner, *row in scoped.connection.execute(statement):
            found.setdefault(owner, []).append(to_page_name(row))
    for pages in found.values():
        pages.sort(key=lambda each: (each.track.value, each.folded_name))
    return found
