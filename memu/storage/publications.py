"""Which trees a scope was published to, and how they stood then."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from memu.storage.scoped import Group
from memu.storage.tables import publication, scope

__all__ = ["Publication", "Publications"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A published tree: the scope's version and a fingerprint of the tree's files at that time."""

    tree: str
    version: int
    fingerprint: str


class Publications(Group):
    """Rows of ``publication``."""

    def scope_version(self) -> int:
        """The scope's version: it grows with every change that an export can show; 0 for a scope never written."""
        statement = select(func.max(scope.c.version)).where(scope.c.id.in_(self._scoped.scope_ids))
        return int(self._connection.execute(statement).scalar_one_or_none() or 0)

    def get(self, tree: str) -> Publication | None:
        """How ``tree`` was last published."""
        columns = publication.c
        statement = self._scoped.select(columns.tree, columns.version, columns.fingerprint, of=publication)
        row = self._connection.execute(statement.where(columns.tree == tree)).first()
        return Publication(tree=row[0], version=row[1], fingerprint=row[2]) if row else None

    def list(self) -> tuple[Publication, ...]:
        """All published trees, by name."""
        columns = publication.c
        statement = self._scoped.select(columns.tree, columns.version, columns.fingerprint, of=publication)
        rows = sorted(self._connection.execute(statement))
        return tuple(Publication(tree=row[0], version=row[1], fingerprint=row[2]) for row in rows)

    def set(self, published: Publication) -> None:
        """Note a publication; an equal one writes nothing."""
        if self.get(published.tree) == published:
            return
        row = {
            "tree": published.tree,
            "version": published.version,
            "fingerprint": published.fingerprint,
            "published_at": self._scoped.now,
        }
        self._scoped.upsert(publication, [row], ("version", "fingerprint", "published_at"))
