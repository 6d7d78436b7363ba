"""The synced folders of a scope."""

from __future__ import annotations

from sqlalchemy import ColumnElement, true

from memu.records import Workspace
from memu.storage.ids import new_id
from memu.storage.rows import WORKSPACE, to_workspace
from memu.storage.scoped import Group
from memu.storage.statements import bump_row
from memu.storage.tables import workspace

__all__ = ["Workspaces"]


class Workspaces(Group):
    """Rows of ``workspace``."""

    def find(self, *, name: str | None = None, root: str | None = None) -> Workspace | None:
        """The workspace of this name, of this root, or of both where both are given."""
        if name is None and root is None:
            return None
        wanted: ColumnElement[bool] = true()
        if name is not None:
            wanted &= workspace.c.name == name
        if root is not None:
            wanted &= workspace.c.root == root
        return self._first(wanted)

    def get(self, workspace_id: str) -> Workspace | None:
        """The workspace with this id."""
        return self._first(workspace.c.id == workspace_id)

    def list(self) -> tuple[Workspace, ...]:
        """All, by name, those without one after them by root."""
        rows = self._connection.execute(self._scoped.select(*WORKSPACE, of=workspace))
        found = [to_workspace(row) for row in rows]
        return tuple(sorted(found, key=lambda each: (each.name is None, each.name or "", each.root)))

    def add(self, *, name: str | None, root: str) -> Workspace:
        """A new workspace, nothing synced yet.

        Raises:
            StoreError: the scope has one of that name or root.
        """
        made = Workspace(id=new_id(), name=name, root=root)
        self._scoped.insert(
            workspace,
            [
                {
                    "id": made.id,
                    "name": name,
                    "root": root,
                    "version": 0,
                    "assigned": 0,
                    "created_at": self._scoped.now,
                }
            ],
        )
        self._scoped.bump()
        return made

    def save(self, changed: Workspace) -> None:
        """Store a new name or root; an equal one writes nothing. Versions have methods of their own."""
        stored = self.get(changed.id)
        if stored is None or (stored.name, stored.root) == (changed.name, changed.root):
            return
        statement = self._scoped.update(workspace).where(workspace.c.id == changed.id)
        self._connection.execute(statement.values(name=changed.name, root=changed.root))
        self._scoped.bump()

    def remove(self, workspace_id: str) -> None:
        """Remove a workspace with its sources, their entries and passages. Pages are for *fold* to settle."""
        self._scoped.delete_ids(workspace, [workspace_id])
        self._scoped.bump()

    def bump(self, workspace_id: str) -> None:
        """Note that a source of the workspace changed, so that its pages have to be settled again."""
        values = {"the_scope": self._scoped.scope_id, "the_id": workspace_id}
        self._connection.execute(bump_row(workspace), values)

    def mark_assigned(self, workspace_id: str, version: int) -> None:
        """Note that pages are settled for the sources of this version; an equal mark writes nothing."""
        statement = self._scoped.update(workspace).where(
            workspace.c.id == workspace_id, workspace.c.assigned != version
        )
        self._connection.execute(statement.values(assigned=version))

    def _first(self, wanted: ColumnElement[bool]) -> Workspace | None:
        row = self._connection.execute(self._scoped.select(*WORKSPACE, of=workspace).where(wanted)).first()
        return to_workspace(row) if row else None
