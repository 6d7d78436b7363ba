"""P8: several processes, one store."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.postgres import Server

from memu.errors import BusyError
from memu.records import EMPTY_SCOPE, Track
from memu.storage.database import Database

pytestmark = pytest.mark.conformance

PROCESSES = 8
SECONDS = os.environ.get("MEMU_TEST_SECONDS", "3")


def _start(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _run_at_once(program: str, *arguments: str, processes: int = PROCESSES) -> list[str]:
    """Start processes, let them all go at one moment, and return what each printed."""
    running = [_start(program, *arguments, str(at)) for at in range(processes)]
    for each in running:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in running:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    outputs = []
    for each in running:
        out, error = each.communicate(timeout=120)
        assert each.returncode == 0, error
        outputs.append(out.strip())
    return outputs


OPEN_AND_FILL = """
import sys
from memu.records import EMPTY_SCOPE, Track
from memu.schema import upgrade_schema
from memu.storage.database import Database
url, me = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
if url.startswith("postgresql"):
    upgrade_schema(url)
with Database.open(url) as db:
    page = db.write_now(lambda session: session.within(EMPTY_SCOPE).pages.ensure(Track.MEMORY, "Deploys"))
    for at in range(10):
        db.write_now(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root=f"/{me}/{at}"))
    print(page.id)
"""


@pytest.fixture(params=["postgres", "sqlite-file"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where no store is yet."""
    if request.param == "sqlite-file":
        yield f"sqlite:///{tmp_path / 'x.sqlite3'}"
        return
    server: Server = request.getfixturevalue("postgres")
    url = server.make(empty=True)
    yield url
    server.drop(url)


def test_f16_eight_processes_open_one_new_store_and_make_the_same_page(new_url: str):
    url = new_url
    pages = _run_at_once(OPEN_AND_FILL, url)
    assert len(set(pages)) == 1
    with Database.open(url) as db:
        found = db.read_now(lambda session: session.within(EMPTY_SCOPE).pages.list())
        assert [each.id for each in found] == pages[:1]
        assert len(db.read_now(lambda session: session.within(EMPTY_SCOPE).workspaces.list())) == PROCESSES * 10
        assert db.read_now(lambda session: session.scopes()) == (EMPTY_SCOPE,)


FOLD = """
import sys
from dataclasses import replace
from memu.records import EMPTY_SCOPE, Track
from memu.storage.database import Database
url, me = sys.argv[1:]
with Database.open(url) as db:
    print("ready", flush=True)
    sys.stdin.readline()
    lost = 0
    for at in range(10):
        while True:
            page = db.read_now(lambda session: session.within(EMPTY_SCOPE).pages.list())[0]
            changed = replace(page, content=page.content + f"{me}-{at} ")
            if db.write_now(lambda session: session.within(EMPTY_SCOPE).pages.save(changed, page.version)):
                break
            lost += 1
    print(lost)
"""


def test_f16_eight_processes_save_one_page_and_lose_no_block(shared_url: str):
    url = shared_url
    with Database.open(url) as db:
        db.write_now(lambda session: session.within(EMPTY_SCOPE).pages.ensure(Track.MEMORY, "Deploys"))
        lost = _run_at_once(FOLD, url)
        (page,) = db.read_now(lambda session: session.within(EMPTY_SCOPE).pages.list())
    assert sorted(page.content.split()) == sorted(f"{me}-{at}" for me in range(PROCESSES) for at in range(10))
    assert page.version == PROCESSES * 10
    assert all(each.isdigit() for each in lost)


WRITE_ON = """
import sys, time
from dataclasses import replace
from memu.records import EMPTY_SCOPE, Track
from memu.storage.database import Database
url, seconds, me = sys.argv[1:]
with Database.open(url) as db:
    print("ready", flush=True)
    sys.stdin.readline()
    end, at = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        db.write_now(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root=f"/{me}/{at}"))
        saved = False
        while not saved:
            (page,) = db.read_now(lambda session: session.within(EMPTY_SCOPE).pages.list())
            changed = replace(page, content=page.content + f"{me}-{at} ")
            def fold(session):
                repository = session.within(EMPTY_SCOPE)
                repository.queue.add([page.id])
                return repository.pages.save(changed, page.version)
            saved = db.write_now(fold)
        at += 1
    print(at)
"""


def test_f16_two_processes_write_for_a_while_and_nothing_is_locked_or_lost(shared_url: str, record_property):
    """No row, no block of a page, no place in the queue."""
    with Database.open(shared_url) as db:
        db.write_now(lambda session: session.within(EMPTY_SCOPE).pages.ensure(Track.MEMORY, "Deploys"))
        counts = [int(each) for each in _run_at_once(WRITE_ON, shared_url, SECONDS, processes=2)]
        record_property("rounds of each", counts)
        assert min(counts) > 0
        expected = {(str(me), str(at)) for me, count in enumerate(counts) for at in range(count)}
        roots = db.read_now(lambda session: session.within(EMPTY_SCOPE).workspaces.list())
        assert {tuple(each.root.split("/")[1:]) for each in roots} == expected
        assert len(roots) == len(expected)
        (page,) = db.read_now(lambda session: session.within(EMPTY_SCOPE).pages.list())
        blocks = [tuple(block.split("-")) for block in page.content.split()]
        assert sorted(blocks) == sorted(expected)
        assert page.version == len(expected)
        queued = db.read_now(lambda session: session.within(EMPTY_SCOPE).queue.list())
        assert [each.file_id for each in queued] == [page.id]


SAY = """
import sys
from memu.records import EMPTY_SCOPE, Track
from memu.storage.database import Database
with Database.open(sys.argv[1]) as db:
    for line in sys.stdin:
        db.write_now(lambda session: session.within(EMPTY_SCOPE).pages.ensure(Track.MEMORY, line.strip()))
        print("said", flush=True)
"""


def test_f23_a_warm_process_sees_at_once_what_another_wrote(shared_url: str):
    with Database.open(shared_url) as warm:
        seen = lambda: {  # noqa: E731
            page.name for page in warm.read_now(lambda session: session.within(EMPTY_SCOPE).pages.list())
        }
        assert seen() == set()
        other = _start(SAY, shared_url)
        assert other.stdin is not None
        assert other.stdout is not None
        names = ["Deploys", "Boats", "Lamps", "Ferries"]
        for at, name in enumerate(names, 1):
            other.stdin.write(f"{name}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "said\n"
            assert seen() == set(names[:at])
        assert other.communicate(timeout=60)[1] == ""


HOLD = """
import asyncio, sys
from memu.storage.database import Database

async def main():
    with Database.open(sys.argv[1]) as db:
        async with db.lock("sync notes"):
            print("held", flush=True)
            await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


async def _try(db: Database) -> None:
    async with db.lock("sync notes"):
        pass


def test_f14_a_lock_is_held_against_other_processes_and_freed_by_a_kill(shared_url: str):
    url = shared_url
    with Database.open(url) as db:
        holder = _start(HOLD, url)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=f"process {holder.pid} since"):
            asyncio.run(_try(db))
        # Reading and writing go on beside the lock.
        db.write_now(lambda session: session.within(EMPTY_SCOPE))
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
        asyncio.run(_try(db))


DIE = """
import os, sys
from memu.records import EMPTY_SCOPE
from memu.storage.database import Database
with Database.open(sys.argv[1]) as db:
    def work(session):
        repository = session.within(EMPTY_SCOPE)
        for at in range(int(sys.argv[2])):
            repository.workspaces.add(name=None, root=f"/{at}")
        os._exit(9)
    db.write_now(work)
"""


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_p2_a_process_killed_within_a_transaction_leaves_nothing_of_it(shared_url: str, rows: int):
    url = shared_url
    assert subprocess.run([sys.executable, "-c", DIE, url, str(rows)], check=False).returncode == 9
    with Database.open(url) as db:
        assert db.read_now(lambda session: session.scopes()) == ()
        db.write_now(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/0"))
