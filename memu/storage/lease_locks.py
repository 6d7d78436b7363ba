"""Locks between processes of several hosts: a row that its holder has to renew, or another may take it.

The server's clock rules, for hosts differ. A holder that is known to be dead loses its row at once; of one on
another host only the row's age tells. That it was not taken over meanwhile is checked before each commit.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from memu.errors import StoreError
from memu.storage.leases import Lease, Leases
from memu.storage.lock import AbandonedLock, Hold
from memu.storage.process import ProcessMark, find_this_process, is_gone
from memu.storage.session import Session
from memu.storage.transactions import Transactions

__all__ = ["LeaseLocks", "Timing"]

# The tokens that this process holds or is about to, whatever store they are of. A row of its own without one was
# left behind: its release failed, and nobody works under it any more.
_HELD_HERE: set[str] = set()
_LONGEST_NAME = 255
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds: how long a row holds without being renewed, how often it is renewed, and again after a failure."""

    lasts: float = 45.0
    renewed: float = 10.0
    again: float = 1.0


class LeaseLocks:
    """``Locks`` on a server. A thread renews what is held, until it is released or lost."""

    def __init__(self, transactions: Transactions, timing: Timing | None = None) -> None:
        self._transactions = transactions
        self._timing = timing or Timing()
        self._held: dict[str, str] = {}
        self._guard = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def poll_seconds(self) -> float:
        return _POLL_SECONDS

    def try_hold(self, name: str) -> Hold | None:
        key, token = _key(name), uuid.uuid4().hex
        _HELD_HERE.add(token)
        taken = False
        try:
            taken = self._transactions.write(lambda session: self._take(session.locks, key, token))
        finally:
            if not taken:
                _HELD_HERE.discard(token)
        return self._keep(key, token) if taken else None

    def _keep(self, key: str, token: str) -> Hold:
        with self._guard:
            self._held[token] = key
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew_all, name="memu-lease", daemon=True)
                self._thread.start()

        def release() -> None:
            with self._guard:
                self._held.pop(token, None)
            try:
                # What cannot be given back runs out by itself, and for this process at once.
                with suppress(StoreError):
                    self._transactions.write(lambda session: session.locks.release(key, token))
            finally:
                _HELD_HERE.discard(token)

        return Hold(release=release, check=lambda session: session.locks.check(key, token))

    def holder(self, name: str) -> str:
        lease = self._transactions.read(lambda session: session.locks.holder(_key(name)))
        return "another process" if lease is None else _describe(lease)

    def is_held(self, name: str) -> bool:
        def look(session: Session) -> bool:
            lease = session.locks.holder(_key(name))
            return lease is not None and not _is_free(lease, session.locks.server_time())

        return self._transactions.read(look)

    def abandoned(self) -> tuple[AbandonedLock, ...]:
        def look(session: Session) -> list[Lease]:
            now = session.locks.server_time()
            return [lease for lease in session.locks.list() if _is_free(lease, now)]

        left = self._transactions.read(look)
        return tuple(AbandonedLock(file=lease.name, holder=_describe(lease)) for lease in left)

    def close(self) -> None:
        """Renew nothing any more."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _take(self, locks: Leases, key: str, token: str) -> bool:
        me, now, standing = find_this_process(), locks.server_time(), locks.holder(key)
        wanted = Lease(
            name=key,
            token=token,
            boot_id=me.boot_id,
            pid=me.pid,
            process_started=f"{me.started} {now.isoformat(timespec='seconds')}",
            expires_at=now + timedelta(seconds=self._timing.lasts),
        )
        dead = standing.token if standing is not None and _is_left_behind(standing) else None
        return locks.take(wanted, over=dead, now=now).token == token

    def _renew_all(self) -> None:
        wait = self._timing.renewed
        while not self._closed.wait(wait):
            with self._guard:
                held = dict(self._held)
            try:
                lost = self._transactions.write(partial(self._renew, held))
            except StoreError:
                # The server is away: the rows last a while, and the checks before commits tell if one is lost.
                wait = self._timing.again
                continue
            wait = self._timing.renewed
            with self._guard:
                for token in lost:
                    self._held.pop(token, None)

    def _renew(self, held: Mapping[str, str], session: Session) -> list[str]:
        """The tokens that were taken over."""
        if not held:
            return []
        locks = session.locks
        until = locks.server_time() + timedelta(seconds=self._timing.lasts)
        # In one order, so that two who renew do not wait for each other.
        in_order = sorted(held.items(), key=lambda item: item[1])
        return [token for token, key in in_order if not locks.renew(key, token, until)]


def _key(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8")).hexdigest()[:32]
    return f"{name[: _LONGEST_NAME - 33]} {digest}"


def _mark(lease: Lease) -> ProcessMark:
    started, _, _ = lease.process_started.rpartition(" ")
    return ProcessMark(boot_id=lease.boot_id, pid=lease.pid, started=started)


def _is_free(lease: Lease, now: datetime) -> bool:
    return lease.expires_at <= now or _is_left_behind(lease)


def _is_left_behind(lease: Lease) -> bool:
    """Whether its holder is dead, or this process, which holds it no more."""
    mark = _mark(lease)
    return is_gone(mark) or (mark == find_this_process() and lease.token not in _HELD_HERE)


def _describe(lease: Lease) -> str:
    _, _, since = lease.process_started.rpartition(" ")
    here = lease.boot_id == find_this_process().boot_id
    return f"{'process' if here else 'another host, process'} {lease.pid} since {since}"
