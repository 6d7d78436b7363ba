"""What stands as it was left by earlier syncs: the files that this one does not read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from memu.ingest.diff import Diff
from memu.ingest.scan import Scan
from memu.memorize.file_survey import work_of
from memu.memorize.settlement import explain_hidden
from memu.records import FileProblem, Resource

__all__ = ["count_unchanged", "find_standing_failures"]


def count_unchanged(compared: Diff, scanned: Scan, failing: Collection[str]) -> int:
    """How many files of a scan are as they were and need nothing.

    Args:
        failing: the paths that stand as failed and are not read now; a file that waits to be tried again is none
            that needs nothing.
    """
    same = compared.unchanged + len(compared.restated)
    return same - sum(file.path in failing for file in scanned.files) if failing else same


def find_standing_failures(rows: Iterable[Resource], compared: Diff, scanned: Scan) -> tuple[FileProblem, ...]:
    """What a sync that does ``compared`` finds failed before it reads anything, by path.

    Args:
        rows: the sources that stand as failed, or were read in part.
    """
    found = {problem.path: problem for problem in scanned.unlistable}
    found |= {problem.path: problem for problem in _standing(rows, compared)}
    reason = explain_hidden(scanned.unlistable)
    found |= {path: FileProblem(path=path, reason=reason(path)) for path in compared.out_of_sight}
    return tuple(found[path] for path in sorted(found))


def _standing(rows: Iterable[Resource], compared: Diff) -> Iterator[FileProblem]:
    done = {*compared.deleted, *(move.old for move in compared.moved), *(file.path for file in work_of(compared))}
    for row in rows:
        if row.path not in done:
            yield FileProblem(path=row.path, reason=row.reason or "")
