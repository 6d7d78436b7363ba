"""Taking a published tree away again."""

from __future__ import annotations

from pathlib import Path

from memu.errors import UnavailableError
from memu.export.disk import Disk
from memu.export.manifest import MANIFEST
from memu.export.survey import folders_of, survey_tree
from memu.records import ExportReport, Scope

__all__ = ["withdraw"]


def withdraw(disk: Disk, tree: Path, scope: Scope) -> ExportReport:
    """Remove every file that is just what memu wrote, then the folders that are left empty, the tree's own too.

    The caller holds the tree's lock. The manifest goes last, so that a killed withdrawal can be taken up again.

    Raises:
        ConfigurationError: the tree is another scope's. UnavailableError: the disk refused.
    """
    survey = survey_tree(disk, tree, scope, [])
    ours = sorted(path for path in survey.found if survey.is_ours(path))
    try:
        for path in (*survey.leftovers, *ours):
            disk.remove(tree / path)
        if survey.written is not None:
            disk.remove(tree / MANIFEST)
        for folder in (*sorted(folders_of(survey.manifest.paths), reverse=True), ""):
            _remove_if_empty(disk, tree / folder)
    except OSError as error:
        raise UnavailableError(
            f"Cannot remove the export tree {tree}: {error}. Put this right, then again."
        ) from error
    return ExportReport(tree=str(tree), removed=tuple(ours), kept=tuple(sorted(survey.found.keys() - set(ours))))


def _remove_if_empty(disk: Disk, folder: Path) -> None:
    here = disk.stat(folder)
    if here is not None and here.sort == "folder" and not disk.list_names(folder):
        disk.remove_folder(folder)
