"""What keeps a SQLite store from being written, though nobody meant that: no failed sync could be noted in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlalchemy.engine import URL

from memu.storage.engine import is_read_only, store_path
from memu.storage.side_files import closed_side_files, is_read_only_disk

__all__ = ["FULL", "READ_ONLY_DISK", "find_hindrance", "has_room"]

FULL = "the disk is full"
READ_ONLY_DISK = "its disk is mounted read-only"

# Less than the log's index and one page take.
_LEAST_ROOM = 1 << 16


def find_hindrance(url: URL) -> str | None:
    """Why nothing can be written now; None where nothing is in the way, or modes close the store to this user.

    Modes are somebody's will, and whoever they leave open syncs it. A disk that is mounted read-only is most often
    one on which the system met errors, and nobody can sync what lies there.
    """
    path = store_path(url)
    if path is None or not path.exists():
        return None
    if is_read_only_disk(path) or is_read_only_disk(path.parent):
        return READ_ONLY_DISK
    if is_read_only(url):
        return None
    closed = closed_side_files(path)
    if closed:
        return f"{' and '.join(map(str, closed))} may not be written, though the store beside may"
    return None if has_room(path) else FULL


def has_room(path: Path) -> bool:
    """Whether anything can be added to the disk of this file."""
    try:
        return shutil.disk_usage(path.parent).free >= _LEAST_ROOM
    except OSError:
        return True
