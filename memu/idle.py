"""The mark that lets a scheduled sync of a folder in which nothing moved end before it opens the store.

A quiet sync that found nothing to do leaves ``idle.json`` beside the store: one digest of everything that its
outcome hangs on. The next one looks at all of it again, by names, sizes and times alone, and ends there if the
digest is the same. Whatever is in doubt leads to a whole sync; see docs/adr/0081-the-idle-mark.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memu.errors import MemuError
from memu.ingest.project_file import PROJECT_FILE, read_project_file
from memu.ingest.scan import Scan, ScanRules, scan
from memu.records import SyncReport

__all__ = ["IdleMark", "IdleWatch", "confirmed_at", "read_mark"]

_STORE_FOLDER = ".memu"
_STORE = "memu.sqlite3"
_MARK = "idle.json"
_TRUSTED_FOR_NS = 24 * 3600 * 10**9
_RACY_NS = 2 * 10**9
_NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleMark:
    """What a whole sync left.

    user: the fields of its scope. seal: digest of all that it looked at. tree: the exported tree.
    watched: files whose sizes and times are in the seal, beside those of the folder and the tree.
    looked_ns: when that sync began.
    """

    user: Mapping[str, str]
    seal: str
    tree: str
    watched: tuple[str, ...]
    looked_ns: int


class IdleWatch:
    """One look at a folder, taken before a sync of it: what changes later is seen by the next look."""

    def __init__(self, folder: Path, user: Mapping[str, str], asked: Mapping[str, object]) -> None:
        """``user``: the scope's fields. ``asked``: the other options, each of which may give a sync work."""
        self._began_ns = time.time_ns()
        self._user = dict(user)
        self._asked = json.dumps({name: str(value) for name, value in sorted(asked.items())})
        self._root = Path(os.path.realpath(folder.expanduser()))
        self._scan = _look(self._root)

    def stands(self) -> bool:
        """Whether a sync would find nothing to do, as the one before did; the mark then says when."""
        mark = read_mark(self._root) if self._scan is not None else None
        if mark is None or not 0 <= self._began_ns - mark.looked_ns < _TRUSTED_FOR_NS:
            # Once a day a whole sync looks at everything, whatever a clock, a file system or this module missed.
            return False
        if mark.user != self._user or self._seal(mark.tree, mark.watched) != mark.seal:
            return False
        os.utime(_place(self._root))
        return True

    def keep(self, report: SyncReport, settings_file: Path | None) -> None:
        """After a sync: leave the mark where it found nothing to do and leaves nothing to be done, else remove it.

        ``settings_file``: the user's configuration, whether or not it is there. May raise OSError.
        """
        place = _place(self._root)
        if self._scan is None or report.export is None or not _is_idle(report) or self._is_racy(self._scan):
            place.unlink(missing_ok=True)
            return
        store = str(place.with_name(_STORE))
        watched = [store, f"{store}-wal", str(self._root / PROJECT_FILE), *_installed()]
        if settings_file is not None:
            watched.append(str(settings_file.absolute()))
        seal = self._seal(report.export.tree, watched)
        mark = {"user": self._user, "seal": seal, "tree": report.export.tree, "watched": watched}
        # A torn mark is none, so it needs no second name.
        place.write_text(json.dumps({**mark, "looked_ns": self._began_ns}), encoding="utf-8")

    def _is_racy(self, seen: Scan) -> bool:
        """Whether a file may have changed since the look with its size and time the same: git's rule."""
        return any(file.mtime_ns > self._began_ns - _RACY_NS for file in seen.files)

    def _seal(self, tree: str, watched: Iterable[str]) -> str:
        digest = hashlib.blake2b(digest_size=20)
        for part in (self._asked, sys.version, *_environment(), *map(_status, watched)):
            digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
        _digest_scan(digest, self._scan or Scan(files=(), skipped=(), unlistable=()))
        for line in _walk(tree):
            digest.update(line.encode("utf-8", "surrogateescape") + b"\0")
        return digest.hexdigest()


def read_mark(root: Path) -> IdleMark | None:
    """The mark of a folder's own store; None where there is none that can be read."""
    try:
        told = json.loads(_place(root).read_text(encoding="utf-8"))
        return IdleMark(
            user={str(name): str(value) for name, value in told["user"].items()},
            seal=str(told["seal"]),
            tree=str(told["tree"]),
            watched=tuple(map(str, told["watched"])),
            looked_ns=int(told["looked_ns"]),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def confirmed_at(root: Path, store: Path | None, user: Mapping[str, object]) -> datetime | None:
    """When a quiet sync of this scope last saw that nothing had moved.

    None where ``store`` is not the folder's own, or the last quiet sync was of another scope.
    """
    mark = read_mark(root) if store == root / _STORE_FOLDER / _STORE else None
    if mark is None or mark.user != {name: str(value) for name, value in user.items()}:
        return None
    try:
        return datetime.fromtimestamp(_place(root).stat().st_mtime, UTC)
    except OSError:
        return None


def _place(root: Path) -> Path:
    return root / _STORE_FOLDER / _MARK


def _look(root: Path) -> Scan | None:
    """What the folder holds, of whatever size; None where something in it cannot be looked at."""
    try:
        rules = ScanRules(project_ignore=read_project_file(root).ignore, max_size=_NO_LIMIT)
        seen = scan(root, rules)
    except MemuError:
        # The sync itself says what is wrong.
        return None
    return None if seen.unlistable else seen


def _is_idle(report: SyncReport) -> bool:
    changed = report.added or report.modified or report.moved or report.deleted or report.resumed
    pages = report.pages.created or report.pages.changed or report.pages.removed
    left = report.failed or report.waiting or report.unplaced or report.unpatched or report.vectors_missing
    published = report.export is not None and (report.export.written or report.export.removed)
    spent = report.usage.calls or report.stopped or report.degraded
    return not (changed or pages or left or published or spent)


def _environment() -> list[str]:
    """What the environment sets; a key decides nothing of what there is to do."""
    names = [name for name in os.environ if name.startswith("MEMU_") and not name.endswith("_API_KEY")]
    return [f"{name}={os.environ[name]}" for name in sorted(names)]


def _installed() -> list[str]:
    """The folders that change when memu or a library that it reads with is installed or upgraded."""
    libraries = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return [str(Path(__file__).parent), *libraries]


def _status(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path for each would cost more than the question
    except OSError:
        return f"{path} is not there"
    return f"{path} {found.st_size} {found.st_mtime_ns} {found.st_ino}"


def _digest_scan(digest: hashlib.blake2b, seen: Scan) -> None:
    """All at once, column by column: a line for each of many thousand files took as long as the scan."""
    paths, sizes, times, stamps = zip(*seen.files, strict=True) if seen.files else ((), (), (), ())
    digest.update("\0".join(paths).encode("utf-8", "surrogateescape"))
    for column in (sizes, times, stamps):
        digest.update(array("q", column).tobytes())
    for problem in seen.skipped:
        digest.update(f"\0{problem.path}\0{problem.reason}".encode("utf-8", "surrogateescape"))


def _walk(tree: str) -> list[str]:
    """A line for everything in the exported tree, links not followed."""
    lines, pending = [], [tree]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    found = entry.stat(follow_symlinks=False)
                    size = 0 if entry.is_dir(follow_symlinks=False) else found.st_size
                    lines.append(f"{entry.path} {found.st_mode} {size} {found.st_mtime_ns} {found.st_ino}")
        except OSError as error:
            lines.append(f"{folder} {error.errno}")
    return sorted(lines)
