"""The file system as publishing uses it: few calls, each of which may fail or be the last one."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

__all__ = ["Disk", "FileStat", "LocalDisk"]


@dataclass(frozen=True, slots=True)
class FileStat:
    """One thing in a folder, symbolic links not followed. ``sort`` is "file", "folder" or "other" (a link too)."""

    sort: str
    size: int
    mtime_ns: int
    inode: int


class Disk(Protocol):
    """What publishing asks of a file system. Every method may raise OSError."""

    def stat(self, path: Path) -> FileStat | None:
        """What lies there, a symbolic link itself and not its target; None for nothing."""

    def list_names(self, folder: Path) -> list[str]:
        """The names in a folder, sorted; none when it does not exist."""

    def read(self, path: Path) -> bytes:
        """A file's bytes; never through a symbolic link."""

    def make_folder(self, path: Path) -> None:
        """Make one folder, whose parent exists."""

    def create(self, path: Path, data: bytes) -> None:
        """A new file with these bytes, on the disk when this returns."""

    def replace(self, source: Path, target: Path) -> None:
        """Give ``source`` the name ``target`` in one step, whatever lay there."""

    def remove(self, path: Path) -> None:
        """Remove a file or a symbolic link."""

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""

    def settle(self, folder: Path) -> None:
        """Make the names of a folder outlast a power failure, where the system can."""


class LocalDisk:
    """The real one."""

    def stat(self, path: Path) -> FileStat | None:
        try:
            found = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        sort = "file" if stat.S_ISREG(found.st_mode) else "folder" if stat.S_ISDIR(found.st_mode) else "other"
        return FileStat(sort, found.st_size, found.st_mtime_ns, found.st_ino)

    def list_names(self, folder: Path) -> list[str]:
        try:
            return sorted(item.name for item in folder.iterdir())
        except FileNotFoundError:
            return []

    def read(self, path: Path) -> bytes:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read()

    def make_folder(self, path: Path) -> None:
        path.mkdir()

    def create(self, path: Path, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def remove(self, path: Path) -> None:
        path.unlink()

    def remove_folder(self, path: Path) -> None:
        path.rmdir()

    def settle(self, folder: Path) -> None:
        if os.name != "posix":
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
