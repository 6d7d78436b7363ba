"""One digest of all that the outcome of a sync hangs on, told from names, sizes, times and rights alone."""

from __future__ import annotations

import hashlib
import os
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR

from memu.ingest.scan import Scan

__all__ = ["Seal", "describe_rights", "describe_status", "list_surroundings"]

# Where the user's configuration is looked for.
_PLACES = frozenset(["APPDATA", "HOME", "LOCALAPPDATA", "USERPROFILE", "XDG_CONFIG_HOME"])


@dataclass(slots=True)
class Seal:
    """A digest that grows. newest_ns: when what could change beside a sync last did, by any means."""

    newest_ns: int = 0
    _hash: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=20))

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def add(self, *parts: str) -> None:
        for part in parts:
            self._hash.update(part.encode("utf-8", "surrogateescape") + b"\0")

    def add_watched(self, path: str) -> None:
        self.add(describe_status(path))
        with suppress(OSError):
            self.newest_ns = max(self.newest_ns, os.stat(path).st_ctime_ns)  # noqa: PTH116

    def add_scan(self, seen: Scan) -> None:
        """All at once, column by column: a line for each of many thousand files took as long as the scan."""
        paths, sizes, times, stamps = zip(*seen.files, strict=True) if seen.files else ((), (), (), ())
        self.add("\0".join(paths))
        for column in (sizes, times, stamps):
            self._hash.update(array("q", column).tobytes())
        for problem in seen.skipped:
            self.add(problem.path, problem.reason)

    def add_tree(self, tree: str) -> None:
        """Everything in a folder, links not followed."""
        lines, pending = [], [tree]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        found = entry.stat(follow_symlinks=False)
                        lines.append(f"{entry.path} {_describe(found)}")
                        self.newest_ns = max(self.newest_ns, found.st_ctime_ns)
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
            except OSError as error:
                lines.append(f"{folder} {error.errno}")
        self.add(*sorted(lines))


def list_surroundings() -> Iterator[str]:
    """What is around a sync: who runs it and where, what the environment sets, and the very code.

    A key decides nothing of what there is to do. Settings know no capitals.
    """
    yield f"{sys.version} {os.geteuid() if hasattr(os, 'geteuid') else ''} {Path.cwd()}"
    for name in sorted(os.environ):
        setting = name.upper().startswith("MEMU_") and not name.upper().endswith("_API_KEY")
        if setting or name in _PLACES:
            yield f"{name}={os.environ[name]}"
    yield from _list_code()
    yield from (describe_status(path) for path in sys.path if path.endswith(("site-packages", "dist-packages")))


def _list_code() -> Iterator[str]:
    """memu's own files; what Python keeps of them beside changes with whatever is used first."""
    for folder, folders, names in os.walk(Path(__file__).parents[1]):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (describe_status(f"{folder}{os.sep}{name}") for name in sorted(names))


def describe_status(path: str) -> str:
    """What a look at a file tells without opening it."""
    try:
        return f"{path} {_describe(os.stat(path))}"  # noqa: PTH116 - a Path for each would cost more than this
    except OSError:
        return f"{path} is not there"


def _describe(found: os.stat_result) -> str:
    size = 0 if S_ISDIR(found.st_mode) else found.st_size
    return f"{found.st_mode} {found.st_uid} {size} {found.st_mtime_ns} {found.st_ino}"


def describe_rights(folder: str) -> str:
    """Who may do what in a folder, whatever lies in it."""
    found = os.stat(folder)  # noqa: PTH116
    return f"{found.st_mode} {found.st_uid}"
