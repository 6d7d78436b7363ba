"""Locks between processes by the operating system: a dead holder's lock is free at once.

The lock is on a file of its own beside the store; who holds it stands in a second file, for the message only.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

__all__ = ["FileLocks", "Locks", "ProcessLocks", "make_locks"]


class Locks(Protocol):
    """Names that one holder at a time may hold, in this process or any other that uses the store."""

    def try_hold(self, name: str) -> Callable[[], None] | None:
        """Take ``name`` if it is free: returns how to give it back, or None."""
        ...

    def holder(self, name: str) -> str:
        """Who holds ``name``, in words."""
        ...


@dataclass(frozen=True, slots=True)
class FileLocks:
    """Locks on files named after the store ``path``."""

    path: Path

    def try_hold(self, name: str) -> Callable[[], None] | None:
        lock = FileLock(self._file(name, ".lock"), timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        note = self._file(name, ".holder")
        started = datetime.now(UTC).isoformat(timespec="seconds")
        note.write_text(json.dumps({"pid": os.getpid(), "started": started}), encoding="utf-8")

        def release() -> None:
            note.unlink(missing_ok=True)
            lock.release()

        return release

    def holder(self, name: str) -> str:
        with suppress(OSError, ValueError):
            found = json.loads(self._file(name, ".holder").read_text(encoding="utf-8"))
            return f"process {found['pid']} since {found['started']}"
        return "another process"

    def _file(self, name: str, suffix: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8")).hexdigest()[:16]
        return self.path.with_name(f"{self.path.name}.{digest}{suffix}")


@dataclass(frozen=True, slots=True)
class ProcessLocks:
    """Locks of a store that lives in this process only."""

    _held: dict[str, str] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def try_hold(self, name: str) -> Callable[[], None] | None:
        with self._guard:
            if name in self._held:
                return None
            started = datetime.now(UTC).isoformat(timespec="seconds")
            self._held[name] = f"process {os.getpid()} since {started}"

        def release() -> None:
            with self._guard:
                self._held.pop(name, None)

        return release

    def holder(self, name: str) -> str:
        with self._guard:
            return self._held.get(name, "another task")


def make_locks(path: Path | None) -> Locks:
    """The locks of the store at ``path``, or of one in memory."""
    return ProcessLocks() if path is None else FileLocks(path)
