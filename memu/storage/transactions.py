"""How a plain function runs as one transaction: in the calling thread, on a session, committed when it returns.

A server can be restarted, a connection cut, two transactions stand in each other's way. Work is a function of its
session alone, so it is then run again, whole; a commit whose answer was lost is asked after first.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Protocol, TypeVar

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from memu.errors import StoreError
from memu.storage.engine import reading, store_path, writing
from memu.storage.failures import is_passing, translated
from memu.storage.session import Session

__all__ = ["Check", "EmbeddedTransactions", "ServerTransactions", "Transactions", "refuse_coroutine_function"]

T = TypeVar("T")
Check = Callable[[Session], None]

# Six seconds in all: a server that is restarted is back by then.
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


class Transactions(Protocol):
    """Runs plain functions of a Session, each in one transaction of its own."""

    def read(self, work: Callable[[Session], T]) -> T:
        """Run ``work`` on a snapshot; an attempt to write raises StoreError."""
        ...

    def write(self, work: Callable[[Session], T], checks: Sequence[Check] = ()) -> T:
        """Run ``work``, then ``checks``; commit unless one of them raises."""
        ...

    def pause(self) -> AbstractContextManager[object]:
        """No transaction of this process stands in the way of what is done to the whole store."""
        ...


class EmbeddedTransactions:
    """On SQLite: one writer at a time; in memory there is one line for readers too."""

    def __init__(self, engine: Engine, clock: Callable[[], datetime]) -> None:
        self._engine = engine
        self._clock = clock
        self._line = threading.RLock()
        self._single = store_path(engine.url) is None

    def read(self, work: Callable[[Session], T]) -> T:
        line = self._line if self._single else nullcontext()
        with line, translated(self._engine.url), self._engine.connect() as connection, connection.begin():
            return _run_work(work, Session(connection, writable=False, now=self._clock()))

    def write(self, work: Callable[[Session], T], checks: Sequence[Check] = ()) -> T:
        with (
            self._line,
            translated(self._engine.url),
            self._engine.connect() as connection,
            writing(connection).begin(),
        ):
            return _run_checked(work, checks, Session(connection, writable=True, now=self._clock()))

    def pause(self) -> AbstractContextManager[object]:
        return self._line


class ServerTransactions:
    """On Postgres: writers of one scope after one another (see ``Session.within``), readers beside them."""

    def __init__(
        self,
        engine: Engine,
        clock: Callable[[], datetime],
        *,
        pauses: Sequence[float] = _PAUSES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._pauses = pauses
        self._sleep = sleep

    def read(self, work: Callable[[Session], T]) -> T:
        return self._try_again(lambda: self._read_once(work))

    def write(self, work: Callable[[Session], T], checks: Sequence[Check] = ()) -> T:
        return self._try_again(lambda: self._write_once(work, checks))

    def pause(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _read_once(self, work: Callable[[Session], T]) -> T:
        with self._engine.connect() as connection, reading(connection).begin():
            return _run_work(work, Session(connection, writable=False, now=self._clock()))

    def _write_once(self, work: Callable[[Session], T], checks: Sequence[Check]) -> T:
        number: str | None = None
        try:
            with self._engine.connect() as connection, writing(connection).begin():
                result = _run_checked(work, checks, Session(connection, writable=True, now=self._clock()))
                # None where nothing was written.
                number = connection.execute(text("SELECT pg_current_xact_id_if_assigned()::text")).scalar_one()
        except DBAPIError as error:
            # With its number known, only the commit was left: it may have come through, and its answer not.
            if number is None or not error.connection_invalidated or not self._was_committed(number):
                raise
        return result

    def _was_committed(self, number: str) -> bool:
        """What became of a transaction; waits while the server is still at it.

        Raises:
            StoreError: it does not end.
        """
        statement = text("SELECT pg_xact_status(CAST(:number AS xid8))")
        for pause in (*self._pauses, None):
            try:
                with self._engine.connect() as connection, reading(connection).begin():
                    status = connection.execute(statement, {"number": number}).scalar_one()
                if status != "in progress":
                    return bool(status == "committed")
            except DBAPIError as error:
                if pause is None or not is_passing(error):
                    raise
            if pause is not None:
                self._sleep(pause)
        raise StoreError("The connection broke while a change was committed, and the server is still at it.")

    def _try_again(self, run: Callable[[], T]) -> T:
        with translated(self._engine.url):
            for pause in self._pauses:
                try:
                    return run()
                except DBAPIError as error:
                    if not is_passing(error):
                        raise
                self._sleep(pause)
            return run()


def refuse_coroutine_function(work: Callable[[Session], object]) -> None:
    """Make sure that ``work`` can await nothing.

    Raises:
        TypeError: it is an async function.
    """
    if inspect.iscoroutinefunction(work):
        raise TypeError("A transaction's work is a plain function; an async one could wait inside it.")


def _run_checked(work: Callable[[Session], T], checks: Sequence[Check], session: Session) -> T:
    result = _run_work(work, session)
    for check in checks:
        check(session)
    return result


def _run_work(work: Callable[[Session], T], session: Session) -> T:
    result = work(session)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError("A transaction's work returned something to await; do that outside, on plain values.")
    return result
