"""Databases of memU for tests: the two that it wrote itself, and odd ones made row by row."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

__all__ = ["Legacy", "copy_sqlite", "load_postgres", "run_sql"]

DATA = Path(__file__).parents[1] / "data" / "legacy_memu"
TIME = "2026-03-01 10:00:00"
_COLUMNS = {
    "memory_categories": ("name", "description", "summary", "embedding"),
    "memory_items": ("resource_id", "memory_type", "summary", "embedding", "happened_at", "extra"),
    "resources": ("url", "modality", "local_path", "caption"),
    "category_items": ("item_id", "category_id"),
}


def copy_sqlite(folder: Path) -> Path:
    """A copy of the SQLite file of the revision that knows tracks."""
    return Path(shutil.copy(DATA / "sqlite_after_rename.sqlite3", folder / "memu-old.sqlite3"))


def load_postgres(url: str) -> None:
    """Fill the empty database at ``url`` with the dump of memU 1.5.1."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute((DATA / "postgres_1_5_1.sql").read_bytes())


def run_sql(path: Path, statement: str, *values: Any) -> list[Any]:
    """Run a statement on a SQLite file."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(statement, values).fetchall()
        connection.commit()
    return rows


@dataclass
class Legacy:
    """A SQLite file with memU 1.x's tables. ``scope``: the columns that say whose a row is.

    names: other names of tables; columns: other names of columns; more: further columns of categories. Values
    may be of any type, as SQLite's are.
    """

    path: Path
    scope: Sequence[str] = ("user_id",)
    names: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    more: Sequence[str] = ()

    def __post_init__(self) -> None:
        for table, columns in _COLUMNS.items():
            more = self.more if table == "memory_categories" else ()
            names = ("id", "created_at", "updated_at", *map(self._column, columns), *more, *self.scope)
            run_sql(self.path, f"CREATE TABLE {self._table(table)} ({', '.join(names)})")

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    def category(self, each: Any, name: Any, summary: Any = None, description: Any = "", **more: Any) -> Any:
        return self._add("memory_categories", each, name=name, summary=summary, description=description, **more)

    def item(self, each: Any, summary: Any, *categories: Any, **more: Any) -> Any:
        self._add("memory_items", each, summary=summary, **{"memory_type": "knowledge", **more})
        scope = {name: more[name] for name in self.scope if name in more}
        for category in categories:
            self.link(each, category, **scope)
        return each

    def link(self, item: Any, category: Any, **more: Any) -> None:
        self._add("category_items", f"{item}-{category}", item_id=item, category_id=category, **more)

    def resource(self, each: Any, url: Any, caption: Any = None, **more: Any) -> Any:
        return self._add("resources", each, url=url, caption=caption, modality="document", local_path=url, **more)

    def _add(self, table: str, each: Any, **values: Any) -> Any:
        row = {"created_at": TIME, "updated_at": TIME, **dict.fromkeys(self.scope, None), **values}
        if self.scope == ("user_id",):
            row["user_id"] = values.get("user_id", "ann")
        told = {
            name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()
        }
        names = ", ".join(["id", *map(self._column, told)])
        marks = ", ".join("?" for _ in range(len(told) + 1))
        run_sql(self.path, f"INSERT INTO {self._table(table)} ({names}) VALUES ({marks})", each, *told.values())
        return each

    def _table(self, name: str) -> str:
        return self.names.get(name, name)

    def _column(self, name: str) -> str:
        return self.columns.get(name, name)
