"""The Markdown pages of a scope and the entries that each rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func

from memu.names import choose_display_name, fold_name
from memu.records import Origin, RecallFile, RecallFileEntry, Track
from memu.storage.ids import new_id
from memu.storage.owners import PAGE_NAME, PageName, to_page_name
from memu.storage.rows import PAGE, to_page
from memu.storage.scoped import Group, chunks, linked
from memu.storage.tables import recall_entry, recall_file, recall_file_entry, resource

__all__ = ["Pages"]

_LINK = tuple(recall_file_entry.c[name] for name in ("file_id", "entry_id", "mark", "spelling"))


class Pages(Group):
    """Rows of ``recall_file`` and ``recall_file_entry``."""

    def ensure(self, track: Track, name: str, *, page_id: str | None = None) -> RecallFile:
        """The page of this name, made empty if there is none, with the id given or a new one.

        An existing page keeps its spelling: which spelling is shown depends on all sources, so *assign* sets it
        by ``rename``. Two processes that make one page at once get the same row.
        """
        folded = fold_name(name)
        known = self.by_name(track, folded)
        if known is not None:
            return known
        row = {
            "id": page_id or new_id(),
            "track": track.value,
            "folded_name": folded,
            "name": choose_display_name([name]),
            "description": "",
            "content": "",
            "version": 0,
            "created_at": self._scoped.now,
            "updated_at": self._scoped.now,
        }
        self._scoped.insert_missing(recall_file, [row])
        self._scoped.bump()
        made = self.by_name(track, folded)
        assert made is not None
        return made

    def get(self, file_id: str) -> RecallFile | None:
        """The page with this id."""
        return self._first(id=file_id)

    def by_name(self, track: Track, folded_name: str) -> RecallFile | None:
        """The page of this track and folded name."""
        return self._first(track=track.value, folded_name=folded_name)

    def list(self, track: Track | None = None) -> tuple[RecallFile, ...]:
        """All pages, or those of one track, by (track, folded name)."""
        statement = self._scoped.select(*PAGE, of=recall_file)
        if track is not None:
            statement = statement.where(recall_file.c.track == track.value)
        found = (to_page(row) for row in self._connection.execute(statement))
        return tuple(sorted(found, key=lambda page: (page.track.value, page.folded_name, page.id)))

    def names(self, tracks: Collection[Track], *, after: str | None, limit: int) -> tuple[PageName, ...]:
        """At most ``limit`` pages of these tracks in the order of their ids, those after the id ``after``."""
        key = recall_file.c.id
        wanted = recall_file.c.track.in_([track.value for track in tracks])
        statement = self._scoped.select(*PAGE_NAME, of=recall_file).where(wanted).order_by(key).limit(limit)
        rows = self._connection.execute(statement if after is None else statement.where(key > after))
        return tuple(to_page_name(row) for row in rows)

    def named(self, ids: Iterable[str]) -> dict[str, PageName]:
        """Id → page without its content, for those of the ids that exist."""
        found: dict[str, PageName] = {}
        for piece in chunks(sorted(set(ids))):
            statement = self._scoped.select(*PAGE_NAME, of=recall_file).where(recall_file.c.id.in_(piece))
            found.update((row[0], to_page_name(row)) for row in self._connection.execute(statement))
        return found

    def counts(self) -> Mapping[Track, int]:
        """How many pages each track has; a track without any is left out."""
        statement = self._scoped.select(recall_file.c.track, func.count(), of=recall_file)
        rows = self._connection.execute(statement.group_by(recall_file.c.track))
        return {Track(track): count for track, count in rows}

    def save(self, page: RecallFile, expected_version: int) -> bool:
        """Store name, description and content if the page is still of ``expected_version``; it grows by one.

        Returns False where somebody else has saved or removed it since. An equal page writes nothing.
        """
        stored = self.get(page.id)
        if stored is None or stored.version != expected_version:
            return False
        if _saved(stored) == _saved(page):
            return True
        statement = self._scoped.update(recall_file).where(
            recall_file.c.id == page.id, recall_file.c.version == expected_version
        )
        written = self._connection.execute(
            statement.values(
                **_saved(page),
                version=expected_version + 1,
                updated_at=self._scoped.now,
            )
        ).rowcount
        if written:
            self._scoped.bump()
        return bool(written)

    def rename(self, file_id: str, name: str) -> bool:
        """Set the spelling that is shown (it must fold to the page's name); True if it was another before.

        Raises:
            ValueError: the name folds to another page's.
        """
        stored = self.get(file_id)
        if stored is None or stored.name == name:
            return False
        if fold_name(name) != stored.folded_name:
            raise ValueError(f"{name!r} is no spelling of the page {stored.folded_name!r}.")
        statement = self._scoped.update(recall_file).where(recall_file.c.id == file_id)
        self._connection.execute(
            statement.values(name=name, version=recall_file.c.version + 1, updated_at=self._scoped.now)
        )
        self._scoped.bump()
        return True

    def remove(self, file_id: str) -> None:
        """Remove a page with its links, passages and place in the queue."""
        self._scoped.delete_ids(recall_file, [file_id])
        self._scoped.bump()

    def link(self, file_id: str, entry_ids: Sequence[str], spellings: Mapping[str, str] | None = None) -> None:
        """Let a page rest on these entries too; links that stand keep their marks.

        ``spellings``: entry id → the page's name as its source spells it; a link that stands takes a new one.

        Raises:
            StoreError: the page or an entry is not in this scope.
        """
        spelt = spellings or {}
        known = {link.entry_id: link.spelling for link in self.entries_of(file_id)}
        rows = [
            {"file_id": file_id, "entry_id": each, "mark": "", "spelling": spelt.get(each, "")}
            for each in dict.fromkeys(entry_ids)
            if each not in known or known[each] != spelt.get(each, known[each])
        ]
        self._scoped.upsert(recall_file_entry, rows, ("spelling",))
        if rows:
            self._scoped.bump()

    def unlink(self, file_id: str, entry_ids: Sequence[str]) -> None:
        """Let a page no longer rest on these entries."""
        written = 0
        for piece in chunks(entry_ids):
            statement = self._scoped.delete(recall_file_entry).where(
                recall_file_entry.c.file_id == file_id, recall_file_entry.c.entry_id.in_(piece)
            )
            written += self._connection.execute(statement).rowcount
        if written:
            self._scoped.bump()

    def links_of_workspace(self, workspace_id: str) -> tuple[RecallFileEntry, ...]:
        """Every link from a workspace's entries, by (entry id, page id)."""
        statement = (
            self._scoped.select(*_LINK, of=recall_file_entry)
            .join(recall_entry, linked(recall_file_entry, "entry_id", recall_entry))
            .join(resource, linked(recall_entry, "resource_id", resource))
            .where(resource.c.workspace_id == workspace_id)
        )
        return _to_links(self._connection.execute(statement))

    def set_marks(self, file_id: str, marks: Mapping[str, str]) -> None:
        """Set the footnote mark of each of the page's entries named; equal ones are not written."""
        stored = {link.entry_id: link.mark for link in self.entries_of(file_id)}
        differing = [
            {"the_entry": entry, "new_mark": mark}
            for entry, mark in marks.items()
            if stored.get(entry, mark) != mark
        ]
        if differing:
            statement = self._scoped.update(recall_file_entry).where(
                recall_file_entry.c.file_id == file_id, recall_file_entry.c.entry_id == bindparam("the_entry")
            )
            self._connection.execute(statement.values(mark=bindparam("new_mark")), differing)
            self._scoped.bump()

    def entries_of(self, file_id: str) -> tuple[RecallFileEntry, ...]:
        """The links of one page, by entry id."""
        return _to_links(self._scoped.find(_LINK, recall_file_entry, file_id=file_id))

    def pages_of_entries(self, entry_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Entry id → the pages that rest on it; entries on no page are left out."""
        link = recall_file_entry.c
        pairs: dict[str, list[str]] = {}
        for piece in chunks(entry_ids):
            statement = self._scoped.select(link.entry_id, link.file_id, of=recall_file_entry)
            for entry, page in self._connection.execute(statement.where(link.entry_id.in_(piece))):
                pairs.setdefault(entry, []).append(page)
        return {entry: tuple(sorted(pages)) for entry, pages in pairs.items()}

    def with_origin(self, origin: Origin) -> frozenset[str]:
        """The ids of the pages that rest on an entry in these words."""
        statement = (
            self._scoped.select(recall_file_entry.c.file_id, of=recall_file_entry)
            .join(recall_entry, linked(recall_file_entry, "entry_id", recall_entry))
            .where(recall_entry.c.origin == origin.value)
        )
        return frozenset(self._connection.execute(statement).scalars())

    def _first(self, **equal: str) -> RecallFile | None:
        row = self._scoped.find(PAGE, recall_file, **equal).first()
        return to_page(row) if row else None


def _to_links(rows: Iterable[Any]) -> tuple[RecallFileEntry, ...]:
    found = (
        RecallFileEntry(file_id=page, entry_id=entry, mark=mark, spelling=spelling)
        for page, entry, mark, spelling in rows
    )
    return tuple(sorted(found, key=lambda each: (each.entry_id, each.file_id)))


def _saved(page: RecallFile) -> dict[str, Any]:
    """What saving a page may change."""
    cites = None if page.described_by is None else list(page.described_by)
    return {
        "name": page.name,
        "description": page.description,
        "described_by": cites,
        "content": page.content,
    }
