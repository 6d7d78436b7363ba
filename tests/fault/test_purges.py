"""F46: whatever keeps a store from being purged, what was named is forgotten, and the receipt says so."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from support.postgres import Server, run_sql
from support.stores import Bench

from memu import BusyError, ForgetReceipt
from memu.cli.app import run
from memu.memorize.forget.purge import purge_store
from memu.storage.database import Database
from memu.storage.engine import make_engine, parse_url
from memu.storage.engine_postgres import lift_timeouts, unhurried
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.fault

GRANTS = (
    "GRANT USAGE ON SCHEMA public TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
)
LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from memu.cli import main
sys.argv = ["memu", *sys.argv[2:]]
main()
"""
WAYS = [["forget", "--match", "lantern is hidden"], ["workspace", "remove", "w", "--yes"]]


@pytest.fixture
def role(postgres: Server) -> Iterator[str]:
    """One who may read and write the rows of what they are granted."""
    name = "memu_test_rows_only"
    postgres.execute(f"DROP ROLE IF EXISTS {name}")
    postgres.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB")
    yield name
    postgres.execute(f"DROP ROLE {name}")


def fill(bench: Bench, more: str = "") -> None:
    bench.write({"a.md": "# Attic\n\nThe lantern is hidden behind the boats.\n", "b.md": f"# Drawers\n\n{more}\n"})
    with BlockingService.open(bench.url, out=bench.out, encoder=None) as memu:
        memu.memorize_workspace(bench.work, name="w")


@pytest.mark.parametrize("bench", ["postgres"], indirect=True)
@pytest.mark.parametrize("way", WAYS, ids=["match", "workspace"])
def test_a_role_that_does_not_own_the_tables_gets_its_receipt(
    way: list[str], bench: Bench, role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(bench)
    for grant in GRANTS:
        run_sql(bench.url, grant.format(role=role))
    url = make_url(bench.url).set(username=role).render_as_string(hide_password=False)
    common = ["--purge", "--db", url, "--out", str(bench.out)]
    try:
        assert run([*way, *common, "--json"]) == 1
        told = capsys.readouterr()
        receipt = json.loads(told.out)
        assert (receipt["purged"], receipt["vacuumed"], receipt["entries"] > 0) == (False, False, True)
        assert bench.holding("lantern") == []
        # Who owns the tables can run what it says.
        _, found, statement = receipt["unpurged"].partition("VACUUM")
        run_sql(bench.url, found + statement)
        # For itself it is still an error.
        assert run(["forget", *common]) == 2
        capsys.readouterr()
        if run_sql(bench.url, "SELECT current_setting('server_version_num')::int >= 170000") == [(True,)]:
            run_sql(bench.url, f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO {role}")
            assert run(["forget", *common]) == 0
            assert "were vacuumed" in capsys.readouterr().out
    finally:
        run_sql(bench.url, f"DROP OWNED BY {role} CASCADE")


async def test_readers_that_keep_a_files_log_are_told_of_in_the_receipt(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await asyncio.to_thread(fill, bench)
    with closing(sqlite3.connect(bench.store, isolation_level=None)) as reader, Database.open(bench.url) as db:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM passage").fetchone()
        receipt = await purge_store(db, ForgetReceipt(what="match", entries=1), wait_seconds=0.3)
        assert (receipt.entries, receipt.purged) == (1, False)
        assert "memu forget --purge" in receipt.unpurged
        with pytest.raises(BusyError):
            await purge_store(db, ForgetReceipt(what="purge"), wait_seconds=0)
        reader.execute("ROLLBACK")
        assert (await purge_store(db, ForgetReceipt(what="match"), wait_seconds=5)).purged
        # Nothing of the wait is left to the next writer.
        assert db.write_now(lambda session: session._connection.execute(text("PRAGMA busy_timeout")).scalar())


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX's")
def test_a_disk_too_full_to_rewrite_the_store_is_told_of_in_the_receipt(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    rows = "\n\n".join(f"The drawer {number} holds {number * 7919 % 9973} things." for number in range(1500))
    fill(bench, rows)
    limit = bench.store.stat().st_size
    arguments = ["forget", "--match", "lantern is hidden", "--purge", "--db", bench.url, "--json"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *arguments, "--out", str(bench.out)],
        env={**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, (done.returncode, done.stderr)
    receipt = json.loads(done.stdout)
    assert (receipt["entries"], receipt["purged"]) == (1, False)
    # What a limit of file sizes is called; of a disk it is said that it is full.
    assert "a limit is reached" in receipt["unpurged"]
    assert bench.holding("lantern") == []
    assert run(["forget", "--purge", "--db", bench.url]) == 0
    assert b"lantern" not in bench.raw().lower()


@pytest.mark.parametrize("local", [False, True])
def test_f22_what_takes_as_long_as_tables_are_large_outlasts_a_statement_timeout(
    local: bool, postgres_url: str
) -> None:
    url = make_url(postgres_url).update_query_dict({"options": "-c statement_timeout=200"})
    engine = make_engine(parse_url(url))
    slow = text("SELECT pg_sleep(0.4)")
    with engine.connect() as plain:
        connection = plain if local else plain.execution_options(isolation_level="AUTOCOMMIT")
        if local:
            with connection.begin():
                lift_timeouts(connection, local=True)
                connection.execute(slow)
        else:
            with unhurried(connection):
                connection.execute(slow)
        with pytest.raises(OperationalError, match="statement timeout"):
            connection.execute(text("SELECT pg_sleep(10)"))
    engine.dispose()
