"""Where the store of a folder lies, and how it is found."""

from __future__ import annotations

from pathlib import Path

from memu.errors import StoreError

__all__ = ["STORE_FOLDER", "locate_store", "store_path"]

STORE_FOLDER = ".memu"
_STORE_FILE = "memu.sqlite3"


def store_path(folder: Path) -> Path:
    """Where the store of a synced folder lies when no database is named."""
    return folder / STORE_FOLDER / _STORE_FILE


def locate_store(start: Path) -> Path:
    """The nearest store at or above ``start``, as git finds its repository.

    Raises:
        StoreError: there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (found := store_path(folder)).is_file():
            return found
    raise StoreError(
        f"No {STORE_FOLDER}/{_STORE_FILE} in {start} or above it. Sync a folder first (memu sync FOLDER), "
        "or name the database with --db or MEMU_DB."
    )
