"""The store's contract is held on every database: each test runs once for each of ``STORES``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import event, select

from memu.records import (
    EMPTY_SCOPE,
    Kind,
    LineSpan,
    MemoryType,
    Passage,
    RecallEntry,
    Resource,
    Scope,
    State,
    Track,
    Workspace,
)
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.tables import metadata
from memu.tokens import text_key

T = TypeVar("T")

# Making tables takes a while: a file that holds them is copied, and so is a server's database.
STORES = ("postgres", "sqlite-file", "sqlite-memory")


class Clock:
    """A clock that moves one second with every look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass(frozen=True)
class Source:
    """A stored source with what was made of it."""

    workspace: Workspace
    resource: Resource
    entry_ids: tuple[str, ...]
    passage_ids: tuple[str, ...]


class Store:
    """A database under test, with short ways to fill it, to look at every row and to count what was written."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = Clock()
        self.db = Database.open(url, clock=self.clock)
        self.rows_written = 0
        event.listen(self.db._engine, "after_cursor_execute", self._count)

    def write(self, work: Callable[[Repository], T], scope: Scope = EMPTY_SCOPE) -> T:
        return self.db.write_now(lambda session: work(session.within(scope)))

    def read(self, work: Callable[[Repository], T], scope: Scope = EMPTY_SCOPE) -> T:
        return self.db.read_now(lambda session: work(session.within(scope)))

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table."""

        def work(session: Any) -> dict[str, list[tuple[Any, ...]]]:
            connection = session._connection
            return {
                table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
                for table in metadata.sorted_tables
            }

        return self.db.read_now(work)

    def scope_id(self, scope: Scope) -> str:
        (found,) = [row[0] for row in self.dump()["scope"] if row[1] == scope.key]
        return str(found)

    def add_workspace(self, root: str = "/notes", scope: Scope = EMPTY_SCOPE) -> Workspace:
        def work(repository: Repository) -> Workspace:
            return repository.workspaces.find(root=root) or repository.workspaces.add(name=None, root=root)

        return self.write(work, scope)

    def add_source(
        self,
        path: str,
        *texts: str,
        scope: Scope = EMPTY_SCOPE,
        root: str = "/notes",
        kind: Kind = Kind.DOCUMENT,
        header: str | None = None,
    ) -> Source:
        """A source whose entries and passages are ``texts``, one a line."""
        workspace = self.add_workspace(root, scope)

        def work(repository: Repository) -> Source:
            resource = repository.resources.save(make_resource(workspace, path, kind=kind))
            entry_ids = repository.entries.replace(resource.id, make_entries(*texts))
            passages = [
                make_passage(text, header=path if header is None else header, ordinal=at, line=at + 1, kind=kind)
                for at, text in enumerate(texts)
            ]
            passage_ids = repository.passages.replace_for_resource(resource.id, passages)
            return Source(workspace, resource, entry_ids, passage_ids)

        return self.write(work, scope)

    def _count(
        self, _connection: Any, cursor: Any, _statement: Any, _values: Any, context: Any, _many: Any
    ) -> None:
        if context.isinsert or context.isupdate or context.isdelete:
            self.rows_written += max(0, cursor.rowcount)


def make_resource(workspace: Workspace, path: str, **more: Any) -> Resource:
    values: dict[str, Any] = {"kind": Kind.DOCUMENT, "title": path, "state": State.DONE, **more}
    return Resource(id="", workspace_id=workspace.id, path=path, **values)


def make_entry(text: str, ordinal: int = 0, line: int = 1, **more: Any) -> RecallEntry:
    values: dict[str, Any] = {
        "memory_type": MemoryType.KNOWLEDGE,
        "track": Track.MEMORY,
        "text_key": text_key(text),
        "lines": LineSpan(line, line),
        **more,
    }
    return RecallEntry(id="", resource_id="", ordinal=ordinal, text=text, **values)


def make_entries(*texts: str, first_line: int = 1) -> Sequence[RecallEntry]:
    return [make_entry(text, ordinal=at, line=first_line + at) for at, text in enumerate(texts)]


def make_passage(text: str, *, header: str = "", ordinal: int = 0, line: int | None = 1, **more: Any) -> Passage:
    lines = None if line is None else LineSpan(line, line)
    return Passage(id="", ordinal=ordinal, header=header, text=text, lines=lines, **more)


class Make:
    """The makers of records, for tests."""

    resource = staticmethod(make_resource)
    entry = staticmethod(make_entry)
    entries = staticmethod(make_entries)
    passage = staticmethod(make_passage)


@pytest.fixture
def make() -> type[Make]:
    return Make


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "memu.sqlite3"
    Database.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path, made_store: Path) -> str:
    match request.param:
        case "postgres":
            url: str = request.getfixturevalue("postgres_url")
            return url
        case "sqlite-file":
            return f"sqlite:///{shutil.copy(made_store, tmp_path / 'memu.sqlite3')}"
        case _:
            return "sqlite://"


@pytest.fixture(params=["postgres", "sqlite-file"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path, made_store: Path) -> str:
    """A store that several processes can open."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite:///{shutil.copy(made_store, tmp_path / 'memu.sqlite3')}"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = Store(store_url)
    try:
        yield opened
    finally:
        opened.db.close()
