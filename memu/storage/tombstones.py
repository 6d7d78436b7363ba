"""What a scope was told to forget, as keyed hashes: the words themselves are kept nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import Select, select

from memu.storage.scoped import Group
from memu.storage.statements import one_of
from memu.storage.tables import scope, tombstone

__all__ = ["Tombstones"]


class Tombstones(Group):
    """Rows of ``tombstone``."""

    def add(self, key_hashes: Iterable[str]) -> None:
        """Remember hashes; those known are not written."""
        new = sorted(set(key_hashes) - self.list())
        self._scoped.insert_missing(
            tombstone, [{"key_hash": each, "created_at": self._scoped.now} for each in new]
        )

    def salt(self) -> str:
        """The scope's key for hashes, in hex; "" for a scope never written."""
        return self._scoped.run(_salts()).scalar_one_or_none() or ""

    def list(self) -> frozenset[str]:
        """All hashes."""
        return frozenset(self._scoped.find((tombstone.c.key_hash,), tombstone).scalars())

    def remove(self, key_hashes: Iterable[str]) -> None:
        """Drop hashes, so that what they stand for may be remembered again."""
        self._scoped.delete_ids(tombstone, sorted(set(key_hashes)), "key_hash")


@cache
def _salts() -> Select[Any]:
    return select(scope.c.salt).where(one_of(scope.c.id, "the_scopes"))
