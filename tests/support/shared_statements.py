"""SQL that one store has made ready serves the next of its kind: tests open thousands, each with its own.

Of a test's time a quarter went there. SQLAlchemy keeps statements by the dialect that made them; here dialects of
one kind and version count as one, and their engines keep statements in one place. Nothing else differs.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

__all__ = ["SharedPostgres", "SharedSQLite", "share_statements"]

_STATEMENTS: LRUCache[Any, Any] = LRUCache(4000)


class SharedSQLite(SQLiteDialect_pysqlite):
    """Equal to each other of its kind."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Called by SQLAlchemy with each new engine."""
        engine.update_execution_options(compiled_cache=_STATEMENTS)


class SharedPostgres(PGDialect_psycopg):
    """Equal to each other of its kind that speaks to a server of the same version."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharedPostgres) and self._version() == other._version()

    def __hash__(self) -> int:
        return hash(type(self))

    def _version(self) -> object:
        return getattr(self, "server_version_info", id(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Called by SQLAlchemy with each new engine."""
        engine.update_execution_options(compiled_cache=_STATEMENTS)


def share_statements() -> None:
    """From now on, in this process."""
    registry.register("sqlite", __name__, SharedSQLite.__name__)
    registry.register("sqlite.pysqlite", __name__, SharedSQLite.__name__)
    registry.register("postgresql.psycopg", __name__, SharedPostgres.__name__)
