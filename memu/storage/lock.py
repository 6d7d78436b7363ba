"""Locks between processes by the operating system: a dead holder's lock is free at once.

The lock is on a file of its own beside the store; who holds it stands in a second file, for the message only.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from filelock import FileLock, Timeout

from memu.errors import StoreError

if TYPE_CHECKING:
    from memu.storage.session import Session

__all__ = ["AbandonedLock", "FileLocks", "Hold", "Locks", "ProcessLocks"]

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonedLock:
    """The note of a holder that is gone: the ``file`` and what it says. The lock itself is free."""

    file: str
    holder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A name that is held: how to give it back and, where it can be lost, the check that it was not."""

    release: Callable[[], None]
    check: Callable[[Session], None] | None = None


class Locks(Protocol):
    """Names that one holder at a time may hold, in this process or any other that uses the store."""

    @property
    def poll_seconds(self) -> float:
        """How long who waits for a name may wait before looking again."""
        ...

    def try_hold(self, name: str) -> Hold | None:
        """Take ``name`` if it is free."""
        ...

    def holder(self, name: str) -> str:
        """Who holds ``name``, in words."""
        ...

    def is_held(self, name: str) -> bool:
        """Whether somebody holds ``name`` now."""
        ...

    def abandoned(self) -> tuple[AbandonedLock, ...]:
        """What holders left behind that were killed."""
        ...

    def close(self) -> None:
        """Nothing is held any more."""
        ...


@dataclass(frozen=True, slots=True)
class FileLocks:
    """Locks on files named after the store ``path``."""

    path: Path

    @property
    def poll_seconds(self) -> float:
        return _POLL_SECONDS

    def try_hold(self, name: str) -> Hold | None:
        file = self._file(name, ".lock")
        lock = FileLock(file, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        except OSError as error:
            raise StoreError(f"The lock {file} cannot be taken: {error.strerror or error}.") from error
        note = self._file(name, ".holder")
        started = datetime.now(UTC).isoformat(timespec="seconds")
        # It is for a message only: a full disk stops nobody here.
        with suppress(OSError):
            note.write_text(json.dumps({"pid": os.getpid(), "started": started}), encoding="utf-8")

        def release() -> None:
            note.unlink(missing_ok=True)
            lock.release()

        return Hold(release=release)

    def holder(self, name: str) -> str:
        return _read_note(self._file(name, ".holder"))

    def is_held(self, name: str) -> bool:
        return self._is_held(self._file(name, ".holder"))

    def abandoned(self) -> tuple[AbandonedLock, ...]:
        notes = sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.*.holder"))
        return tuple(
            AbandonedLock(file=str(note), holder=_read_note(note)) for note in notes if not self._is_held(note)
        )

    def close(self) -> None:
        pass

    def _is_held(self, note: Path) -> bool:
        # The lock is tried only where a note says that somebody holds it, or held it when killed: whoever comes
        # for a free lock never meets us.
        file = note.with_suffix(".lock")
        if not note.exists() or not file.exists():
            return False
        lock = FileLock(file, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except (Timeout, OSError):
            return True
        lock.release()
        return False

    def _file(self, name: str, suffix: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8")).hexdigest()[:16]
        return self.path.with_name(f"{self.path.name}.{digest}{suffix}")


@dataclass(frozen=True, slots=True)
class ProcessLocks:
    """Locks of a store that lives in this process only."""

    _held: dict[str, str] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def poll_seconds(self) -> float:
        return _POLL_SECONDS

    def try_hold(self, name: str) -> Hold | None:
        with self._guard:
            if name in self._held:
                return None
            started = datetime.now(UTC).isoformat(timespec="seconds")
            self._held[name] = f"process {os.getpid()} since {started}"

        def release() -> None:
            with self._guard:
                self._held.pop(name, None)

        return Hold(release=release)

    def holder(self, name: str) -> str:
        with self._guard:
            return self._held.get(name, "another task")

    def is_held(self, name: str) -> bool:
        with self._guard:
            return name in self._held

    def abandoned(self) -> tuple[AbandonedLock, ...]:
        return ()

    def close(self) -> None:
        pass


def _read_note(note: Path) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(note.read_text(encoding="utf-8"))
        return f"process {found['pid']} since {found['started']}"
    return "another process"
