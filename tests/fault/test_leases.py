"""P8 on a server: a lease that stalls or dies. Whoever lost its lease writes nothing more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from support.postgres import run_sql

from memu.errors import BusyError, LeaseLost
from memu.records import EMPTY_SCOPE
from memu.storage.database import Database
from memu.storage.engine import make_engine, parse_url
from memu.storage.lease_locks import LeaseLocks, Timing
from memu.storage.leases import Lease
from memu.storage.process import find_this_process
from memu.storage.session import Session
from memu.storage.transactions import ServerTransactions

pytestmark = pytest.mark.fault

NAME = "sync notes"

# Holds the lease, then writes when told: a whole write, or the end of one that had begun before.
HOLD = """
import asyncio, sys
from memu.errors import LeaseLost
from memu.records import EMPTY_SCOPE
from memu.storage.database import Database

def add(session, stall):
    session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/late")
    if stall:
        print("inside", flush=True)
        sys.stdin.readline()

async def main(url, stall):
    with Database.open(url) as db:
        async with db.lock("sync notes"):
            print("held", flush=True)
            sys.stdin.readline()
            try:
                await db.write(lambda session: add(session, stall))
            except LeaseLost:
                print("lost", flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2] == "inside"))
"""


def _expire(url: str) -> None:
    run_sql(url, "UPDATE lock SET expires_at = now() - interval '1 second'")


def _roots(db: Database) -> list[str]:
    return [each.root for each in db.read_now(lambda session: session.within(EMPTY_SCOPE).workspaces.list())]


def _add(root: str, session: Session) -> None:
    session.within(EMPTY_SCOPE).workspaces.add(name=None, root=root)


@pytest.mark.parametrize("where", ["before", "inside"])
def test_p8_a_stalled_holder_that_wakes_after_its_lease_was_taken_writes_nothing(postgres_url: str, where: str):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, postgres_url, where],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    if where == "inside":
        holder.stdin.write("go\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "inside\n"
    holder.send_signal(signal.SIGSTOP)
    try:
        with Database.open(postgres_url) as db:

            async def take_over() -> None:
                async with db.lock(NAME):
                    # Not in the empty scope: the one that stalls inside a transaction holds that.
                    await db.write(lambda session: session.endpoints.note("other", {"taken": True}))
                    holder.send_signal(signal.SIGCONT)
                    out, _ = await asyncio.to_thread(holder.communicate, "go\n", 60)
                    assert out == "lost\n"
                    # Its going did not take our lease away.
                    await db.write(partial(_add, "/ours"))

            with pytest.raises(BusyError):
                asyncio.run(take_over())
            _expire(postgres_url)
            asyncio.run(take_over())
            assert _roots(db) == ["/ours"]
            assert run_sql(postgres_url, "SELECT count(*) FROM lock") == [(0,)]
    finally:
        holder.kill()
        holder.communicate()


def test_p8_who_takes_a_lease_over_waits_for_a_commit_that_was_checked(postgres_url: str):
    """Between the check and the commit nobody gets in."""
    checked, may_end, taken = threading.Event(), threading.Event(), threading.Event()

    def wait(session: Session) -> None:
        checked.set()
        assert may_end.wait(30)

    async def hold(db: Database) -> None:
        async with db.lock(NAME):
            with db.checking(wait):
                await db.write(partial(_add, "/held"))

    async def take(db: Database) -> None:
        async with db.lock(NAME):
            taken.set()
            assert _roots(db) == ["/held"]

    with Database.open(postgres_url) as first, Database.open(postgres_url) as second:
        holding = threading.Thread(target=lambda: asyncio.run(hold(first)))
        holding.start()
        assert checked.wait(30)
        taking = threading.Thread(target=lambda: asyncio.run(take(second)))
        # The row cannot be made older while it is held by the commit either, so the clock is what has to pass.
        expiring = threading.Thread(target=_expire, args=(postgres_url,))
        expiring.start()
        time.sleep(0.2)
        assert expiring.is_alive()
        may_end.set()
        holding.join(30)
        expiring.join(30)
        taking.start()
        taking.join(30)
        assert taken.is_set()


def test_f14_only_the_age_of_a_lease_tells_of_a_holder_on_another_host(postgres_url: str):
    with Database.open(postgres_url) as db:
        _put(db, boot_id="another host", pid=1)

        async def take() -> None:
            async with db.lock(NAME):
                pass

        with pytest.raises(BusyError, match="another host, process 1 since 2026"):
            asyncio.run(take())
        assert asyncio.run(db.is_locked(NAME))
        assert asyncio.run(db.abandoned_locks()) == ()
        _expire(postgres_url)
        assert not asyncio.run(db.is_locked(NAME))
        assert [each.file for each in asyncio.run(db.abandoned_locks())] == [NAME]
        asyncio.run(take())
    assert Timing().lasts <= 60


def _put(db: Database, **holder: Any) -> None:
    me = find_this_process()
    started = holder.pop("started", me.started)
    values = {"boot_id": me.boot_id, "pid": me.pid, **holder}
    lease = Lease(
        name=NAME,
        token="theirs",
        process_started=f"{started} 2026-01-01T00:00:00+00:00",
        expires_at=datetime.now(UTC) + timedelta(seconds=45),
        **values,
    )
    db.write_now(lambda session: session.locks.take(lease))


@pytest.mark.parametrize(
    ("holder", "is_free"),
    [
        ({"pid": os.getppid(), "started": ""}, False),
        ({"pid": 4_194_305}, True),
        # Another process got the number of the one that died.
        ({"started": "1"}, True),
        # The same host, another container: its numbers say nothing here.
        ({"boot_id": f"{find_this_process().boot_id.split()[0]} pid:[1]", "pid": 4_194_305}, False),
    ],
    ids=["alive", "dead", "number reused", "another container"],
)
def test_f14_a_dead_holder_on_the_same_host_is_known_at_once(
    postgres_url: str, holder: dict[str, Any], is_free: bool
):
    with Database.open(postgres_url) as db:
        _put(db, **holder)
        assert asyncio.run(db.is_locked(NAME)) is not is_free
        assert len(asyncio.run(db.abandoned_locks())) == is_free

        async def take() -> bool:
            try:
                async with db.lock(NAME):
                    return True
            except BusyError:
                return False

        assert asyncio.run(take()) is is_free


def _locks(url: str, timing: Timing) -> LeaseLocks:
    engine = make_engine(parse_url(url))
    return LeaseLocks(ServerTransactions(engine, lambda: datetime.now(UTC)), timing)


@pytest.mark.parametrize("fails", ["release", "take"])
async def test_f14_what_this_process_left_behind_holds_nobody_off_in_it(postgres_url: str, fails: str):
    """A row stays where giving it back failed, or where nobody heard that it was taken."""
    with Database.open(postgres_url) as db, Database.open(postgres_url) as other:
        if fails == "release":
            run_sql(
                postgres_url,
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
                " CREATE TRIGGER kept BEFORE DELETE ON lock FOR EACH ROW EXECUTE FUNCTION refuse()",
            )
            async with db.lock(NAME):
                with pytest.raises(BusyError):
                    async with other.lock(NAME, wait_seconds=0):
                        pass
            run_sql(postgres_url, "DROP TRIGGER kept ON lock; DROP FUNCTION refuse()")
        else:
            me = find_this_process()
            lease = Lease(
                name=NAME,
                token="never heard of",
                boot_id=me.boot_id,
                pid=me.pid,
                process_started=f"{me.started} {datetime.now(UTC).isoformat(timespec='seconds')}",
                expires_at=datetime.now(UTC) + timedelta(hours=1),
            )
            db.write_now(lambda session: session.locks.take(lease))
        assert run_sql(postgres_url, "SELECT count(*) FROM lock") == [(1,)]
        async with other.lock(NAME, wait_seconds=0):
            with pytest.raises(BusyError):
                async with db.lock(NAME, wait_seconds=0):
                    pass
        assert run_sql(postgres_url, "SELECT count(*) FROM lock") == [(0,)]


def test_p8_a_lease_is_renewed_while_its_holder_works_and_runs_out_after(postgres_url: str):
    brief = Timing(lasts=1.5, renewed=0.2, again=0.1)
    mine, other = _locks(postgres_url, brief), _locks(postgres_url, brief)
    hold = mine.try_hold(NAME)
    assert hold is not None
    for _ in range(5):
        time.sleep(0.5)
        assert other.is_held(NAME)
        assert other.try_hold(NAME) is None
    # As if this process stood still: nobody renews, nobody gives back.
    mine.close()
    time.sleep(1.6)
    taken = other.try_hold(NAME)
    assert taken is not None
    with Database.open(postgres_url) as db, db.checking(hold.check), pytest.raises(LeaseLost):
        db.write_now(partial(_add, "/late"))
    hold.release()
    assert other.is_held(NAME)
    taken.release()
    other.close()
    assert not other.is_held(NAME)
    for each in (mine, other):
        each._transactions._engine.dispose()


def test_p8_renewal_goes_on_after_the_connections_were_lost(postgres, postgres_url: str):
    brief = Timing(lasts=3, renewed=0.2, again=0.1)
    mine = _locks(postgres_url, brief)
    hold = mine.try_hold(NAME)
    postgres.restart()
    time.sleep(3.5)
    with Database.open(postgres_url) as db:
        assert asyncio.run(db.is_locked(NAME))
        with db.checking(hold.check):
            db.write_now(partial(_add, "/held"))
        hold.release()
        mine.close()
        assert not asyncio.run(db.is_locked(NAME))
    mine._transactions._engine.dispose()


async def test_who_is_cancelled_while_it_waits_or_takes_leaves_nothing_held(postgres_url: str):
    with Database.open(postgres_url) as db:

        async def take() -> None:
            async with db.lock(NAME, wait_seconds=None):
                await asyncio.sleep(60)

        for delay in (0.0, 0.001, 0.003, 0.01, 0.03, 0.2):
            task = asyncio.create_task(take())
            await asyncio.sleep(delay)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # Were it still held, it would be for as long as this process lives.
            async with db.lock(NAME, wait_seconds=10):
                pass


def test_a_name_of_any_length_is_held(postgres_url: str):
    with Database.open(postgres_url) as db:
        one, two = f"sync {'x' * 300} one", f"sync {'x' * 300} two"

        async def hold() -> None:
            async with db.lock(one), db.lock(two):
                with pytest.raises(BusyError):
                    async with db.lock(one):
                        pass

        asyncio.run(hold())
