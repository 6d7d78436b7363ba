"""Whole stores for tests: a folder, a store beside it, and a fresh store that was told to forget the same."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from memu import MemoryService, Scope
from memu.providers.fakes import HashingEncoder
from memu.storage import tables
from memu.storage.database import Database
from memu.storage.session import Session
from support.postgres import Server, run_sql
from support.rows import Place, comparable_rows, connect_to_server, dump_rows

__all__ = ["Bench", "on_both", "on_server_once"]

on_both = pytest.mark.parametrize("bench", ["sqlite", "postgres"], indirect=True)
"""A test whose ``bench`` is a file, and once more on a server."""


def on_server_once(name: str, values: Iterable[Any], server: Any = None) -> pytest.MarkDecorator:
    """A test of each value in a file, and of one, by default the first, on a server too."""
    listed = list(values)
    pairs = [*(("sqlite", value) for value in listed), ("postgres", listed[0] if server is None else server)]
    return pytest.mark.parametrize(("bench", name), pairs, indirect=["bench"])


_ID = re.compile("[a-z2-7]{6}|[a-z2-7]{10}|[a-z2-7]{16}")


@dataclass(frozen=True)
class Bench:
    """A folder ``work``, and trees and a store under a name: a file beside it, or a database of the ``server``."""

    base: Path
    name: str = "store"
    server: Server | None = None

    @property
    def work(self) -> Path:
        return self.base / "work"

    @property
    def store(self) -> Path:
        """The file of the store."""
        assert self.server is None
        return self.base / f"{self.name}.sqlite3"

    @property
    def place(self) -> Place:
        return self.store if self.server is None else self.url

    @property
    def url(self) -> str:
        if self.server is None:
            return f"sqlite:///{self.store}"
        return self.server.named(f"{self.base}/{self.name}")

    @property
    def out(self) -> Path:
        return self.base / f"out-{self.name}"

    def open(self, **options: Any) -> MemoryService:
        given = {"out": self.out, "encoder": HashingEncoder(16), **options}
        return MemoryService.open(self.url, **given)

    def write(self, files: dict[str, str], folder: str = "work") -> None:
        """Write files whose times lie far back, so that no clock decides what is read."""
        for number, (path, text) in enumerate(sorted(files.items())):
            target = self.base / folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            os.utime(target, (1_700_000_000 + number + len(text), 1_700_000_000 + number + len(text)))

    def trees(self) -> dict[str, bytes]:
        """Every exported file but the manifests, by path."""
        files = (path for path in self.out.rglob("*") if path.is_file() and path.name != ".memu-export.json")
        return {path.relative_to(self.out).as_posix(): path.read_bytes() for path in files}

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table."""
        return dump_rows(self.place)

    def comparable(self, scope_key: str = "{}") -> dict[str, list[tuple[Any, ...]]]:
        """What two stores of one folder must agree in."""
        return comparable_rows(self.place, scope_key)

    def read(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a query, past memu."""
        if self.server is not None:
            return run_sql(self.url, statement)
        with closing(sqlite3.connect(self.store)) as connection:
            return connection.execute(statement).fetchall()

    def change(self, statement: str, *values: str) -> None:
        """Run a statement with ``?`` for each value, past memu."""
        if self.server is None:
            with closing(sqlite3.connect(self.store)) as connection:
                connection.execute(statement, values)
                connection.commit()
            return
        with connect_to_server(self.url) as server:
            server.execute(statement.replace("?", "%s"), values)  # type: ignore[arg-type]

    def remove(self) -> None:
        """Remove the store and its trees; the folder stays."""
        shutil.rmtree(self.out, ignore_errors=True)
        if self.server is None:
            self.store.unlink()
        else:
            self.server.release(f"{self.base}/{self.name}")

    def copy_to(self, base: Path) -> Bench:
        """Folder, store and trees at another place; the store is told of it as by a move."""
        shutil.copytree(self.base, base)
        copy = replace(self, base=base)
        if self.server is not None:
            self.server.copy(f"{self.base}/{self.name}", f"{base}/{self.name}")
        copy.change("UPDATE workspace SET root = ?", str(copy.work))
        copy.change("UPDATE publication SET tree = replace(tree, ?, ?)", str(self.base), str(base))
        return copy

    def discard(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.base)
        if self.server is not None:
            self.server.release(f"{self.base}/{self.name}")

    def holding(self, *words: str) -> list[str]:
        """Where any of these words stands: in rows of any table, or in exported files."""
        wanted = [word.casefold() for word in words]
        rows = (
            f"{table}: {row}"
            for table, rows in self.rows().items()
            for row in rows
            if any(_says(value, word) for value in row for word in wanted)
        )
        files = (
            path
            for path, data in self.trees().items()
            if any(word in data.decode("utf-8").casefold() for word in wanted)
        )
        return [*rows, *files]

    def raw(self) -> bytes:
        """The bytes of the store's file and of its log; a server's are not ours to read."""
        if self.server is not None:
            return b""
        files = (self.store, self.store.with_name(f"{self.store.name}-wal"))
        return b"".join(file.read_bytes() for file in files if file.exists())

    def outcome(self) -> Any:
        """What must be equal in two stores of one folder."""
        return self.trees(), self.comparable()

    def empty(self, name: str, scope: Scope | None = None) -> Bench:
        """A store of another name that never knew what this one forgot, but has its tombstones."""
        other = replace(self, name=name)
        wanted = scope or Scope.of()
        with Database.open(self.url) as known, Database.open(other.url) as database:
            salt, rows = known.read_now(lambda session: _read_tombstones(session, wanted))
            database.write_now(lambda session: _write_tombstones(session, wanted, salt, rows))
        return other

    async def fresh(self, scope: Scope | None = None, **options: Any) -> Bench:
        """Another store that never knew what this one forgot, but has its tombstones; it syncs the folder."""
        other = self.empty("fresh", scope)
        wanted = scope or Scope.of()
        async with other.open(**options) as memu:
            await memu.memorize_workspace(self.work, user=wanted.fields)
        return other


def _read_tombstones(session: Session, scope: Scope) -> tuple[str, list[dict[str, Any]]]:
    connection: Connection = session._connection
    salt, scope_id = connection.execute(
        select(tables.scope.c.salt, tables.scope.c.id).where(tables.scope.c.key == scope.key)
    ).one()
    kept = tables.tombstone.c
    found = connection.execute(select(kept.key_hash, kept.created_at).where(kept.scope_id == scope_id))
    return salt, [dict(row) for row in found.mappings()]


def _write_tombstones(session: Session, scope: Scope, salt: str, rows: list[dict[str, Any]]) -> None:
    session.within(scope)
    connection: Connection = session._connection
    known = tables.scope.c.key == scope.key
    connection.execute(tables.scope.update().where(known).values(salt=salt))
    scope_id = connection.execute(select(tables.scope.c.id).where(known)).scalar_one()
    if rows:
        connection.execute(tables.tombstone.insert(), [{"scope_id": scope_id, **row} for row in rows])


def _says(value: object, word: str) -> bool:
    """Whether a stored value holds the word. Ids are drawn letters, and spell any short word now and then."""
    drawn = isinstance(value, str) and _ID.fullmatch(value)
    return str(value).startswith(word) if drawn else word in repr(value).casefold()
