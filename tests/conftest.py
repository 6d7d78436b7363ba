"""What every test stands on: no setting of the person who runs them reaches memu."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from support.postgres import SERVERS, Server, started_server

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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The counts that tests recorded of themselves: crash points, kills, examples."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    counts = [(report.nodeid, *each) for report in reports for each in getattr(report, "user_properties", ())]
    if counts:
        terminalreporter.section("counts")
        for nodeid, name, value in sorted(counts):
            terminalreporter.write_line(f"{nodeid.rsplit('::', 1)[-1]}: {name} {value}")
