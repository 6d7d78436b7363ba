"""A column compared with a whole list that is one parameter.

Given each as a parameter of its own, a list of two hundred ids takes SQLAlchemy longer to write out than the
database to look them up, and no two lists of other lengths are the same statement to prepare.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ARRAY, Boolean, ColumnElement, Dialect, Text, TypeDecorator, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import TypeEngine

__all__ = ["Listed"]


class _Several(TypeDecorator[Sequence[Any]]):
    """Values of ``kind``, without null: an array on Postgres, their JSON elsewhere."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: TypeEngine[Any]) -> None:
        super().__init__()
        self.kind = kind

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(ARRAY(self.kind) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> Any:
        if value is None:
            raise ValueError("A list is needed here, if only an empty one.")
        return list(value) if dialect.name == "postgresql" else json.dumps(list(value))


class Listed(FunctionElement[bool]):
    """Whether ``column`` holds one of the values of the list ``parameter``."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], parameter: str) -> None:
        # Of strings that differ in their length alone the same array will do.
        kind = Text() if isinstance(column.type.python_type(), str) else column.type
        super().__init__(column, bindparam(parameter, type_=_Several(kind)))

    def self_group(self, against: OperatorType | None = None) -> Listed:
        """Itself, for it is a condition: as a value SQLite would compare it with 1, row after row."""
        return self


@compiles(Listed)
def _as_array(element: Listed, compiler: SQLCompiler, **given: Any) -> str:
    column, values = (compiler.process(each, **given) for each in element.clauses)
    return f"{column} = ANY ({values})"


@compiles(Listed, "sqlite")
def _as_json(element: Listed, compiler: SQLCompiler, **given: Any) -> str:
    column, values = (compiler.process(each, **given) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - both are compiled
