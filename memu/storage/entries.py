"""The remembered things of a scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from memu.records import LineSpan, RecallEntry, Resource, Track, Workspace
from memu.storage.ids import new_id
from memu.storage.matching import match_in_order
from memu.storage.rows import (
    ENTRY,
    RESOURCE,
    WORKSPACE,
    entry_values,
    span,
    to_entry,
    to_resource,
    to_workspace,
)
from memu.storage.scoped import Group, chunks, linked
from memu.storage.statements import within
from memu.storage.tables import recall_entry, recall_file_entry, resource, workspace

__all__ = ["CitedEntry", "Entries", "PlacedEntry"]

_RESOURCE_AT = len(ENTRY)
_WORKSPACE_AT = _RESOURCE_AT + len(RESOURCE)
_MARK_AT = _WORKSPACE_AT + len(WORKSPACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedEntry:
    """An entry and the source it stands in.

    Where a page was asked for, ``mark`` is its footnote for the entry and ``spelling`` the name that the source
    gives the page.
    """

    entry: RecallEntry
    resource: Resource
    workspace: Workspace
    mark: str = ""
    spelling: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedEntry:
    """Where an entry of a page stands, and its footnote there."""

    workspace_id: str
    path: str
    lines: LineSpan | None
    place: str | None
    mark: str


class Entries(Group):
    """Rows of ``recall_entry``."""

    def replace(
        self, resource_id: str, entries: Sequence[RecallEntry], stored: Sequence[RecallEntry] | None = None
    ) -> tuple[str, ...]:
        """Make ``entries`` all that is remembered of a source; returns their ids in order.

        An entry whose track, text_key and text were there keeps its id, ``created_at`` and ``shown``; its lines,
        label and the like are set in place where they differ. The others are inserted or deleted.
        ``stored``: those that are there, where they were just asked for.
        """
        stored = self._of_resource(resource_id) if stored is None else stored
        matching = match_in_order(stored, entries, _identity, _identity)
        inserted: list[Mapping[str, Any]] = []
        ids: list[str] = []
        updated: list[tuple[str, Mapping[str, Any]]] = []
        # The entries that go leave first: their place may be needed.
        self._scoped.delete_ids(recall_entry, [entry.id for entry in matching.left])
        for entry, known in matching.pairs:
            values = entry_values(entry)
            if known is None:
                ids.append(entry.id or new_id())
                inserted.append(self._new_row(ids[-1], resource_id, entry, values))
                continue
            ids.append(known.id)
            if values != entry_values(known):
                updated.append((known.id, values))
        self._scoped.update_ids(recall_entry, updated)
        self._scoped.insert(recall_entry, inserted)
        if matching.left or updated or inserted:
            self._scoped.bump()
        return tuple(ids)

    def of_workspace(self, workspace_id: str) -> tuple[RecallEntry, ...]:
        """Every entry of a workspace's sources, shown or not, in (path, ordinal) order."""
        statement = (
            self._scoped.select(*ENTRY, resource.c.path, of=recall_entry)
            .join(resource, linked(recall_entry, "resource_id", resource))
            .where(resource.c.workspace_id == workspace_id)
        )
        rows = sorted(self._connection.execute(statement), key=lambda row: (row[-1], row[2]))
        return tuple(to_entry(row) for row in rows)

    def of_resource(self, resource_id: str) -> tuple[RecallEntry, ...]:
        """The entries of one source, in their order."""
        return self._of_resource(resource_id)

    def of_page(self, file_id: str) -> tuple[PlacedEntry, ...]:
        """What a page rests on, in (workspace name or root, path, line, ordinal) order, with the page's marks."""
        return tuple(sorted(_gather(self._scoped.run(_of_page(), file_id=file_id)), key=_place))

    def of_pages(self) -> dict[str, tuple[CitedEntry, ...]]:
        """Page id → what it rests on, as ``of_page`` orders it, of all pages in one query; without the texts."""
        link, entry = recall_file_entry.c, recall_entry.c
        columns = (resource.c.path, entry.line_start, entry.ordinal, entry.line_end, entry.place)
        folder = func.coalesce(func.nullif(workspace.c.name, ""), workspace.c.root)
        statement = _with_sources(
            self._scoped.select(link.file_id, link.mark, folder, workspace.c.id, *columns, of=recall_entry)
        ).join(recall_file_entry, linked(recall_file_entry, "entry_id", recall_entry))
        found: dict[str, list[CitedEntry]] = defaultdict(list)
        rows = self._connection.execute(statement).all()
        for file_id, mark, _, workspace_id, path, start, _, end, place in sorted(rows, key=_place_of_row):
            cited = CitedEntry(
                workspace_id=workspace_id, path=path, lines=span(start, end), place=place, mark=mark
            )
            found[file_id].append(cited)
        return {file_id: tuple(entries) for file_id, entries in found.items()}

    def count_unplaced(self, workspace_id: str) -> int:
        """How many of a workspace's shown entries no page cites: they are on none, or on one not folded since."""
        link = recall_file_entry.c
        cited = select(link.file_id).where(linked(recall_file_entry, "entry_id", recall_entry), link.mark != "")
        statement = _with_sources(self._scoped.select(func.count(), of=recall_entry))
        wanted = recall_entry.c.shown & ~cited.correlate(recall_entry).exists()
        return int(self._connection.execute(statement.where(wanted, workspace.c.id == workspace_id)).scalar_one())

    def get(self, entry_id: str) -> PlacedEntry | None:
        """The entry with this id and its source."""
        found = _gather(self._connection.execute(self._sourced().where(recall_entry.c.id == entry_id)))
        return found[0] if found else None

    def list_shown(
        self, tracks: Collection[Track] = frozenset(Track), *, after: str | None = None, limit: int = 100
    ) -> tuple[PlacedEntry, ...]:
        """At most ``limit`` shown entries of these tracks in the order of their ids, those after ``after``."""
        key = recall_entry.c.id
        wanted = recall_entry.c.shown & recall_entry.c.track.in_([track.value for track in tracks])
        statement = self._sourced().where(wanted).order_by(key).limit(limit)
        statement = statement if after is None else statement.where(key > after)
        return tuple(_gather(self._connection.execute(statement)))

    def set_shown(self, ids: Sequence[str], shown: bool) -> int:
        """Show or hide entries; returns how many were not so before."""
        written = 0
        for piece in chunks(ids):
            statement = self._scoped.update(recall_entry).where(
                recall_entry.c.id.in_(piece), recall_entry.c.shown.is_not(shown)
            )
            written += self._connection.execute(statement.values(shown=shown)).rowcount
        if written:
            self._scoped.bump()
        return written

    def set_page_hint(self, ids: Sequence[str], page_hint: str) -> None:
        """Name the page that these entries are for."""
        self._scoped.update_ids(recall_entry, [(each, {"page_hint": page_hint}) for each in ids])

    def count(self, workspace_id: str | None = None, *, shown: bool | None = None) -> int:
        """How many entries the scope, or one workspace, has."""
        statement = self._scoped.select(func.count(), of=recall_entry)
        if shown is not None:
            statement = statement.where(recall_entry.c.shown.is_(shown))
        if workspace_id is not None:
            statement = statement.join(resource, linked(recall_entry, "resource_id", resource)).where(
                resource.c.workspace_id == workspace_id
            )
        return int(self._connection.execute(statement).scalar_one())

    def _new_row(
        self, entry_id: str, resource_id: str, entry: RecallEntry, values: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        return {
            "id": entry_id,
            "resource_id": resource_id,
            **values,
            "shown": entry.shown,
            "created_at": entry.created_at or self._scoped.now,
        }

    def _of_resource(self, resource_id: str) -> tuple[RecallEntry, ...]:
        found = (to_entry(row) for row in self._scoped.find(ENTRY, recall_entry, resource_id=resource_id))
        return tuple(sorted(found, key=lambda entry: entry.ordinal))

    def _sourced(self) -> Select[Any]:
        return _with_sources(self._scoped.select(*ENTRY, *RESOURCE, *WORKSPACE, of=recall_entry))


@cache
def _of_page() -> Select[Any]:
    link = recall_file_entry.c
    columns = (*ENTRY, *RESOURCE, *WORKSPACE, link.mark, link.spelling)
    entries = _with_sources(select(*columns).select_from(recall_entry).where(within(recall_entry)))
    linking = linked(recall_file_entry, "entry_id", recall_entry)
    return entries.join(recall_file_entry, linking).where(link.file_id == bindparam("file_id"))


def _gather(rows: Iterable[Sequence[Any]]) -> list[PlacedEntry]:
    resources: dict[str, Resource] = {}
    workspaces: dict[str, Workspace] = {}
    found: list[PlacedEntry] = []
    for row in rows:
        source, folder = row[_RESOURCE_AT:_WORKSPACE_AT], row[_WORKSPACE_AT:_MARK_AT]
        if source[0] not in resources:
            resources[source[0]] = to_resource(source)
        if folder[0] not in workspaces:
            workspaces[folder[0]] = to_workspace(folder)
        found.append(
            PlacedEntry(
                entry=to_entry(row[:_RESOURCE_AT]),
                resource=resources[source[0]],
                workspace=workspaces[folder[0]],
                mark=row[_MARK_AT] if len(row) > _MARK_AT else "",
                spelling=row[_MARK_AT + 1] if len(row) > _MARK_AT else "",
            )
        )
    return found


def _with_sources(entries: Select[Any]) -> Select[Any]:
    return entries.join(resource, linked(recall_entry, "resource_id", resource)).join(
        workspace, linked(resource, "workspace_id", workspace)
    )


def _identity(entry: RecallEntry) -> tuple[str, str, str]:
    return entry.track.value, entry.text_key, entry.text


def _place(found: PlacedEntry) -> tuple[str, str, str, int, int]:
    entry, folder = found.entry, found.workspace
    line = entry.lines.start if entry.lines else 0
    return folder.name or folder.root, folder.id, found.resource.path, line, entry.ordinal


def _place_of_row(row: Sequence[Any]) -> tuple[Any, ...]:
    _, _, folder, workspace_id, path, line, ordinal, *_ = row
    return folder, workspace_id, path, line or 0, ordinal
