"""What a look at a folder tells of one file, and by what the next look knows it again."""

from __future__ import annotations

import os
from typing import NamedTuple

__all__ = ["FoundFile", "found_file"]

# What a column of whole numbers holds in every database.
_LARGEST = (1 << 63) - 1
_NEW = tuple.__new__


class FoundFile(NamedTuple):
    """A file that may be read as a source. ``path`` is its stored path; size in bytes.

    A named tuple and no dataclass: a scan makes one for each of many thousand files.
    """

    path: str
    size: int
    mtime_ns: int
    stamp: int = 0


def found_file(path: str, status: os.stat_result) -> FoundFile:
    """The file with this status. Its ``stamp`` is of the inode and the time of its last change of any sort.

    Unlike mtime no program sets that time, and most file systems move it with a rename; the inode is for those
    that do not. As one number they are stored and compared in half the time.
    """
    stamp = (status.st_ctime_ns ^ status.st_ino) & _LARGEST
    # As FoundFile(…) does it, without the call in between: this runs for each of many thousand files.
    return _NEW(FoundFile, (path, status.st_size, status.st_mtime_ns, stamp))
