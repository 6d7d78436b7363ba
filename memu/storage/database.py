"""The database: opened once, then asked to run plain functions, each in one transaction."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from memu.errors import BusyError, ConfigurationError
from memu.storage.compaction import compact
from memu.storage.engine import open_engine, parse_url, store_path
from memu.storage.failures import translated
from memu.storage.lock import AbandonedLock, FileLocks, Hold, Locks, ProcessLocks
from memu.storage.migrate import prepare
from memu.storage.session import Session
from memu.storage.transactions import (
    Check,
    EmbeddedTransactions,
    ServerTransactions,
    Transactions,
    refuse_coroutine_function,
)

if TYPE_CHECKING:
    from memu.storage.vector_indexes import Maintenance

__all__ = ["Check", "Database"]

T = TypeVar("T")

_READERS = 8
# With the readers they are more than the pool holds: who finds none free waits for one.
_SERVER_WRITERS = 4
# Each with the store whose commits it is for: who holds a lock of one may write to another meanwhile.
_checks: ContextVar[tuple[tuple[object, Check], ...]] = ContextVar("memu_commit_checks", default=())


class Database:
    """A store. Readers see the last commit and never wait for a writer (in memory there is one line for all).

    ``read`` and ``write`` take a plain function of a Session and run it in a thread, inside one transaction: it
    can await nothing, so no transaction is ever open across a network call. An exception rolls back.
    """

    def __init__(self, engine: Engine, *, transactions: Transactions, locks: Locks, writers: int) -> None:
        self._engine = engine
        self._transactions = transactions
        self._locks = locks
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
        with translated(parsed):
            engine = open_engine(parsed, partial(prepare, migrate=migrate), partial(prepare, migrate=False))
        now = clock or _utc_now
        if engine.dialect.name != "sqlite":
            from memu.storage.lease_locks import LeaseLocks

            server = ServerTransactions(engine, now)
            return cls(engine, transactions=server, locks=LeaseLocks(server), writers=_SERVER_WRITERS)
        path = store_path(parsed)
        locks = ProcessLocks() if path is None else FileLocks(path)
        return cls(engine, transactions=EmbeddedTransactions(engine, now), locks=locks, writers=1)

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
        refuse_coroutine_function(work)
        return self._transactions.read(work)

    def write_now(self, work: Callable[[Session], T]) -> T:
        """``write`` in the calling thread."""
        refuse_coroutine_function(work)
        return self._transactions.write(work, [check for store, check in _checks.get() if store is self])

    @contextmanager
    def checking(self, check: Check) -> Iterator[None]:
        """Run ``check`` at the end of every write begun inside, before its commit; if it raises, nothing is kept.

        It holds for the tasks started inside too, and for no others: one sync's lost lock stops only that sync.
        """
        token = _checks.set((*_checks.get(), (self, check)))
        try:
            yield
        finally:
            _checks.reset(token)

    @asynccontextmanager
    async def lock(self, name: str, *, wait_seconds: float | None = 0) -> AsyncIterator[None]:
        """Hold ``name`` against every other holder, in this process and others, until the block ends.

        On a server a holder that stalls can lose it; then every write begun inside raises LeaseLost.
        ``wait_seconds`` None waits without end.

        Raises:
            BusyError: it was not free within ``wait_seconds``; says who holds it.
        """
        hold = await self._hold(name, wait_seconds)
        try:
            with self.checking(hold.check) if hold.check else nullcontext():
                yield
        finally:
            # Given back even where the caller is cancelled: the thread ends what it began.
            await asyncio.to_thread(hold.release)

    async def _hold(self, name: str, wait_seconds: float | None) -> Hold:
        loop = asyncio.get_running_loop()
        deadline = None if wait_seconds is None else loop.time() + wait_seconds
        while (hold := await _take_or_leave(partial(self._locks.try_hold, name))) is None:
            if deadline is not None and loop.time() >= deadline:
                holder = await asyncio.to_thread(self._locks.holder, name)
                raise BusyError(f"{name} is busy: {holder} holds it. Wait for it, or use --wait.")
            await asyncio.sleep(self._locks.poll_seconds)
        return hold

    async def is_locked(self, name: str) -> bool:
        """Whether somebody holds ``name`` now, here or in another process."""
        return await asyncio.to_thread(self._locks.is_held, name)

    async def abandoned_locks(self) -> tuple[AbandonedLock, ...]:
        """What holders left behind that were killed."""
        return await asyncio.to_thread(self._locks.abandoned)

    async def compact(self, *, wait_seconds: float = 30.0) -> bool:
        """Rewrite a SQLite store, so that nothing deleted is left in its bytes, nor in its log; vacuum a server's.

        Returns whether it was rewritten. ``wait_seconds``: for those who read a file.

        Raises:
            ConfigurationError: the role does not own the server's tables. BusyError: readers kept the log in use.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._writers, partial(self._compact, wait_seconds)
        )

    async def maintain(self) -> Maintenance:
        """Build the vector indexes that large scopes are worth, and drop broken ones; others go on meanwhile.

        Raises:
            ConfigurationError: the store is a file. BusyError: another maintenance runs.
        """
        if self._engine.dialect.name != "postgresql":
            raise ConfigurationError("Only a server's store has indexes to maintain; a file is searched whole.")
        return await asyncio.get_running_loop().run_in_executor(self._writers, self._maintain)

    def _maintain(self) -> Maintenance:
        # Loaded only where there is a server.
        from memu.storage.vector_indexes import maintain

        with translated(self.url):
            return maintain(self._engine)

    def _compact(self, wait_seconds: float) -> bool:
        with self._transactions.pause(), translated(self.url):
            return compact(self._engine, wait_seconds=wait_seconds)

    def close(self) -> None:
        """Wait for work under way, then close every connection."""
        self._writers.shutdown()
        self._readers.shutdown()
        self._locks.close()
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


async def _take_or_leave(try_hold: Callable[[], Hold | None]) -> Hold | None:
    """``try_hold`` in a thread; what it takes after the caller was cancelled is given back at once."""
    guard = threading.Lock()
    taken: list[Hold] = []
    left = False

    def take() -> Hold | None:
        hold = try_hold()
        with guard:
            if hold is not None and not left:
                taken.append(hold)
                return hold
        if hold is not None:
            hold.release()
        return None

    try:
        return await asyncio.to_thread(take)
    except asyncio.CancelledError:
        with guard:
            left = True
        for hold in taken:
            await asyncio.to_thread(hold.release)
        raise
