"""The export workflow, and the frame around it: skip what is current, hold the tree's lock, run the steps."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memu.export.disk import Disk, LocalDisk
from memu.export.fingerprint import conditions_of, look_over, parse_count, render_fingerprint
from memu.export.load import name_extractor
from memu.export.naming import tree_name
from memu.export.state import ExportState, ResourceMode
from memu.export.steps import CopyReader, CopySources, Load, Publish, Record, SurveyTree, plan, render
from memu.export.withdrawal import withdraw
from memu.records import ExportReport, Scope
from memu.storage.database import Database
from memu.storage.publications import Publication
from memu.storage.session import Session
from memu.workflow import Interceptor, LocalRunner, Runner, Step, Workflow

__all__ = ["Exporter", "export_workflow", "tree_of"]

_WAIT_SECONDS = 60.0


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
            Step("publish", Publish(files), reads=["scope", "tree", "survey", "plan"], writes=["report"]),
            Step("record", Record(database, files), reads=["scope", "tree", "snapshot", "resources", "plan"]),
        ),
    )


def tree_of(scope: Scope, out: Path) -> Path:
    """The folder of a scope's tree below the ``--out`` folder, symbolic links above it resolved."""
    return Path(os.path.realpath(out)) / tree_name(scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """Exports scopes of one store. ``out`` comes with each call: every synced folder has its own by default."""

    database: Database
    workflow: Workflow[ExportState]
    runner: Runner = field(default_factory=LocalRunner)
    interceptors: Sequence[Interceptor] = ()
    disk: Disk = field(default_factory=LocalDisk)
    resources: ResourceMode = "link"
    wait_seconds: float | None = _WAIT_SECONDS

    async def export(self, scope: Scope, out: Path, force: Iterable[str] = ()) -> ExportReport:
        """Bring the scope's tree in ``out`` up to date; where it is, no file is opened and nothing written.

        Args:
            force: files of the user's to take over, as paths in the tree or as paths that lead there.

        Raises:
            NotFound: nothing was ever stored in the scope.
            ConfigurationError: the tree is another scope's, a link stands in it, or ``force`` names no file of it.
            BusyError: another process holds the tree, or a file changed while it was about to be replaced.
            UnavailableError: the disk or the store refused.
        """
        tree = tree_of(scope, out)
        wanted = frozenset(_inside(tree, path) for path in force)
        if not wanted and (report := await self.find_current(scope, tree)):
            return report
        state = ExportState(scope=scope, tree=tree, resources=self.resources, force=wanted)
        async with self.database.lock(_lock_name(scope, tree), wait_seconds=self.wait_seconds):
            ended = await self.runner.run(self.workflow, state, self.interceptors)
        return ended.report or ExportReport(tree=str(tree))

    async def withdraw(self, scope: Scope, tree: Path) -> ExportReport:
        """Remove a tree that was published, as far as it is memu's own; what a user wrote or edited stays.

        Raises:
            BusyError: another process holds the tree. UnavailableError: the disk refused.
        """
        async with self.database.lock(_lock_name(scope, tree), wait_seconds=self.wait_seconds):
            return await asyncio.to_thread(withdraw, self.disk, tree, scope)

    async def find_current(self, scope: Scope, tree: Path) -> ExportReport | None:
        """The report of a tree that stands as it was published from the rows of now; None where it does not."""

        def look(session: Session) -> tuple[Publication | None, int, str]:
            repository = session.within(scope)
            publications = repository.publications
            return publications.get(str(tree)), publications.scope_version(), name_extractor(repository)

        published, version, extractor = await self.database.read(look)
        if published is None or published.version != version:
            return None
        try:
            standing = await asyncio.to_thread(look_over, self.disk, tree)
        except OSError:
            # Whatever is wrong with the tree, publishing finds it and says so.
            return None
        count = parse_count(published.fingerprint)
        if render_fingerprint(standing, conditions_of(extractor, self.resources), count) != published.fingerprint:
            return None
        return ExportReport(tree=str(tree), unchanged=count, kept=standing.kept)


def _inside(tree: Path, path: str) -> str:
    """A path as a person names it, relative to the tree in POSIX form."""
    absolute = Path(os.path.realpath(Path(path).parent)) / Path(path).name
    if absolute.is_relative_to(tree):
        return absolute.relative_to(tree).as_posix()
    return posixpath.normpath(path.replace(os.sep, "/"))


def _lock_name(scope: Scope, tree: Path) -> str:
    return f"the export of {scope} to {tree}"
