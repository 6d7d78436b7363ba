"""The export workflow: one scope's rows to a tree of files on disk."""

from __future__ import annotations

from memu.export.disk import Disk, LocalDisk
from memu.export.state import ExportState
from memu.export.steps import CopyReader, CopySources, Load, Publish, Record, SurveyTree, plan, render
from memu.storage.database import Database
from memu.workflow import Step, Workflow

__all__ = ["export_workflow"]


def export_workflow(
    database: Database, *, read_copy: CopyReader, disk: Disk | None = None
) -> Workflow[ExportState]:
    """load → copy → render → survey → plan → publish → record. The tree's lock is held around all of it."""
    files = disk or LocalDisk()
    return Workflow(
        "export",
        ExportState,
        inputs=("scope", "tree", "resources", "force"),
        steps=(
            Step("load", Load(database), reads=["scope"], writes=["snapshot"]),
            Step("copy", CopySources(read_copy), reads=["snapshot", "resources"], writes=["copies"]),
            Step("render", render, reads=["snapshot", "tree", "copies"], writes=["files"]),
            Step("survey", SurveyTree(files), reads=["scope", "tree", "files"], writes=["survey"]),
            Step(
                "plan",
                plan,
                reads=["snapshot", "tree", "copies", "files", "survey", "force"],
                writes=["plan"],
            ),
            Step(
                "publish", Publish(database, files), reads=["scope", "tree", "survey", "plan"], writes=["report"]
            ),
            Step("record", Record(database, files), reads=["scope", "tree", "snapshot", "resources", "plan"]),
        ),
    )
