"""Which trees a scope was published to, and how they stood then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from sqlalchemy import func, select

from memu.storage.scoped import Group
from memu.storage.tables import publication, scope, tombstone

__all__ = ["Publication", "Publications"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A published tree: the scope's version and a fingerprint of the tree's files at that time.

    ``published_at`` is set by the store.
    """

    tree: str
    version: int
    fingerprint: str
    published_at: datetime | None = field(default=None, compare=False)


_COLUMNS = tuple(publication.c[name] for name in ("tree", "version", "fingerprint", "published_at"))


class Publications(Group):
    """Rows of ``publication``."""

    def scope_version(self) -> int:
        """The scope's version: it grows with every change that an export can show; 0 for a scope never written."""
        statement = select(func.max(scope.c.version)).where(scope.c.id.in_(self._scoped.scope_ids))
        return int(self._connection.execute(statement).scalar_one_or_none() or 0)

    def get(self, tree: str) -> Publication | None:
        """How ``tree`` was last published."""
        statement = self._scoped.select(*_COLUMNS, of=publication)
        row = self._connection.execute(statement.where(publication.c.tree == tree)).first()
        return _to_publication(row) if row else None

    def list(self) -> tuple[Publication, ...]:
        """All published trees, by name."""
        rows = self._connection.execute(self._scoped.select(*_COLUMNS, of=publication))
        return tuple(sorted(map(_to_publication, rows), key=lambda each: each.tree))

    def are_behind(self) -> bool:
        """Whether a tree is as it was before something was forgotten."""
        newest = self._scoped.find((func.max(tombstone.c.created_at),), tombstone).scalar_one()
        return newest is not None and any(
            not each.published_at or each.published_at <= newest for each in self.list()
        )

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

    def drop_below(self, folder: str) -> None:
        """Know nothing more of the trees in a folder."""
        below = [each.tree for each in self.list() if PurePath(each.tree).is_relative_to(folder)]
        if below:
            self._connection.execute(self._scoped.delete(publication).where(publication.c.tree.in_(below)))


def _to_publication(row: Sequence[Any]) -> Publication:
    return Publication(tree=row[0], version=row[1], fingerprint=row[2], published_at=row[3])
