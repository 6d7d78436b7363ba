"""Between a path as it is stored and the file it stands for; reading a file without following a link.

A stored path is relative to the workspace's root, in POSIX form. It is never normalised: two spellings of one
letter are two files to most file systems. Bytes that are not UTF-8 are written ``%XX``, and a literal ``%`` is
written ``%25`` where it would read like such an escape, so every stored path leads back to exactly one file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memu.errors import ReadError

__all__ = ["hash_source", "os_path", "read_head", "read_source", "stored_path", "stream_source"]

_AMBIGUOUS = re.compile(r"%(?=25|[89A-F][0-9A-F])")
_ESCAPE = re.compile(r"%(25|[89A-F][0-9A-F])")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_CHUNK = 1 << 20
_FILE_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
# Opening relative to an open folder is what keeps a swapped link from leading out; Windows has no such call.
_CAN_WALK = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def stored_path(relative: str) -> str:
    """How a root-relative path, as Python's ``os`` gives it, is written in rows and reports.

    >>> stored_path("notes/100%.md"), stored_path("caf\\udce9.md"), stored_path("%FF.md")
    ('notes/100%.md', 'caf%E9.md', '%25FF.md')
    """
    posix = relative if os.sep == "/" else relative.replace(os.sep, "/")
    if posix.isascii() and "%" not in posix:
        return posix
    marked = _AMBIGUOUS.sub("%25", posix)
    return _UNDECODABLE.sub(lambda match: f"%{ord(match[0]) - 0xDC00:02X}", marked)


def os_path(root: Path, path: str) -> Path:
    """The file that a stored path stands for.

    Raises:
        ReadError: the path is absolute or climbs out of the root.
    """
    pure = PurePosixPath(_ESCAPE.sub(_unescape, path))
    if pure.is_absolute() or ".." in pure.parts:
        raise ReadError(f"{path}: the path leads out of the workspace.")
    return root.joinpath(*pure.parts)


def read_source(root: Path, path: str, *, max_size: int) -> bytes:
    """A source's bytes, whole. No symbolic link is followed, neither the file's own nor a folder's above it.

    Args:
        max_size: more bytes than this are refused, also when the file grew since it was scanned.

    Raises:
        ReadError: missing, refused, a link or no regular file, or too large; the message gives the reason.
    """
    handle = _open(root, path)
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(max_size + 1)
        except OSError as error:
            raise ReadError(_reason(error)) from error
    if len(data) > max_size:
        raise ReadError(f"larger than {max_size} bytes")
    return data


def stream_source(root: Path, path: str, *, max_size: int) -> Iterator[bytes]:
    """A source's bytes, 1 MiB at a time.

    Raises:
        ReadError: as :func:`read_source`.
    """
    left = max_size
    with os.fdopen(_open(root, path), "rb") as file:
        try:
            while piece := file.read(_CHUNK):
                left -= len(piece)
                if left < 0:
                    raise ReadError(f"larger than {max_size} bytes")
                yield piece
        except OSError as error:
            raise ReadError(_reason(error)) from error


def read_head(root: Path, path: str, *, size: int) -> bytes:
    """The first ``size`` bytes of a source, or all of a shorter one.

    Raises:
        ReadError: as :func:`read_source`.
    """
    with os.fdopen(_open(root, path), "rb") as file:
        try:
            return file.read(size)
        except OSError as error:
            raise ReadError(_reason(error)) from error


def hash_source(root: Path, path: str) -> str:
    """The SHA-256 of a source's bytes as 64 hex digits, read in pieces.

    Raises:
        ReadError: as :func:`read_source`.
    """
    digest = hashlib.sha256()
    with os.fdopen(_open(root, path), "rb") as file:
        try:
            while piece := file.read(_CHUNK):
                digest.update(piece)
        except OSError as error:
            raise ReadError(_reason(error)) from error
    return digest.hexdigest()


def _open(root: Path, path: str) -> int:
    target = os_path(root, path)
    try:
        handle = _open_below(root, target.relative_to(root).parts) if _CAN_WALK else os.open(target, _FILE_FLAGS)
    except OSError as error:
        raise ReadError(_reason(error)) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ReadError("not a regular file")
    return handle


def _open_below(root: Path, parts: tuple[str, ...]) -> int:
    folder = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(parts[-1], _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _unescape(match: re.Match[str]) -> str:
    value = int(match[1], 16)
    return "%" if value == 0x25 else chr(0xDC00 + value)


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "became a symbolic link"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "vanished while the sync ran"
    return f"cannot be read: {error.strerror or error}"
