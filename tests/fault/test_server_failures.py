"""F22: a server restarts, a connection is cut, transactions are in one another's way; the next call works."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from support.postgres import Server, run_sql
from support.proxy import wired

from memu import MemoryService
from memu.errors import StoreError
from memu.providers.fakes import HashingEncoder
from memu.records import EMPTY_SCOPE, Scope
from memu.storage.database import Database
from memu.storage.engine import make_engine, parse_url
from memu.storage.session import Session
from memu.storage.transactions import ServerTransactions

pytestmark = pytest.mark.fault

OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def _add(root: str, session: Session) -> None:
    session.within(EMPTY_SCOPE).workspaces.add(name=None, root=root)


def _roots(db: Database) -> list[str]:
    return [each.root for each in db.read_now(lambda session: session.within(EMPTY_SCOPE).workspaces.list())]


def _run(session: Session, statement: str) -> None:
    session._connection.execute(text(statement))


def _idle_timeout(session: Session) -> str:
    return str(session._connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar_one())


class Fails:
    """Work that adds a workspace, and does something else first the first ``times`` times."""

    def __init__(self, what: str, times: int = 1) -> None:
        self.what = what
        self.left = times
        self.runs = 0

    def __call__(self, session: Session) -> str:
        self.runs += 1
        _add("/once", session)
        if self.left > 0:
            self.left -= 1
            _run(session, self.what)
        return "done"


def test_f22_the_server_restarts_between_two_calls(postgres: Server, postgres_url: str):
    with Database.open(postgres_url) as db:
        db.write_now(partial(_add, "/before"))
        postgres.restart()
        assert _roots(db) == ["/before"]
        postgres.restart()
        db.write_now(partial(_add, "/between"))
        postgres.restart()
        asyncio.run(_together(db, 12))
        assert len(_roots(db)) == 14


async def _together(db: Database, count: int) -> None:
    await asyncio.gather(*(db.write(partial(_add, f"/{at:02}")) for at in range(count)))


@pytest.mark.parametrize(
    "what",
    [
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = 'serialization_failure'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = 'deadlock_detected'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = 'cannot_connect_now'; END $$",
    ],
    ids=["connection lost", "serialization failure", "deadlock", "server starting up"],
)
@pytest.mark.parametrize("times", [1, 3])
def test_work_that_was_broken_off_is_run_again_whole(postgres_url: str, what: str, times: int):
    with Database.open(postgres_url) as db:
        work = Fails(what, times)
        assert db.write_now(work) == "done"
        assert work.runs == times + 1
        assert _roots(db) == ["/once"]
        reading = threading.local()
        reading.left = times

        def read(session: Session) -> int:
            if reading.left:
                reading.left -= 1
                _run(session, what)
            return len(session.within(EMPTY_SCOPE).workspaces.list())

        assert db.read_now(read) == 1


def test_trying_again_ends_and_says_why(postgres_url: str):
    paused: list[float] = []
    engine = make_engine(parse_url(postgres_url))
    transactions = ServerTransactions(engine, lambda: datetime.now(UTC), sleep=paused.append)
    work = Fails("DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = 'deadlock_detected'; END $$", times=1000)
    with pytest.raises(StoreError, match="as if"):
        transactions.write(work)
    assert work.runs == len(paused) + 1 < 12
    assert paused == sorted(paused)
    assert 3 < sum(paused) < 15
    assert transactions.read(lambda session: session.scopes()) == ()
    engine.dispose()


def test_what_will_fail_again_is_not_tried_again(postgres_url: str):
    with Database.open(postgres_url) as db:
        work = Fails("SELECT 1 FROM no_such_table", times=1000)
        with pytest.raises(StoreError, match="memu db upgrade"):
            db.write_now(work)
        assert work.runs == 1
        assert _roots(db) == []


def test_a_statement_timeout_is_told_in_words_and_the_next_call_works(postgres_url: str):
    url = make_url(postgres_url).update_query_dict({"options": "-c statement_timeout=300"})
    with Database.open(url) as db:
        for call in (db.write_now, db.read_now):
            begun = time.monotonic()
            with pytest.raises(StoreError, match=r"refused this: .*statement_timeout"):
                call(lambda session: _run(session, "SELECT pg_sleep(20)"))
            assert time.monotonic() - begun < 10
            db.write_now(lambda session: session.within(EMPTY_SCOPE))


def test_two_writers_that_wait_for_each_other_both_end(postgres_url: str):
    """A real deadlock: the server breaks one off, and it is run again."""
    ann, bob = Scope.of({"user_id": "ann"}), Scope.of({"user_id": "bob"})
    both = threading.Barrier(2)
    runs: list[int] = []

    def work(session: Session, first: Scope, second: Scope) -> None:
        runs.append(1)
        session.within(first).workspaces.add(name=None, root=f"/{threading.get_ident()}")
        if len(runs) <= 2:
            both.wait(30)
        session.within(second).workspaces.add(name=None, root=f"/{threading.get_ident()}")

    with Database.open(postgres_url) as db:
        for scope in (ann, bob):
            db.write_now(lambda session, scope=scope: session.within(scope))
        threads = [
            threading.Thread(
                target=db.write_now, args=(lambda session, order=order: work(session, order[0], order[1]),)
            )
            for order in ((ann, bob), (bob, ann))
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        assert len(runs) == 3
        for scope in (ann, bob):
            found = db.read_now(lambda session, scope=scope: session.within(scope).workspaces.list())
            assert len(found) == 2


@pytest.mark.parametrize("after", [False, True], ids=["before the server knew", "after the server did it"])
def test_a_commit_whose_answer_is_lost_is_neither_lost_nor_done_twice(postgres_url: str, after: bool):
    with wired(postgres_url) as wire, Database.open(wire.url) as db:
        for at in range(5):
            wire.after, wire.cut_commits = after, 1
            runs: list[str] = []

            def work(session: Session, root: str = f"/{at}", runs: list[str] = runs) -> str:
                runs.append(root)
                _add(root, session)
                # No constraint would stop this from being done twice.
                _run(session, "UPDATE scope SET version = version + 1000")
                return root

            assert db.write_now(work) == f"/{at}"
            assert wire.cut_commits == 0
            assert len(runs) == (1 if after else 2)
        assert _roots(db) == [f"/{at}" for at in range(5)]
        assert run_sql(postgres_url, "SELECT version / 1000 FROM scope") == [(5,)]


def test_a_cut_wire_is_mended_by_the_next_call(postgres_url: str):
    with wired(postgres_url) as wire, Database.open(wire.url) as db:
        db.write_now(partial(_add, "/a"))
        wire.cut()
        assert _roots(db) == ["/a"]
        wire.cut()
        db.write_now(partial(_add, "/b"))
        assert _roots(db) == ["/a", "/b"]


def test_a_server_that_stays_away_is_told_in_words(postgres_url: str):
    with wired(postgres_url) as wire:
        url = make_url(wire.url).set(password="hunter2")
        db = Database.open(url)
        _roots(db)
        wire.close()
        with pytest.raises(StoreError, match="cannot be reached") as caught:
            _roots(db)
        assert "hunter2" not in str(caught.value)
        db.close()
        begun = time.monotonic()
        with pytest.raises(StoreError, match="cannot be reached"):
            Database.open(url)
        # The first time nobody waits: the address may be wrong.
        assert time.monotonic() - begun < 6


def test_no_room_for_another_connection_is_waited_for(postgres: Server, postgres_url: str):
    import psycopg

    name = f"narrow_{make_url(postgres_url).database}"
    postgres.execute(f"CREATE ROLE {name} LOGIN CONNECTION LIMIT 1")
    run_sql(postgres_url, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
    url = make_url(postgres_url).set(username=name)
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        db = Database.open(url)
        db._engine.dispose()
        holder = psycopg.connect(plain)
        threading.Timer(0.7, holder.close).start()
        assert _roots(db) == []
        db.close()
    finally:
        run_sql(postgres_url, f"DROP OWNED BY {name}")
        postgres.execute(f"DROP ROLE {name}")


def test_closing_leaves_no_connection_and_no_thread(postgres_url: str):
    async def use() -> None:
        db = Database.open(postgres_url)
        async with db.lock("sync"):
            await asyncio.gather(
                *(db.read(lambda session: session.scopes()) for _ in range(50)), _together(db, 20)
            )
        db.close()

    before = {each.name for each in threading.enumerate()}
    asyncio.run(use())
    assert not {each.name for each in threading.enumerate() if each.name.startswith("memu")} - before
    _until(lambda: run_sql(postgres_url, f"{OTHERS} AND backend_type = 'client backend'") == [(0,)])


def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(100):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about")


class WatchingEncoder(HashingEncoder):
    """Counts, during each call, who is inside a transaction and whether the pool has lent anything."""

    def __init__(self, url: str) -> None:
        super().__init__(16)
        self.url = url
        self.open: list[int] = []

    async def encode(self, texts):
        rows = run_sql(self.url, f"{OTHERS} AND xact_start IS NOT NULL AND backend_type = 'client backend'")
        self.open.append(rows[0][0])
        return await super().encode(texts)


async def test_p1_no_connection_is_kept_while_an_encoder_works(postgres_url: str, tmp_path):
    (tmp_path / "work").mkdir()
    for at in range(5):
        (tmp_path / "work" / f"{at}.md").write_text(f"# Note {at}\n\n- Deploys go out on Tuesdays, wave {at}.\n")
    encoder = WatchingEncoder(postgres_url)
    async with MemoryService.open(postgres_url, out=tmp_path / "out", encoder=encoder) as memu:
        report = await memu.memorize_workspace(tmp_path / "work")
        assert report.failed == ()
        assert (await memu.retrieve_workspace("when do deploys go out")).hits
        assert memu._database._engine.pool.checkedout() == 0
    assert encoder.open
    assert set(encoder.open) == {0}


def test_p8_who_stops_in_the_middle_of_a_transaction_holds_up_nobody_for_ever(postgres_url: str):
    """A process that is stopped, or whose host loses its power, ends no transaction: the server does."""
    with Database.open(postgres_url) as db:
        assert db.read_now(_idle_timeout) == "45s"
    url = make_url(postgres_url).update_query_dict({"options": "-c idle_in_transaction_session_timeout=1000"})
    stops = [True]

    def stall(session: Session) -> str:
        session.within(EMPTY_SCOPE)
        if stops:
            stops.pop()
            began.set()
            ended.wait(20)
        return _idle_timeout(session)

    began, ended = threading.Event(), threading.Event()
    with Database.open(url) as holder, Database.open(postgres_url) as other, ThreadPoolExecutor(1) as threads:
        stalled = threads.submit(holder.write_now, stall)
        assert began.wait(20)
        # It waits for the scope's row, which the holder has made, until the server takes that from the holder.
        other.write_now(lambda session: session.within(EMPTY_SCOPE))
        assert not stalled.done()
        ended.set()
        # The holder, awake again, is run anew, whole.
        assert stalled.result() == "1s"
