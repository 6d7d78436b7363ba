"""One transaction per plain function (P1), readers beside the writer (P8), failures in words."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest

from memu.errors import BusyError, ConfigurationError, LeaseLost, StoreError
from memu.records import EMPTY_SCOPE, Kind, Resource, Scope
from memu.storage.database import Database

pytestmark = pytest.mark.conformance


async def test_p1_a_write_is_committed_whole_or_not_at_all(store):
    def work(session):
        session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/a")
        raise RuntimeError("on the way")

    before = store.dump()
    with pytest.raises(RuntimeError, match="on the way"):
        await store.db.write(work)
    assert store.dump() == before
    await store.db.write(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/a"))
    found = await store.db.read(lambda session: session.within(EMPTY_SCOPE).workspaces.list())
    assert [each.root for each in found] == ["/a"]


async def test_p1_nothing_can_be_awaited_inside(store):
    async def work(session):
        session.within(EMPTY_SCOPE)

    for call in (store.db.read, store.db.write):
        with pytest.raises(TypeError, match="plain function"):
            await call(work)
        with pytest.raises(TypeError, match="await"):
            await call(lambda session: work(session))
    assert store.dump()["scope"] == []


def test_a_reading_transaction_cannot_write(store):
    store.add_workspace()
    with pytest.raises(StoreError, match="a reader tried to write"):
        store.read(lambda repository: repository.workspaces.add(name=None, root="/b"))
    # The connection goes back to the pool able to write again.
    store.add_workspace("/c")
    assert len(store.dump()["workspace"]) == 2


def test_reading_an_unknown_scope_finds_nothing_and_writes_nothing(store):
    bob = Scope.of({"user_id": "bob"})
    assert store.read(lambda repository: repository.workspaces.list(), bob) == ()
    assert store.read(lambda repository: repository.publications.scope_version(), bob) == 0
    assert store.dump()["scope"] == []


@pytest.mark.parametrize("column", ["tried_at", "happened_at"])
def test_naive_datetimes_are_refused(store, make, column):
    workspace = store.add_workspace()
    resource = make.resource(workspace, "a.md", **{column: datetime(2026, 1, 1)})  # noqa: DTZ001 - the fault itself
    with pytest.raises(ValueError, match="timezone"):
        store.write(lambda repository: repository.resources.save(resource))
    assert store.dump()["resource"] == []


async def test_f14_readers_do_not_wait_for_the_writer(tmp_path):
    """P8: a search answers while a sync writes."""
    begun, may_end = threading.Event(), threading.Event()

    def slow(session):
        session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/slow")
        begun.set()
        assert may_end.wait(10)

    with Database.open(f"sqlite:///{tmp_path / 'x.sqlite3'}") as db:
        writing = asyncio.create_task(db.write(slow))
        waiting = [
            asyncio.create_task(
                db.write(
                    lambda session, at=at: session.within(EMPTY_SCOPE).workspaces.add(name=None, root=str(at))
                )
            )
            for at in range(30)
        ]
        await asyncio.to_thread(begun.wait, 10)
        roots = await asyncio.wait_for(db.read(lambda session: session.within(EMPTY_SCOPE).workspaces.list()), 5)
        assert roots == ()
        may_end.set()
        await asyncio.gather(writing, *waiting)
        assert len(await db.read(lambda session: session.within(EMPTY_SCOPE).workspaces.list())) == 31


async def test_many_tasks_write_and_read_at_once(store):
    """Every connection of the pool, and the one of a store in memory, serves any thread."""

    async def one(at):
        await store.db.write(
            lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root=f"/{at:03}")
        )
        return await store.db.read(
            lambda session: session.within(EMPTY_SCOPE).workspaces.find(root=f"/{at:03}") is not None
        )

    assert all(await asyncio.gather(*(one(at) for at in range(60))))


async def test_p8_a_check_before_the_commit_can_stop_it(store):
    """The seam for lock tokens: it holds for the tasks started inside, and for no others."""
    lost: list[bool] = []

    def check(session):
        if lost:
            raise LeaseLost("taken over")

    def add(root):
        return lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root=root)

    async def other():
        await asyncio.sleep(0.01)
        await store.db.write(add("/other"))

    outside = asyncio.create_task(other())
    with store.db.checking(check):
        await store.db.write(add("/held"))
        lost.append(True)
        with pytest.raises(LeaseLost):
            await asyncio.create_task(store.db.write(add("/lost")))
        await outside
    roots = store.read(lambda repository: [each.root for each in repository.workspaces.list()])
    assert roots == ["/held", "/other"]


async def test_p8_a_name_is_held_by_one(store):
    async with store.db.lock("sync notes"):
        with pytest.raises(BusyError, match=r"process [0-9]+ since 20"):
            async with store.db.lock("sync notes"):
                pass
        async with store.db.lock("sync other"):
            pass
    async with store.db.lock("sync notes"):
        pass


async def test_p8_who_waits_for_a_name_gets_it(store):
    order: list[str] = []

    async def second():
        async with store.db.lock("sync", wait_seconds=10):
            order.append("second")

    async with store.db.lock("sync"):
        task = asyncio.create_task(second())
        await asyncio.sleep(0.15)
        order.append("first")
    await task
    assert order == ["first", "second"]


def test_a_locked_name_is_free_after_an_error(store):
    async def work():
        with pytest.raises(RuntimeError):
            async with store.db.lock("sync"):
                raise RuntimeError
        async with store.db.lock("sync"):
            return True

    assert asyncio.run(work())


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        ("notes.db", ConfigurationError, "sqlite:///PATH"),
        ("mysql://host/db", ConfigurationError, "mysql"),
        ("sqlite:////no/such/folder/x.sqlite3", StoreError, "/no/such/folder"),
    ],
)
def test_a_store_that_cannot_be_is_refused_in_words(url, error, said):
    with pytest.raises(error, match=said):
        Database.open(url)


def test_a_file_that_is_no_store_is_refused_in_words(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# Not a database, but long enough to have a header.\n" * 50)
    with pytest.raises(StoreError, match="no SQLite database"):
        Database.open(f"sqlite:///{path}")


def test_another_program_s_database_is_refused_untouched(tmp_path):
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmark (url TEXT)")
    other.close()
    with pytest.raises(StoreError, match="bookmark"):
        Database.open(f"sqlite:///{path}")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmark",)]
    other.close()


def test_a_missing_store_is_not_made_by_looking(tmp_path: Path):
    path = tmp_path / "x.sqlite3"
    with pytest.raises(StoreError, match="no store"):
        Database.open(f"sqlite:///{path}", migrate=False)
    assert not path.exists()


def test_p11_a_refused_row_names_no_values(store):
    workspace = store.add_workspace()
    secret = "hunter2-in-a-path"
    resource = Resource(id="", workspace_id="no-such-workspace", path=secret, kind=Kind.DOCUMENT, title=secret)
    with pytest.raises(StoreError) as caught:
        store.write(lambda repository: repository.resources.save(resource))
    assert secret not in str(caught.value)
    assert secret not in str(caught.value.__cause__)
    assert workspace.root == "/notes"


def test_opening_an_up_to_date_store_is_fast_and_needs_no_migration_library(tmp_path):
    import subprocess
    import sys

    url = f"sqlite:///{tmp_path / 'x.sqlite3'}"
    Database.open(url).close()
    program = (
        "import sys, time\n"
        "from memu.storage.database import Database\n"
        "begun = time.perf_counter()\n"
        f"Database.open({url!r}).close()\n"
        "print(time.perf_counter() - begun, 'alembic' in sys.modules, 'numpy' in sys.modules)\n"
    )
    seconds, alembic, numpy = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    assert (alembic, numpy) == ("False", "False")
    assert float(seconds) < 0.5


def test_closing_leaves_one_file(tmp_path):
    db = Database.open(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    db.write_now(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/a"))
    db.close()
    assert [each.name for each in tmp_path.iterdir()] == ["x.sqlite3"]


def test_time_stands_still_within_a_transaction(store):
    def work(session):
        first = session.now
        time.sleep(0.002)
        return first == session.now and first.tzinfo is not None

    assert store.db.write_now(work)
