"""Statements that are made once and run many times: to make one costs more than to run it.

Each bears the filter of its scope as a parameter, ``the_scope`` where it writes and ``the_scopes`` where it reads,
which ``Scoped`` gives; without it no database runs it. What is kept says nothing of a store, so it is never stale.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Delete, Insert, Select, Table, Update, bindparam, delete, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.selectable import FromClause

from memu.storage.listed import Listed
from memu.storage.tables import scope

__all__ = [
    "Columns",
    "bump_row",
    "bump_scope",
    "delete_where",
    "find_mine",
    "find_where",
    "insert_into",
    "insert_missing",
    "insert_plain",
    "listed",
    "one_of",
    "update_where",
    "upsert",
    "within",
]

Columns = tuple[ColumnElement[Any], ...]


def within(table: FromClause) -> ColumnElement[bool]:
    """That a row lies in one of ``the_scopes``."""
    return one_of(table.c.scope_id, "the_scopes")


def one_of(column: ColumnElement[Any], parameter: str) -> ColumnElement[bool]:
    """That a column holds one of the few values given for ``parameter``, each a parameter of its own."""
    return column.in_(bindparam(parameter, expanding=True))


def listed(column: ColumnElement[Any], parameter: str) -> ColumnElement[bool]:
    """That a column holds one of the ids or numbers given for ``parameter``, hundreds of them in one parameter."""
    return Listed(column, parameter)


@cache
def find_where(columns: Columns, table: Table, names: tuple[str, ...]) -> Select[Any]:
    """The rows whose columns ``names`` equal the parameters of the same names."""
    equal = (table.c[name] == bindparam(name) for name in names)
    return select(*columns).select_from(table).where(within(table), *equal)


@cache
def find_mine(columns: Columns, table: Table, names: tuple[str, ...]) -> Select[Any]:
    """The same in ``the_scope`` alone, which is quicker: a list of scopes is written out anew each time."""
    equal = (table.c[name] == bindparam(name) for name in names)
    return select(*columns).select_from(table).where(_mine(table), *equal)


@cache
def delete_where(table: Table, column: str) -> Delete:
    """Delete the rows whose column equals ``the_id``."""
    return delete(table).where(_mine(table), table.c[column] == bindparam("the_id"))


@cache
def update_where(table: Table, changing: tuple[str, ...]) -> Update:
    """Set the columns ``changing`` of the row ``the_id`` to the parameters of those names after ``new_``."""
    new = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in changing}
    return update(table).where(_mine(table), table.c.id == bindparam("the_id")).values(new)


@cache
def bump_scope() -> Update:
    """Count the scope's version up."""
    return update(scope).where(scope.c.id == bindparam("the_scope")).values(version=scope.c.version + 1)


@cache
def bump_row(table: Table) -> Update:
    """Count the version of the row ``the_id`` up."""
    mine = update(table).where(_mine(table), table.c.id == bindparam("the_id"))
    return mine.values(version=table.c.version + 1)


@cache
def insert_into(table: Table) -> Insert:
    """Insert rows."""
    return table.insert()


@cache
def insert_missing(insert: Callable[[Table], Any], table: Table) -> Insert:
    """Insert rows but those whose key is there; ``insert`` is the database's own."""
    statement: Insert = insert(table).on_conflict_do_nothing()
    return statement


@cache
def upsert(insert: Callable[[Table], Any], table: Table, changing: tuple[str, ...]) -> Insert:
    """Insert rows; where the primary key is there, set the columns ``changing``."""
    new = insert(table)
    statement: Insert = new.on_conflict_do_update(
        index_elements=[column.name for column in table.primary_key.columns],
        set_={name: new.excluded[name] for name in changing},
    )
    return statement


# As many databases as are open at once, each with a few tables; the dialect belongs to one of them.
@lru_cache(maxsize=32)
def insert_plain(dialect: Dialect, table: Table, columns: tuple[str, ...]) -> tuple[str, bool]:
    """The SQL of an INSERT, and whether it takes the values of ``columns`` by position."""
    statement = table.insert().compile(dialect=dialect, column_keys=columns)
    assert not statement.positional or statement.positiontup == list(columns)
    return str(statement), statement.positional


def _mine(table: Table) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = table.c.scope_id == bindparam("the_scope")
    return condition
