"""Carry a plan out: each file whole at every instant, and at any kill a state that the next run sets right.

The order is what makes it safe. First the manifest names both what lies there and what is coming, so that
either is known as ours afterwards; then pages, then root pages, then removals; the final manifest last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from memu.errors import BusyError, UnavailableError
from memu.export.disk import Disk
from memu.export.manifest import MANIFEST, Manifest, render_manifest
from memu.export.plan import Plan, Render, make_plan
from memu.export.survey import Survey, folders_of, survey_tree, temporary_name
from memu.records import ExportReport, Scope

__all__ = ["carry_out", "publish"]


def publish(disk: Disk, tree: Path, scope: Scope, render: Render, force: Collection[str] = ()) -> ExportReport:
    """Bring the tree to what ``render`` gives, and leave every file of the user's as it is.

    The caller holds the tree's lock. Files that are already right are not touched.

    Args:
        force: paths in the tree whose file, though the user's, is to be overwritten.

    Raises:
        ConfigurationError: see ``survey_tree`` and ``make_plan``.
        UnavailableError: the disk refused; every file is whole and the next export goes on from there.
        BusyError: a file changed while it was about to be replaced.
    """
    survey = survey_tree(disk, tree, scope, render({}))
    return carry_out(disk, tree, scope, survey, make_plan(survey, render, force))


def carry_out(disk: Disk, tree: Path, scope: Scope, survey: Survey, plan: Plan) -> ExportReport:
    """Write what the plan says; nothing at all when the tree is as it should be."""
    work = _Work(disk, tree, survey)
    final = render_manifest(plan.after, scope)
    try:
        for path in survey.leftovers:
            disk.remove(tree / path)
        if plan.writes or plan.removes:
            _change_files(work, scope, plan)
        if plan.writes or plan.removes or survey.written != final:
            work.remove_empty_folders(plan.after)
            work.write(MANIFEST, final)
            disk.settle(tree)
    except OSError as error:
        state = "Every file in it is whole" if tree.is_dir() else "There is none yet"
        at = f" ({error.filename})" if error.filename else ""
        raise UnavailableError(
            f"Cannot write the export tree {tree}: {error.strerror or error}{at}. {state}; "
            "put this right and export again."
        ) from error
    return ExportReport(
        tree=str(tree),
        written=tuple(sorted(path for path, _ in plan.writes)),
        unchanged=plan.unchanged,
        removed=plan.removes,
        kept=plan.kept,
    )


def _change_files(work: _Work, scope: Scope, plan: Plan) -> None:
    # The manifest comes first, so that a folder made for a file that never came is known as ours too.
    work.make_folders([*reversed(work.tree.parents), work.tree])
    work.write(MANIFEST, render_manifest(plan.before, scope))
    work.disk.settle(work.tree)
    work.make_folders(work.tree / folder for folder in sorted(folders_of(path for path, _ in plan.writes)))
    for path, data in plan.writes:
        work.check_unchanged(path)
        work.write(path, data)
    for path in plan.removes:
        work.check_unchanged(path)
        work.disk.remove(work.tree / path)


@dataclass(frozen=True, slots=True)
class _Work:
    disk: Disk
    tree: Path
    survey: Survey

    def make_folders(self, folders: Iterable[Path]) -> None:
        for folder in folders:
            if self.disk.stat(folder) is None:
                self.disk.make_folder(folder)

    def check_unchanged(self, path: str) -> None:
        """Somebody may be editing just now; what was not read is not overwritten."""
        found = self.survey.found.get(path)
        if self.disk.stat(self.tree / path) != (found.stat if found else None):
            raise BusyError(f"{self.tree / path} changed while the tree was being published; export again.")

    def write(self, path: str, data: bytes) -> None:
        temporary = self.tree / temporary_name(path)
        try:
            self.disk.create(temporary, data)
            self.disk.replace(temporary, self.tree / path)
        except OSError:
            self._discard(temporary)
            raise

    def remove_empty_folders(self, after: Manifest) -> None:
        for folder in sorted(folders_of(self.survey.manifest.paths) - folders_of(after.paths), reverse=True):
            here = self.disk.stat(self.tree / folder)
            if here and here.sort == "folder" and not self.disk.list_names(self.tree / folder):
                self.disk.remove_folder(self.tree / folder)

    def _discard(self, temporary: Path) -> None:
        try:
            self.disk.remove(temporary)
        except OSError:
            # The first failure is the one to report; the next export clears this away.
            return
