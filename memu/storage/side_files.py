"""The log beside a SQLite store and its index: who may write them, and reading where no index can be made."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

__all__ = ["closed_side_files", "connect_alone", "has_no_room", "open_side_files"]

# Making the index, or giving it its size, failed. By number: the words are the same for any fault of a disk.
_NO_INDEX = frozenset(
    {
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
    }
)


def closed_side_files(path: Path) -> tuple[Path, ...]:
    """Those of the two that are there and may not be written, though the store itself may."""
    if not os.access(path, os.W_OK):
        return ()
    beside = (path.with_name(f"{path.name}-{end}") for end in ("wal", "shm"))
    return tuple(file for file in beside if file.exists() and not os.access(file, os.W_OK))


def open_side_files(path: Path) -> None:
    """Give them the store's own mode. SQLite makes them so, but a reader made them while the store was closed to
    writers, and left the index behind: nobody could write from then on. Another user's stay as they are."""
    for file in closed_side_files(path):
        with suppress(OSError):
            file.chmod(path.stat().st_mode & 0o777)


def has_no_room(error: BaseException | None) -> bool:
    """Whether the index could not be made, most often since the disk is full."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) in _NO_INDEX


def connect_alone(path: Path, seconds: float) -> sqlite3.Connection:
    """A connection that keeps the index in memory, and everybody else out while it is open.

    Without an index on disk nobody else can have one, so that nobody is kept waiting but another one of these: at
    most ``seconds``.
    """
    connection = sqlite3.connect(path, check_same_thread=False, timeout=seconds)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE").close()
    return connection
