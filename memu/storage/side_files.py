"""The log beside a SQLite store and its index: who may write them, and reading where no index can be made."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

__all__ = [
    "closed_side_files",
    "connect_alone",
    "connect_to_read",
    "has_no_room",
    "is_read_only_disk",
    "open_side_files",
]

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


def connect_to_read(path: Path, seconds: float) -> sqlite3.Connection:
    """A connection to a file that may not be written.

    SQLite reads a write-ahead log only where it finds or may make the log's index. Where there is no log and the
    folder is closed too, nobody writes: then the file is read as one that does not change. Where there is a log
    without an index on a disk that nobody can write, as a machine that went down leaves it, the index is kept in
    memory, and no lock is asked for, since none could be had.
    """
    log, index = (path.with_name(f"{path.name}-{end}") for end in ("wal", "shm"))
    alone = log.exists() and not index.exists() and is_read_only_disk(path)
    how = "mode=ro" if log.exists() or os.access(path.parent, os.W_OK) else "immutable=1"
    address = f"{path.absolute().as_uri()}?{how}{'&vfs=unix-none' if alone else ''}"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=seconds)
    if alone:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").close()
    return connection


def is_read_only_disk(path: Path) -> bool:
    """Whether the file system of this file takes no writes; never on a system that cannot be asked."""
    if not hasattr(os, "statvfs"):
        return False
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False
