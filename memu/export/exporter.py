"""Exports a scope where it is not current: what tells whether it is loads nothing that renders or writes."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memu.errors import BusyError
from memu.export.disk import Disk, LocalDisk
from memu.export.fingerprint import conditions_of, look_over, parse_count, render_fingerprint
from memu.export.naming import tree_name
from memu.records import ExportReport, Scope
from memu.storage.database import Database
from memu.storage.engine import store_path
from memu.storage.publications import Publication
from memu.storage.repository import Repository
from memu.storage.session import Session
from memu.workflow import Interceptor, LocalRunner, Runner, Workflow

if TYPE_CHECKING:
    from memu.export.state import ExportState, ResourceMode

__all__ = ["Exporter", "is_anothers", "name_extractor", "tree_of"]

_WAIT_SECONDS = 60.0
_DEFAULT_EXTRACTOR = "extractive"


def tree_of(scope: Scope, out: Path) -> Path:
    """The folder of a scope's tree below the ``--out`` folder, symbolic links above it resolved."""
    return Path(os.path.realpath(out)) / tree_name(scope)


def is_anothers(tree: Path, store: Path | None) -> bool:
    """Whether a tree lies beside a store of its own, as one that ``store`` was copied from does."""
    if store is None:
        return False
    own, beside = store.resolve(), tree.parent
    return beside.name == own.parent.name and beside != own.parent and (beside / own.name).is_file()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """Exports scopes of one store. ``out`` comes with each call: every synced folder has its own by default.

    find_workflow: gives the workflow, once it is known that there is something to export.
    """

    database: Database
    find_workflow: Callable[[], Workflow[ExportState]]
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
        # Loaded only where there is something to export.
        from memu.export.state import ExportState

        state = ExportState(scope=scope, tree=tree, resources=self.resources, force=wanted)
        async with AsyncExitStack() as held:
            await self._take_turn(held, scope, tree)
            if not wanted and (report := await self.find_current(scope, tree)):
                # Who had the tree before us published what we came for.
                return report
            ended = await self.runner.run(self.find_workflow(), state, self.interceptors)
        return ended.report or ExportReport(tree=str(tree))

    async def _take_turn(self, held: AsyncExitStack, scope: Scope, tree: Path) -> None:
        """Hold the tree until ``held`` ends. Who waits in a line that moves waits on, however long it is.

        Raises:
            BusyError: another process held the tree for ``wait_seconds`` and nothing was published.
        """
        while True:
            before = await self._last_published(scope, tree)
            try:
                lock = self.database.lock(_lock_name(scope, tree), wait_seconds=self.wait_seconds)
                await held.enter_async_context(lock)
            except BusyError:
                if await self._last_published(scope, tree) == before:
                    raise
            else:
                return

    async def _last_published(self, scope: Scope, tree: Path) -> datetime | None:
        published = await self.database.read(lambda session: session.within(scope).publications.get(str(tree)))
        return published.published_at if published else None

    async def withdraw(self, scope: Scope, tree: Path) -> ExportReport:
        """Remove a tree that was published, as far as it is memu's own; what a user wrote or edited stays.

        Raises:
            BusyError: another process holds the tree. UnavailableError: the disk refused.
        """
        from memu.export.withdrawal import withdraw

        async with self.database.lock(_lock_name(scope, tree), wait_seconds=self.wait_seconds):
            return await asyncio.to_thread(withdraw, self.disk, tree, scope)

    async def find_trees(self, scope: Scope, own: Path | None) -> tuple[Path, ...]:
        """The scope's trees that are still there, that in ``own`` among them, whether it was noted or not.

        A store that was copied together with its folder knows of the tree that it was copied from, and nothing of
        the one beside it.
        """
        published = await self.database.read(lambda session: session.within(scope).publications.list())
        store = store_path(self.database.url)
        known = {Path(each.tree) for each in published} | ({tree_of(scope, own)} if own else set())
        return await asyncio.to_thread(
            lambda: tuple(tree for tree in sorted(known) if tree.is_dir() and not is_anothers(tree, store))
        )

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


def name_extractor(repository: Repository) -> str:
    """What turned the sources into entries, by the last sync of each workspace."""
    runs = (repository.runs.last(each.id) for each in repository.workspaces.list())
    return " and ".join(sorted({run.extractor for run in runs if run})) or _DEFAULT_EXTRACTOR


def _inside(tree: Path, path: str) -> str:
    """A path as a person names it, relative to the tree in POSIX form."""
    absolute = Path(os.path.realpath(Path(path).parent)) / Path(path).name
    if absolute.is_relative_to(tree):
        return absolute.relative_to(tree).as_posix()
    return posixpath.normpath(path.replace(os.sep, "/"))


def _lock_name(scope: Scope, tree: Path) -> str:
    return f"the export of {scope} to {tree}"
