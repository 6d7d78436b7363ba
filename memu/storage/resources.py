"""The sources of a scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, false, func, or_

from memu.records import Kind, Resource, State
from memu.storage.ids import new_id
from memu.storage.rows import RESOURCE, resource_values, to_resource
from memu.storage.scoped import Group, chunks
from memu.storage.tables import resource

__all__ = ["KnownResource", "Resources"]

# What a look at the folder or a retry alone may change: no reader of the memory can see it.
_STAT_COLUMNS = frozenset({"size", "mtime_ns", "stamp", "seen_ns", "attempts", "tried_at"})


class KnownResource(NamedTuple):
    """As much of a source as is needed to tell whether its file has changed.

    A named tuple and no dataclass: an idle sync makes one for each of many thousand files.
    """

    id: str
    size: int
    mtime_ns: int
    seen_ns: int
    content_hash: str
    state: State
    stamp: int


class Resources(Group):
    """Rows of ``resource``."""

    def of_workspace(self, workspace_id: str) -> tuple[Resource, ...]:
        """All sources of a workspace, by path."""
        return self._all(resource.c.workspace_id == workspace_id)

    def never_read(self, workspace_id: str) -> frozenset[str]:
        """The paths of which an earlier sync only noted that they are there: nothing in their rows was read."""
        unread = self._all((resource.c.workspace_id == workspace_id) & (resource.c.content_hash == ""))
        return frozenset(each.path for each in unread if not each.facts)

    def known(self, workspace_id: str) -> dict[str, KnownResource]:
        """Path → what the store knows of the file, for a diff of many thousand files."""
        columns = resource.c
        statement = self._scoped.select(
            columns.path,
            columns.id,
            columns.size,
            columns.mtime_ns,
            columns.seen_ns,
            columns.content_hash,
            columns.state,
            columns.stamp,
            of=resource,
        ).where(columns.workspace_id == workspace_id)
        states = {state.value: state for state in State}
        return {
            path: KnownResource(each, size, mtime_ns, seen_ns, content_hash, states[state], stamp)
            for path, each, size, mtime_ns, seen_ns, content_hash, state, stamp in self._connection.execute(
                statement
            ).fetchall()
        }

    def settled(self, workspace_id: str, window_ns: int) -> tuple[frozenset[tuple[str, int, int, int]], bool]:
        """(path, size, mtime in ns, stamp) of each source that is done or skipped and was looked at over
        ``window_ns`` after it was written; and whether that is every source of the workspace.

        An idle sync needs no more, and compares it as one set.
        """
        columns = resource.c
        mine = columns.workspace_id == workspace_id
        quiet = columns.state.in_((State.DONE.value, State.SKIPPED.value))
        old = columns.mtime_ns < columns.seen_ns - window_ns
        statement = self._scoped.select(columns.path, columns.size, columns.mtime_ns, columns.stamp, of=resource)
        result = self._connection.execute(statement.where(mine, quiet, old))
        # The driver's own tuples: these four columns need no conversion, and a row object each would cost most.
        found = frozenset(result.cursor.fetchall() if result.cursor else ())
        count = self._connection.execute(self._scoped.select(func.count(), of=resource).where(mine)).scalar_one()
        return found, len(found) == count

    def tries(self, workspace_id: str) -> dict[str, tuple[int, datetime | None]]:
        """Path → how often, and when last, a source that stands as failed, or done in part, was tried."""
        failed = self.in_state(workspace_id, State.FAILED, State.PARTIAL)
        return {each.path: (each.attempts, each.tried_at) for each in failed}

    def of_kind(self, kind: Kind) -> tuple[Resource, ...]:
        """All sources of one kind, by path."""
        return self._all(resource.c.kind == kind.value)

    def get(self, resource_id: str) -> Resource | None:
        """The source with this id."""
        return self._first(id=resource_id)

    def by_path(self, workspace_id: str, path: str) -> Resource | None:
        """The source at this path of the workspace."""
        return self._first(workspace_id=workspace_id, path=path)

    def at(self, path: str) -> tuple[Resource, ...]:
        """The sources at this path in any workspace of the scope."""
        return self._all(resource.c.path == path)

    def save(self, wanted: Resource) -> Resource:
        """Insert or update a source and return it as stored; an equal one writes nothing.

        It is known by its id, or, where that is empty, by workspace and path. The id and ``created_at`` stay;
        ``updated_at`` moves only when something but size, times of looking and attempts differs.
        """
        stored = self.get(wanted.id) if wanted.id else self.by_path(wanted.workspace_id, wanted.path)
        if stored is None:
            return self.add([wanted])[0]
        new, old = resource_values(wanted), resource_values(stored)
        differing = {name for name, value in new.items() if value != old[name]}
        if not differing:
            return stored
        changes = {name: new[name] for name in differing}
        updated_at = stored.updated_at
        if differing - _STAT_COLUMNS:
            updated_at = self._scoped.now
            changes["updated_at"] = updated_at
            self._scoped.bump()
        self._scoped.update_ids(resource, [(stored.id, changes)])
        return replace(wanted, id=stored.id, created_at=stored.created_at, updated_at=updated_at)

    def add(self, wanted: Iterable[Resource]) -> tuple[Resource, ...]:
        """Insert sources that are not there yet; returns them as stored."""
        now = self._scoped.now
        made = tuple(
            replace(each, id=each.id or new_id(), created_at=each.created_at or now, updated_at=now)
            for each in wanted
        )
        times = ({"created_at": each.created_at, "updated_at": each.updated_at} for each in made)
        self._scoped.insert(
            resource,
            [{"id": each.id, **resource_values(each), **set_} for each, set_ in zip(made, times, strict=True)],
        )
        if made:
            self._scoped.bump()
        return made

    def move(self, resource_id: str, new_path: str) -> None:
        """Give a source another path; its id and all that hangs on it stay.

        Raises:
            StoreError: another source is at that path.
        """
        self._scoped.update_ids(resource, [(resource_id, {"path": new_path, "updated_at": self._scoped.now})])
        self._scoped.bump()

    def restat(self, rows: Iterable[tuple[str, int, int, int]], seen_ns: int) -> None:
        """Set (id, size, mtime_ns, stamp) of sources whose contents, seen at that time, were found unchanged."""
        self._scoped.update_ids(
            resource,
            [
                (each, {"size": size, "mtime_ns": mtime_ns, "stamp": stamp, "seen_ns": seen_ns})
                for each, size, mtime_ns, stamp in rows
            ],
        )

    def remove(self, ids: Sequence[str]) -> None:
        """Remove sources with their entries, links, passages, postings and vectors."""
        if ids:
            self._scoped.delete_ids(resource, ids)
            self._scoped.bump()

    def counts(self, workspace_id: str) -> Mapping[State, int]:
        """How many sources are in each state; states without any are left out."""
        statement = (
            self._scoped.select(resource.c.state, func.count(), of=resource)
            .where(resource.c.workspace_id == workspace_id)
            .group_by(resource.c.state)
        )
        return {State(state): count for state, count in self._connection.execute(statement)}

    def languages(self) -> tuple[str, ...]:
        """The languages of the scope's sources, the most frequent first."""
        statement = (
            self._scoped.select(resource.c.language, of=resource)
            .where(resource.c.language.is_not(None))
            .group_by(resource.c.language)
            .order_by(func.count().desc(), resource.c.language)
        )
        return tuple(self._connection.execute(statement).scalars())

    def in_state(self, workspace_id: str, *states: State) -> tuple[Resource, ...]:
        """The sources of a workspace that are in one of these states, by path."""
        return self._all(
            (resource.c.workspace_id == workspace_id) & resource.c.state.in_([state.value for state in states])
        )

    def skipped_for(self, workspace_id: str, endings: Sequence[str]) -> frozenset[str]:
        """The paths of a workspace that were skipped for a reason that ends so."""
        ended = (resource.c.reason.endswith(each, autoescape=True) for each in endings)
        wanted = (
            (resource.c.workspace_id == workspace_id)
            & (resource.c.state == State.SKIPPED.value)
            & or_(false(), *ended)
        )
        rows = self._connection.execute(self._scoped.select(resource.c.path, of=resource).where(wanted))
        return frozenset(row.path for row in rows)

    def many(self, ids: Sequence[str]) -> dict[str, Resource]:
        """Id → source, for those of the ids that exist."""
        found: dict[str, Resource] = {}
        for piece in chunks(ids):
            rows = self._connection.execute(
                self._scoped.select(*RESOURCE, of=resource).where(resource.c.id.in_(piece))
            )
            found.update((row[0], to_resource(row)) for row in rows)
        return found

    def list(
        self, workspace_id: str | None = None, *, after: str | None = None, limit: int = 100
    ) -> tuple[Resource, ...]:
        """At most ``limit`` sources of the scope, or of one workspace, in the order of their ids, those after the
        id ``after``."""
        key = resource.c.id
        statement = self._scoped.select(*RESOURCE, of=resource).order_by(key)
        if workspace_id is not None:
            statement = statement.where(resource.c.workspace_id == workspace_id)
        if after is not None:
            statement = statement.where(key > after)
        return tuple(to_resource(row) for row in self._connection.execute(statement.limit(limit)))

    def _all(self, wanted: ColumnElement[bool]) -> tuple[Resource, ...]:
        rows = self._connection.execute(self._scoped.select(*RESOURCE, of=resource).where(wanted))
        return tuple(sorted((to_resource(row) for row in rows), key=lambda each: (each.path, each.workspace_id)))

    def _first(self, **equal: str) -> Resource | None:
        row = self._scoped.find(RESOURCE, resource, **equal).first()
        return to_resource(row) if row else None
