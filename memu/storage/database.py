"""The database: opened once, then asked to run plain functions, each in one transaction."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from memu.errors import BusyError
from memu.storage.compaction import compact
from memu.storage.engine import make_engine, parse_url, store_path, writing
from memu.storage.failures import translated
from memu.storage.lock import AbandonedLock, Locks, make_locks
from memu.storage.migrate import prepare
from memu.storage.session import Session

__all__ = ["Check", "Database"]

T = TypeVar("T")
Check = Callable[[Session], None]

_READERS = 8
_POLL_SECONDS = 0.1
_checks: ContextVar[tuple[Check, ...]] = ContextVar("memu_commit_checks", default=())


class Database:
    """A store. Readers see the last commit and never wait for a writer (in memory there is one line for all).

    ``read`` and ``write`` take a plain function of a Session and run it in a thread, inside one transaction: it
    can await nothing, so no transaction is ever open across a network call. An exception rolls back.
    """

    def __init__(self, engine: Engine, *, clock: Callable[[], datetime], locks: Locks) -> None:
        self._engine = engine
        self._clock = clock
        self._locks = locks
        self._embedded = engine.dialect.name == "sqlite"
        self._single = self._embedded and store_path(engine.url) is None
        self._line = threading.RLock()
        writers = 1 if self._embedded else _READERS
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="memu-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="memu-read")

    @classmethod
    def open(cls, url: str | URL, *, migrate: bool = True, clock: Callable[[], datetime] | None = None) -> Self:
        """Open the store at ``sqlite://`` (in memory), ``sqlite:///PATH`` or ``postgresql://…``.

        A SQLite store is made if it is not there and upgraded, after a backup copy, if it is of an older version;
        with ``migrate`` False, and on Postgres always, it has to be there and up to date.

        Raises:
            ConfigurationError: the URL is none, or names a database that memu does not know.
            StoreError: it cannot be opened; SchemaOutdated or SchemaTooNew: another version made it.
        """
        parsed = parse_url(url)
        engine = make_engine(parsed)
        try:
            with translated(parsed):
                prepare(engine, migrate=migrate)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, clock=clock or _utc_now, locks=make_locks(store_path(parsed)))

    @property
    def url(self) -> URL:
        """Where the store is; its text form hides the password."""
        return self._engine.url

    async def read(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` on a snapshot of the store; an attempt to write raises StoreError."""
        return await self._run(self._readers, self.read_now, work)

    async def write(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` in one transaction that is committed when it returns.

        Cancelling the caller does not undo a write that has begun.

        Raises:
            StoreError: the database refuses; nothing of ``work`` is kept.
        """
        return await self._run(self._writers, self.write_now, work)

    def read_now(self, work: Callable[[Session], T]) -> T:
        """``read`` in the calling thread."""
        _refuse_coroutine_function(work)
        line = self._line if self._single else nullcontext()
        with line, translated(self.url), self._engine.connect() as connection, connection.begin():
            return _run_work(work, Session(connection, writable=False, now=self._clock()))

    def write_now(self, work: Callable[[Session], T]) -> T:
        """``write`` in the calling thread."""
        _refuse_coroutine_function(work)
        line = self._line if self._embedded else nullcontext()
        with line, translated(self.url), self._engine.connect() as connection, writing(connection).begin():
            session = Session(connection, writable=True, now=self._clock())
            result = _run_work(work, session)
            for check in _checks.get():
                check(session)
            return result

    @contextmanager
    def checking(self, check: Check) -> Iterator[None]:
        """Run ``check`` at the end of every write begun inside, before its commit; if it raises, nothing is kept.

        It holds for the tasks started inside too, and for no others: one sync's lost lock stops only that sync.
        """
        token = _checks.set((*_checks.get(), check))
        try:
            yield
        finally:
            _checks.reset(token)

    @asynccontextmanager
    async def lock(self, name: str, *, wait_seconds: float | None = 0) -> AsyncIterator[None]:
        """Hold ``name`` against every other holder, in this process and others, until the block ends.

        ``wait_seconds`` None waits without end.

        Raises:
            BusyError: it was not free within ``wait_seconds``; says who holds it.
        """
        loop = asyncio.get_running_loop()
        deadline = None if wait_seconds is None else loop.time() + wait_seconds
        while (release := self._locks.try_hold(name)) is None:
            if deadline is not None and loop.time() >= deadline:
                raise BusyError(
                    f"{name} is busy: {self._locks.holder(name)} holds it. Wait for it, or use --wait."
                )
            await asyncio.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            release()

    async def is_locked(self, name: str) -> bool:
        """Whether somebody holds ``name`` now, here or in another process."""
        return await asyncio.to_thread(self._locks.is_held, name)

    async def abandoned_locks(self) -> tuple[AbandonedLock, ...]:
        """What holders left behind that were killed."""
        return await asyncio.to_thread(self._locks.abandoned)

    async def compact(self) -> None:
        """Rewrite a SQLite store, so that nothing deleted is left in its bytes, nor in its log.

        Raises:
            ConfigurationError: it is a server's. BusyError: readers kept the log in use.
        """
        await asyncio.get_running_loop().run_in_executor(self._writers, self._compact)

    def _compact(self) -> None:
        with self._line, translated(self.url):
            compact(self._engine)

    def close(self) -> None:
        """Wait for work under way, then close every connection."""
        self._writers.shutdown()
        self._readers.shutdown()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _run(
        self,
        threads: ThreadPoolExecutor,
        run: Callable[[Callable[[Session], T]], T],
        work: Callable[[Session], T],
    ) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(threads, partial(context.run, run, work))


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _refuse_coroutine_function(work: Callable[[Session], object]) -> None:
    if inspect.iscoroutinefunction(work):
        raise TypeError("A transaction's work is a plain function; an async one could wait inside it.")


def _run_work(work: Callable[[Session], T], session: Session) -> T:
    result = work(session)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError("A transaction's work returned something to await; do that outside, on plain values.")
    return result
