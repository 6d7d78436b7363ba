"""The mark itself: when it holds, when it is left, what it says."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memu.errors import MemuError
from memu.idle.seal import Seal, describe_rights, describe_status, list_surroundings
from memu.ingest.project_file import PROJECT_FILE, read_project_file
from memu.ingest.scan import Scan, ScanRules, scan
from memu.records import SyncReport

__all__ = ["IdleMark", "IdleWatch", "confirmed_at", "read_mark"]

_STORE_FOLDER = ".memu"
_STORE = "memu.sqlite3"
_MARK = "idle.json"
_TRUSTED_FOR_NS = 24 * 3600 * 10**9
_RACY_NS = 2 * 10**9
_TICK_NS = 10**8
_NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleMark:
    """What a whole sync left.

    user: the fields of its scope. seal: digest of all that it looked at. tree: the exported tree.
    watched: settings files whose sizes and times are in the seal.
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
        if mark.user != self._user or self._seal(mark.tree, mark.watched).digest != mark.seal:
            return False
        try:
            os.utime(_place(self._root))
        except OSError:
            # Somebody else's mark, perhaps of a store that we may not write: the sync says it.
            return False
        return True

    def keep(self, report: SyncReport, settings_file: Path | None) -> None:
        """After a sync: leave the mark where it found nothing to do and leaves nothing to be done, else remove it.

        ``settings_file``: the user's configuration, whether or not it is there.
        """
        ended_ns = time.time_ns()
        place = _place(self._root)
        # A sync that cannot leave a mark is none the worse.
        with suppress(OSError):
            place.unlink(missing_ok=True)
            if self._scan is None or report.export is None or not _is_idle(report) or self._is_racy(self._scan):
                return
            store = place.with_name(_STORE)
            if _is_written(store, ended_ns):
                return
            watched = [str(self._root / PROJECT_FILE), str(place.with_name(".gitignore"))]
            if settings_file is not None:
                watched.append(str(settings_file.absolute()))
            seal = self._seal(report.export.tree, watched)
            if seal.newest_ns > self._began_ns - _lag(seal.newest_ns):
                # Changed while the sync ran, which may have looked before.
                return
            mark = {"user": self._user, "seal": seal.digest, "tree": report.export.tree, "watched": watched}
            # A torn mark is none, so it needs no second name.
            place.write_text(json.dumps({**mark, "looked_ns": self._began_ns}), encoding="utf-8")

    def _is_racy(self, seen: Scan) -> bool:
        """Whether a file may have changed since the look with its size and time the same: git's rule."""
        return any(file.mtime_ns > self._began_ns - _RACY_NS for file in seen.files)

    def _seal(self, tree: str, watched: Iterable[str]) -> Seal:
        """All that the outcome of a sync hangs on, as it is now but for the folder, which was looked at before."""
        seal = Seal()
        seal.add(str(self._root), self._asked, *list_surroundings())
        seal.add_scan(self._scan or Scan(files=(), skipped=(), unlistable=()))
        home = _place(self._root).parent
        store = str(home / _STORE)
        seal.add(*map(describe_status, (store, f"{store}-wal")), describe_rights(str(home)))
        for path in watched:
            seal.add_watched(path)
        seal.add_tree(tree)
        return seal


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


def _lag(changed_ns: int) -> int:
    """How far the time of a change may lie behind the clock: ticks of a system, or of a file system in seconds."""
    return _TICK_NS if changed_ns % 10**9 else _RACY_NS


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


def _is_written(store: Path, ended_ns: int) -> bool:
    """Whether another process has the store open, or wrote to it since our sync ended."""
    return store.with_name(f"{store.name}-wal").exists() or store.stat().st_mtime_ns > ended_ns
