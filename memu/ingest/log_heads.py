"""The bytes of a log up to a line, known again by their hash, and what was written after them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from memu.ingest.paths import stream_source

__all__ = ["LogHead", "LogTail", "find_head", "is_plain", "read_tail"]

_ODD = bytes(byte for byte in range(32) if byte not in b"\t\n") + b"\x7f"
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHead:
    """The bytes before a line: how many, and their SHA-256 as 64 hex digits."""

    size: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTail:
    """What was written after a head. size, content_hash: of the whole file; head: the digest of what is before."""

    data: bytes
    size: int
    content_hash: str
    head: hashlib._Hash

    def find_head(self, line: int) -> LogHead:
        """The head that ends before the ``line`` of this tail, counted from 1."""
        size = _find_line(self.data, line - 1)
        digest = self.head.copy()
        digest.update(self.data[:size])
        return LogHead(size=self.size - len(self.data) + size, digest=digest.hexdigest())


def find_head(root: Path, path: str, *, line: int, size: int, content_hash: str, plain: bool) -> LogHead | None:
    """The head that ends before a ``line``, counted from 1, of the first ``size`` bytes of a log.

    Args:
        content_hash: the SHA-256 of those bytes. plain: whether they must be plain text (``is_plain``).

    Returns:
        None where they are others by now, or not plain.

    Raises:
        ReadError: the file cannot be read.
    """
    digest = hashlib.sha256()
    left, read = line - 1, 0
    head: LogHead | None = None
    kept: list[bytes] = []
    for piece in _cut_off(stream_source(root, path, max_size=_LARGEST), size):
        count = piece.count(b"\n") if head is None else 0
        if head is None and count >= left:
            before = _find_line(piece, left)
            whole = digest.copy()
            whole.update(piece[:before])
            head = LogHead(size=read + before, digest=whole.hexdigest())
        left -= count
        digest.update(piece)
        read += len(piece)
        kept += [piece] if plain else []
    stands = read == size and digest.hexdigest() == content_hash and is_plain(b"".join(kept))
    return head if stands else None


def read_tail(root: Path, path: str, head: LogHead, *, most: int) -> LogTail | None:
    """What was written after the head of a log, in one look at the file.

    Returns:
        None where the file no longer begins with the head, or ``most`` bytes and more were written after it.

    Raises:
        ReadError: the file cannot be read.
    """
    digest = hashlib.sha256()
    pieces = stream_source(root, path, max_size=_LARGEST)
    left = head.size
    rest = b""
    for piece in pieces:
        digest.update(piece[:left])
        rest = piece[left:]
        left -= len(piece) - len(rest)
        if not left:
            break
    if left or digest.hexdigest() != head.digest:
        return None
    whole = digest.copy()
    written: list[bytes] = []
    size = 0
    for piece in chain([rest], pieces):
        whole.update(piece)
        written.append(piece)
        size += len(piece)
        if size >= most:
            return None
    return LogTail(data=b"".join(written), size=head.size + size, content_hash=whole.hexdigest(), head=digest)


def is_plain(data: bytes) -> bool:
    """Whether bytes are UTF-8 whose lines end in ``\\n`` or ``\\r\\n`` and that holds no other controls but tabs.

    Of such bytes the text of the whole is that of its parts.
    """
    plain = data.replace(b"\r\n", b"\n")
    if len(plain.translate(None, _ODD)) != len(plain) or data.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _cut_off(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The first ``size`` bytes of the pieces."""
    for piece in pieces:
        yield piece[:size]
        size -= len(piece)
        if size <= 0:
            return


def _find_line(data: bytes, before: int) -> int:
    """Where the line begins before which so many others stand."""
    at = 0
    for _ in range(before):
        at = data.index(b"\n", at) + 1
    return at
