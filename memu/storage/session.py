"""What a transaction's work is handed: the way to a scope's repository."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from memu.records import Scope
from memu.storage.encoders import Encoders
from memu.storage.endpoints import Endpoints
from memu.storage.engine import insert_function
from memu.storage.ids import new_salt, new_scope_id
from memu.storage.leases import Leases
from memu.storage.repository import Repository
from memu.storage.scoped import Scoped, chunks
from memu.storage.soundness import Soundness
from memu.storage.statements import one_of
from memu.storage.tables import scope as scope_table

__all__ = ["Session"]


class Session:
    """One transaction on the store. ``writable`` says whether it may write; ``now`` is its one time."""

    def __init__(self, connection: Connection, *, writable: bool, now: datetime) -> None:
        self.writable = writable
        self.now = now
        self.encoders = Encoders(connection, now)
        self.endpoints = Endpoints(connection, now)
        self.locks = Leases(connection, now)
        self.soundness = Soundness(connection)
        self._connection = connection
        self._repositories: dict[str, Repository] = {}

    def within(self, scope: Scope) -> Repository:
        """The repository of one scope. In a writing transaction an unknown scope is made; else it is empty.

        Who writes to a scope holds it until the transaction ends: on a server others that would wait here.
        """
        if scope.key not in self._repositories:
            ids = (self._ensure(scope),) if self.writable else self._ids([scope.key])
            self._repositories[scope.key] = Repository(Scoped(self._connection, ids, self.now))
        return self._repositories[scope.key]

    def across(self, scopes: Iterable[Scope]) -> Repository:
        """A repository that reads several scopes at once; its writing methods raise ScopeError."""
        ids = self._ids(sorted({each.key for each in scopes}))
        return Repository(Scoped(self._connection, ids, self.now))

    def scopes(self) -> tuple[Scope, ...]:
        """Every scope that the store knows, by key."""
        return tuple(sorted(map(Scope, self._keys()), key=lambda each: each.key))

    def some_scopes(self, limit: int) -> tuple[Scope, ...]:
        """At most so many of them, always the same as long as no scope is made or removed."""
        statement = select(scope_table.c.key).order_by(scope_table.c.id).limit(limit)
        return tuple(map(Scope, self._connection.execute(statement).scalars()))

    def matching(self, conditions: Mapping[str, Collection[str | int | bool]]) -> tuple[Scope, ...]:
        """The scopes whose every field named holds one of the values given for it. No condition matches all."""
        wanted = {name: {_typed(value) for value in values} for name, values in conditions.items()}
        return tuple(
            each
            for each in self.scopes()
            if all(
                name in each.fields and _typed(each.fields[name]) in allowed for name, allowed in wanted.items()
            )
        )

    def remove(self, scope: Scope) -> None:
        """Remove a scope with everything in it."""
        self._repositories.pop(scope.key, None)
        self._connection.execute(scope_table.delete().where(scope_table.c.key == scope.key))

    def _keys(self) -> list[str]:
        return list(self._connection.execute(select(scope_table.c.key)).scalars())

    def _ids(self, keys: Sequence[str]) -> tuple[str, ...]:
        found: list[str] = []
        for piece in chunks(keys):
            found += self._connection.execute(_ids_of(), {"keys": piece}).scalars().all()
        return tuple(sorted(found))

    def _ensure(self, scope: Scope) -> str:
        held = {"key": scope.key}
        while (known := self._connection.execute(_id_held(), held).scalar_one_or_none()) is None:
            # Nothing is inserted where the id is taken, or another process has just made the scope: look again.
            row = {
                "id": new_scope_id(),
                "key": scope.key,
                "fields": scope.fields,
                "version": 0,
                "salt": new_salt(),
                "created_at": self.now,
            }
            insert = insert_function(self._connection)(scope_table)
            self._connection.execute(insert.on_conflict_do_nothing(), [row])
        return str(known)


@cache
def _id_held() -> Select[Any]:
    """The id of the scope ``key``, held; on SQLite there is one writer anyway, and no word for this."""
    wanted = select(scope_table.c.id).where(scope_table.c.key == bindparam("key"))
    return wanted.with_for_update(key_share=True)


@cache
def _ids_of() -> Select[Any]:
    return select(scope_table.c.id).where(one_of(scope_table.c.key, "keys"))


def _typed(value: str | int | bool) -> tuple[str, str | int | bool]:
    # True and 1 are equal to Python, and not the same user.
    return type(value).__name__, value
