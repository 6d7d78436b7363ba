"""The part of the store that one repository may touch: every statement is made here and bears its scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Delete,
    Executable,
    Insert,
    Select,
    Table,
    Update,
    delete,
    select,
    update,
)
from sqlalchemy.sql.selectable import FromClause

from memu.errors import ScopeError
from memu.storage import statements
from memu.storage.engine import insert_function
from memu.storage.statements import Columns

__all__ = ["CHUNK", "Group", "Scoped", "chunks", "linked"]

# Below the least number of parameters that a supported database takes in one statement.
CHUNK = 500

Item = TypeVar("Item")


def chunks(items: Sequence[Item], size: int = CHUNK) -> Iterator[Sequence[Item]]:
    """``items`` in pieces of at most ``size``, for IN lists."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def linked(child: FromClause, column: str, parent: FromClause) -> ColumnElement[bool]:
    """The join of a child row with its parent, inside one scope."""
    condition: ColumnElement[bool] = (child.c.scope_id == parent.c.scope_id) & (child.c[column] == parent.c.id)
    return condition


@dataclass(slots=True)
class Scoped:
    """Statements bound to ``scope_ids``: nothing outside them can be named.

    Several scopes may only be read. ``now`` is the time of the whole transaction.
    """

    connection: Connection
    scope_ids: tuple[str, ...]
    now: datetime
    _bumped: bool = False

    @property
    def scope_id(self) -> str:
        """The one scope that is written to.

        Raises:
            ScopeError: the repository spans several scopes.
        """
        if not self.scope_ids:
            raise ScopeError("Nothing is stored in this scope, and a reading transaction cannot make it.")
        if len(self.scope_ids) != 1:
            raise ScopeError("Several scopes at once can only be read; name one scope to write to.")
        return self.scope_ids[0]

    def covers(self, table: FromClause) -> ColumnElement[bool]:
        """The condition that keeps a statement on ``table`` inside the scope."""
        if len(self.scope_ids) == 1:
            condition: ColumnElement[bool] = table.c.scope_id == self.scope_ids[0]
            return condition
        return table.c.scope_id.in_(self.scope_ids)

    def select(self, *columns: Any, of: FromClause) -> Select[Any]:
        """A SELECT of ``columns`` from the rows of ``of`` in the scope; joins add ``linked``."""
        return select(*columns).select_from(of).where(self.covers(of))

    def update(self, table: Table) -> Update:
        """An UPDATE of the scope's rows of ``table``."""
        return update(table).where(table.c.scope_id == self.scope_id)

    def delete(self, table: Table) -> Delete:
        """A DELETE of the scope's rows of ``table``."""
        return delete(table).where(table.c.scope_id == self.scope_id)

    def run(self, statement: Executable, **values: Any) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement of ``statements`` that reads, in this scope, with the values of its parameters."""
        return self.connection.execute(statement, {"the_scopes": self.scope_ids, **values})

    def find(self, columns: Columns, of: Table, **equal: Any) -> CursorResult[*tuple[Any, ...]]:
        """``columns`` of the scope's rows of a table whose columns equal the values named."""
        if len(self.scope_ids) == 1:
            statement = statements.find_mine(columns, of, tuple(equal))
            return self.connection.execute(statement, {"the_scope": self.scope_ids[0], **equal})
        return self.run(statements.find_where(columns, of, tuple(equal)), **equal)

    def delete_ids(self, table: Table, ids: Sequence[str], column: str = "id") -> None:
        """Delete the scope's rows of ``table`` with these ids; what belongs to them goes by cascade."""
        if ids:
            scope = self.scope_id
            statement = statements.delete_where(table, column)
            self.connection.execute(statement, [{"the_scope": scope, "the_id": each} for each in ids])

    def update_ids(self, table: Table, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Set the named columns of each (id, values); all values must name the same columns."""
        if rows:
            scope = self.scope_id
            names = tuple(rows[0][1])
            self.connection.execute(
                statements.update_where(table, names),
                [
                    {"the_scope": scope, "the_id": each, **{f"new_{name}": values[name] for name in names}}
                    for each, values in rows
                ],
            )

    def insert(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert ``rows`` into the scope."""
        self._insert(statements.insert_into(table), rows)

    def insert_plain(self, table: Table, columns: Sequence[str], rows: Sequence[tuple[str | int, ...]]) -> None:
        """Insert many narrow rows of plain text and numbers, past all that SQLAlchemy does for each.

        ``columns`` are in the order of the table, without the scope, which is its first.
        """
        if not rows:
            return
        names = ("scope_id", *columns)
        statement, by_position = statements.insert_plain(self.connection.dialect, table, names)
        scope = self.scope_id
        if by_position:
            self.connection.exec_driver_sql(statement, [(scope, *row) for row in rows])
        else:
            named = [dict(zip(names, (scope, *row), strict=True)) for row in rows]
            self.connection.exec_driver_sql(statement, named)

    def insert_missing(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert ``rows`` but those whose key is already there."""
        self._insert(statements.insert_missing(insert_function(self.connection), table), rows)

    def upsert(self, table: Table, rows: Sequence[Mapping[str, Any]], changing: Sequence[str]) -> None:
        """Insert ``rows``; where the primary key is there, set the columns ``changing``."""
        self._insert(statements.upsert(insert_function(self.connection), table, tuple(changing)), rows)

    def bump(self) -> None:
        """Note, once a transaction, that something changed that an export can show."""
        if not self._bumped:
            self._bumped = True
            self.connection.execute(statements.bump_scope(), {"the_scope": self.scope_id})

    def _insert(self, statement: Insert, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            scope = self.scope_id
            self.connection.execute(statement, [{"scope_id": scope, **row} for row in rows])


class Group:
    """One kind of row of a scope. A group cannot be made without the scope it works in."""

    def __init__(self, scoped: Scoped) -> None:
        self._scoped = scoped
        self._connection = scoped.connection
