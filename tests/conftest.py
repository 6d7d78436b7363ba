"""What every test stands on: no setting of the person who runs them reaches memu."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine, event
from support.postgres import SERVERS, Server, started_server
from support.shared_statements import share_statements
from support.stores import Bench

share_statements()

# How long an example takes says how busy the machine is, and nothing of memu.
settings.register_profile("memu", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memu")

for _name in [name for name in os.environ if name.startswith(("MEMU_", "OPENAI_"))]:
    # MEMU_TEST_… says how much the tests are to try.
    if not _name.startswith("MEMU_TEST_"):
        del os.environ[_name]
os.environ["MEMU_CONFIG"] = ""


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A Postgres server with pgvector. A test that asks for it fails where there is none."""
    with started_server() as server:
        SERVERS.append(server)
        yield server
        SERVERS.remove(server)


@pytest.fixture(params=["sqlite", "postgres"])
def store_server(request: pytest.FixtureRequest) -> Iterator[Server | None]:
    """Where a test's stores are: in files, or on the server until the test ends."""
    if request.param == "sqlite":
        yield None
        return
    server: Server = request.getfixturevalue("postgres")
    yield server
    server.release_all()


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """A database with memu's tables and no rows, the test's own until it ends. For its rows only: tables stay as
    they are."""
    url = postgres.lend()
    yield url
    postgres.take_back(url)


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """A folder and a store beside it; on the server where a test asks for ``on_both`` or gives "postgres"."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield Bench(tmp_path)
        return
    server: Server = request.getfixturevalue("postgres")
    yield Bench(tmp_path, server=server)
    server.release_all()


# What each test connected to in this process, by the driver.
_DATABASES = {"sqlite3": "sqlite", "psycopg": "postgres"}
_CONNECTED: set[str] = set()


@event.listens_for(Engine, "connect")
def _note_database(connection: Any, _record: object) -> None:
    _CONNECTED.add(_DATABASES[type(connection).__module__.partition(".")[0]])


def pytest_runtest_logstart() -> None:
    _CONNECTED.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note on which databases a test ran: those it connected to, and those its parameters name for processes."""
    try:
        return (yield)
    finally:
        callspec = getattr(item, "callspec", None)
        given = {str(value).partition("-")[0] for value in callspec.params.values()} if callspec else set()
        for database in sorted(_CONNECTED | (given & set(_DATABASES.values()))):
            item.user_properties.append((_DATABASE, database))


_DATABASE = "database"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many tests passed on each database, and what tests counted themselves: crash points, kills, examples."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    noted = [(report.nodeid, *each) for report in reports for each in getattr(report, "user_properties", ())]
    passed = {report.nodeid for report in terminalreporter.getreports("passed")}
    databases = {(nodeid, value) for nodeid, name, value in noted if name == _DATABASE and nodeid in passed}
    if databases:
        terminalreporter.section("tests that passed on each database")
        told = Counter((nodeid.split("/")[1], database) for nodeid, database in databases)
        told += Counter(("all", database) for _, database in databases)
        for suite in sorted({suite for suite, _ in told}):
            found = ", ".join(f"{database} {told[suite, database]}" for database in _DATABASES.values())
            terminalreporter.write_line(f"{suite}: {found}")
    counts = [each for each in noted if each[1] != _DATABASE]
    if counts:
        terminalreporter.section("counts")
        for nodeid, name, value in sorted(counts):
            terminalreporter.write_line(f"{nodeid.rsplit('::', 1)[-1]}: {name} {value}")
