"""Whole stores for tests: a folder, a store beside it, and a fresh store that was told to forget the same."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memu import MemoryService, Scope
from memu.providers.fakes import HashingEncoder
from memu.storage.database import Database
from support.rows import comparable_rows, dump_rows

__all__ = ["Bench"]


@dataclass(frozen=True)
class Bench:
    """A folder ``work``, and a store and trees beside it under a name."""

    base: Path
    name: str = "store"

    @property
    def work(self) -> Path:
        return self.base / "work"

    @property
    def store(self) -> Path:
        return self.base / f"{self.name}.sqlite3"

    @property
    def out(self) -> Path:
        return self.base / f"out-{self.name}"

    def open(self, **options: Any) -> MemoryService:
        given = {"out": self.out, "encoder": HashingEncoder(16), **options}
        return MemoryService.open(f"sqlite:///{self.store}", **given)

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

    def holding(self, *words: str) -> list[str]:
        """Where any of these words stands: in rows of any table, or in exported files."""
        wanted = [word.casefold() for word in words]
        rows = (
            f"{table}: {row}"
            for table, rows in dump_rows(self.store).items()
            for row in rows
            if any(word in repr(row).casefold() for word in wanted)
        )
        files = (
            path
            for path, data in self.trees().items()
            if any(word in data.decode("utf-8").casefold() for word in wanted)
        )
        return [*rows, *files]

    def raw(self) -> bytes:
        """The bytes of the store's file and of its log."""
        files = (self.store, self.store.with_name(f"{self.store.name}-wal"))
        return b"".join(file.read_bytes() for file in files if file.exists())

    def outcome(self) -> Any:
        """What must be equal in two stores of one folder."""
        return self.trees(), comparable_rows(self.store)

    async def fresh(self, scope: Scope | None = None, **options: Any) -> Bench:
        """Another store that never knew what this one forgot, but has its tombstones; it syncs the folder."""
        other = Bench(self.base, "fresh")
        wanted = scope or Scope.of()
        with Database.open(f"sqlite:///{other.store}") as database:
            database.write_now(lambda session: session.within(wanted))
        with closing(sqlite3.connect(self.store)) as known, closing(sqlite3.connect(other.store)) as connection:
            salt, scope_id = known.execute("SELECT salt, id FROM scope WHERE key = ?", (wanted.key,)).fetchone()
            rows = known.execute(
                "SELECT key_hash, created_at FROM tombstone WHERE scope_id = ?", (scope_id,)
            ).fetchall()
            connection.execute("UPDATE scope SET salt = ?", (salt,))
            connection.executemany("INSERT INTO tombstone SELECT id, ?, ? FROM scope", rows)
            connection.commit()
        async with other.open(**options) as memu:
            await memu.memorize_workspace(self.work, user=wanted.fields)
        return other
