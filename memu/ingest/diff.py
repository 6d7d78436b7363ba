"""What changed in a folder since its rows were written: a pure decision over what was found and what is known.

A file whose size, time and stamp stand is not opened, unless its time is so near to the moment it was last looked
at that a later write could have left the same time ("racily clean", as git's index calls it). The stamp sees what
size and time cannot: names that two files swapped, a file that was put back with the time of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memu.errors import ReadError
from memu.ingest.moves import pair_moves
from memu.ingest.scan import FoundFile
from memu.records import FileProblem, State

__all__ = ["RACY_WINDOW_NS", "Diff", "Known", "KnownFile", "Move", "diff", "is_idle"]

RACY_WINDOW_NS = 2_000_000_000
"""Two seconds, the coarsest clock among file systems in use (FAT)."""


class Known(Protocol):
    """What of a row a diff looks at; ``KnownFile`` tells what each means."""

    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def stamp(self) -> int: ...
    @property
    def content_hash(self) -> str: ...
    @property
    def seen_ns(self) -> int: ...
    @property
    def state(self) -> State: ...


class KnownFile(NamedTuple):
    """What a row says of its file. A named tuple, since there may be many thousand of them.

    seen_ns: when the bytes behind ``content_hash`` were looked at, or any earlier time (the start of that
        sync's scan); never the later time at which the row was committed. Nanoseconds since 1970.
    """

    size: int
    mtime_ns: int
    content_hash: str
    seen_ns: int
    state: State = State.DONE
    stamp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A known file under a new path. ``edited``: its bytes are others too, so that it has to be read again."""

    old: str
    new: FoundFile
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What a sync has to do, each row in order of path (moves by their new one).

    added, modified: to be read. again: the bytes stand, but the last try did not end well and is due again.
    moved: keep their ids. deleted: known, gone, and not merely out of sight.
    restated: the bytes stand, so only size, time, stamp and the moment of looking are written anew.
    unchanged: how many need nothing at all. out_of_sight: known files that nothing can be said of.
    """

    added: tuple[FoundFile, ...] = ()
    modified: tuple[FoundFile, ...] = ()
    again: tuple[FoundFile, ...] = ()
    moved: tuple[Move, ...] = ()
    deleted: tuple[str, ...] = ()
    restated: tuple[FoundFile, ...] = ()
    unchanged: int = 0
    out_of_sight: tuple[str, ...] = ()


def is_idle(found: Sequence[FoundFile], settled: frozenset[tuple[str, int, int, int]]) -> bool:
    """Whether these files are those of the rows, each as it was: what ``diff`` would find unchanged.

    Args:
        settled: path, size, mtime and stamp of every row, none of whose files was seen within the racy window.
    """
    return len(found) == len(settled) and settled.issuperset(found)


def diff(
    found: Iterable[FoundFile],
    known: Mapping[str, Known],
    hash_of: Callable[[str], str],
    now_ns: int,
    *,
    unlistable: Iterable[FileProblem] = (),
    is_due: Callable[[str, Known], bool] | None = None,
    is_other: Callable[[str, str], bool] = lambda _digest, _path: False,
    window_ns: int = RACY_WINDOW_NS,
) -> Diff:
    """Compare a scan with the rows.

    Args:
        hash_of: the SHA-256 (hex) of the file at a stored path; may raise ReadError, and such a file then counts
            as changed, so that whoever reads it reports why it cannot be read.
        now_ns: when the scan began.
        unlistable: the scan's; what lies below is neither deleted nor changed.
        is_due: whether a file whose bytes stand is to be done again, asked for each state but done and skipped;
            by default always.
        is_other: as for ``pair_moves``.
    """
    files = {file.path: file for file in found}
    compare = _Comparison(hash_of, now_ns, window_ns, is_due)
    hidden = _Hidden(unlistable)
    out_of_sight = sorted(path for path in known if path not in files and hidden.covers(path))
    gone = {path: known[path] for path in known if path not in files and not hidden.covers(path)}
    new = {path: file for path, file in files.items() if path not in known}
    verdicts = {path: compare.judge(file, known[path]) for path, file in files.items() if path in known}

    sources = {path: (row.content_hash, row.size) for path, row in gone.items()}
    pairs = pair_moves(sources, {path: file.size for path, file in new.items()}, compare.hash, is_other)
    taken = {pair.new for pair in pairs}
    moved = (
        Move(old=pair.old, new=new[pair.new], edited=pair.edited or compare.due(pair.old, gone[pair.old]))
        for pair in pairs
    )
    return Diff(
        added=_in_order(file for path, file in new.items() if path not in taken),
        modified=_in_order(files[path] for path, verdict in verdicts.items() if verdict == "modified"),
        again=_in_order(files[path] for path, verdict in verdicts.items() if verdict == "again"),
        moved=tuple(sorted(moved, key=lambda move: move.new.path)),
        deleted=tuple(sorted(set(gone) - {pair.old for pair in pairs})),
        restated=_in_order(files[path] for path, verdict in verdicts.items() if verdict == "restated"),
        unchanged=sum(verdict == "unchanged" for verdict in verdicts.values()),
        out_of_sight=tuple(out_of_sight),
    )


def _in_order(files: Iterable[FoundFile]) -> tuple[FoundFile, ...]:
    return tuple(sorted(files, key=lambda file: file.path))


class _Comparison:
    """One file against its row."""

    def __init__(
        self,
        hash_of: Callable[[str], str],
        now_ns: int,
        window_ns: int,
        is_due: Callable[[str, Known], bool] | None,
    ) -> None:
        self._hash_of = hash_of
        self._now_ns = now_ns
        self._window_ns = window_ns
        self._is_due = is_due
        self._hashes: dict[str, str | None] = {}

    def hash(self, path: str) -> str | None:
        """The file's hash, taken once; None where it cannot be read."""
        if path not in self._hashes:
            try:
                self._hashes[path] = self._hash_of(path)
            except ReadError:
                self._hashes[path] = None
        return self._hashes[path]

    def due(self, path: str, known: Known) -> bool:
        if known.state in (State.DONE, State.SKIPPED):
            return False
        return self._is_due is None or self._is_due(path, known)

    def judge(self, file: FoundFile, known: Known) -> str:
        stands = file[1:] == (known.size, known.mtime_ns, known.stamp)
        if stands and known.state is State.DONE and known.mtime_ns < known.seen_ns - self._window_ns:
            return "unchanged"
        racy = known.mtime_ns >= known.seen_ns - self._window_ns
        # A file that cannot be read has no hash, as its row has none: it is changed only if it had one.
        if (not stands or racy) and (self.hash(file.path) or "") != known.content_hash:
            return "modified"
        if self.due(file.path, known):
            # Nobody knows which bytes it had when it could not be read, as it can now.
            blind = known.state is State.FAILED and not known.content_hash
            return "modified" if blind and self.hash(file.path) else "again"
        if not stands:
            return "restated"
        # Written anew only if that ends the doubt; a time that lies in the future would cost a write each sync.
        settled = racy and file.mtime_ns < self._now_ns - self._window_ns
        return "restated" if settled else "unchanged"


class _Hidden:
    """What lies below a directory that could not be listed, or is a file that could not be looked at."""

    def __init__(self, problems: Iterable[FileProblem]) -> None:
        paths = [problem.path for problem in problems]
        self._files = frozenset(paths)
        self._folders = tuple(path for path in paths if path.endswith("/"))

    def covers(self, path: str) -> bool:
        return path in self._files or path.startswith(self._folders)
