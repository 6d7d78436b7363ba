"""The steps of the export workflow: pure ones as functions, those with a collaborator as callables holding it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from memu.errors import UnavailableError
from memu.export.disk import Disk
from memu.export.fingerprint import conditions_of, look_over, render_fingerprint
from memu.export.load import load_snapshot
from memu.export.places import root_url
from memu.export.plan import Render, make_plan
from memu.export.publish import carry_out
from memu.export.render import render_tree
from memu.export.snapshot import SourceKey, TreeSnapshot
from memu.export.state import ExportState
from memu.export.survey import survey_tree
from memu.records import State
from memu.storage.database import Database
from memu.storage.publications import Publication

__all__ = ["CopyReader", "CopySources", "Load", "Publish", "Record", "SurveyTree", "plan", "render"]

T = TypeVar("T")


class CopyReader(Protocol):
    """Reads a source as the tree may show it."""

    def __call__(self, root: Path, path: str) -> bytes | None:
        """The source's redacted text as UTF-8, its lines as they were; None where it has none or is gone."""


@dataclass(frozen=True, slots=True)
class Load:
    """Read the scope's rows, all in one transaction."""

    database: Database

    async def __call__(self, state: ExportState) -> ExportState:
        scope = state.scope
        snapshot = await self.database.read(lambda session: load_snapshot(session.within(scope), scope))
        return replace(state, snapshot=snapshot)


@dataclass(frozen=True, slots=True)
class CopySources:
    """Where sources are copied: read them, redacted."""

    read: CopyReader

    async def __call__(self, state: ExportState) -> ExportState:
        if state.resources == "link":
            return state
        copies = await asyncio.to_thread(self._read_all, _given(state.snapshot))
        return replace(state, copies=copies)

    def _read_all(self, snapshot: TreeSnapshot) -> dict[SourceKey, bytes]:
        roots = {workspace.id: Path(workspace.root) for workspace in snapshot.workspaces}
        read = (
            (source.key, self.read(roots[source.workspace_id], source.path))
            for source in snapshot.sources
            if source.state in {State.DONE, State.PARTIAL} and not source.withheld and source.kept is None
        )
        return {key: data for key, data in read if data is not None}


async def render(state: ExportState) -> ExportState:
    """The tree as rows alone would have it."""
    return replace(state, files=_renderer(state)({}))


@dataclass(frozen=True, slots=True)
class SurveyTree:
    """Look at what lies in the tree."""

    disk: Disk

    async def __call__(self, state: ExportState) -> ExportState:
        wanted = list(_given(state.files))
        survey = await asyncio.to_thread(survey_tree, self.disk, state.tree, state.scope, wanted)
        return replace(state, survey=survey)


async def plan(state: ExportState) -> ExportState:
    """Decide what is written, removed and left to the user; links follow the names that files of ours get."""
    first, again = _given(state.files), _renderer(state)

    def with_names(renames: Mapping[str, str]) -> Mapping[str, bytes]:
        return again(renames) if renames else first

    return replace(state, plan=make_plan(_given(state.survey), with_names, state.force))


@dataclass(frozen=True, slots=True)
class Publish:
    """Write the tree, if the tree is still ours to write."""

    database: Database
    disk: Disk

    async def __call__(self, state: ExportState) -> ExportState:
        # Whoever stalled for so long that another took the tree's lock over is told so by this commit.
        await self.database.write(lambda _session: None)
        report = await asyncio.to_thread(
            carry_out, self.disk, state.tree, state.scope, _given(state.survey), _given(state.plan)
        )
        return replace(state, report=report)


@dataclass(frozen=True, slots=True)
class Record:
    """Note how the tree stands, so that the next export of an unchanged scope need not open a file."""

    database: Database
    disk: Disk

    async def __call__(self, state: ExportState) -> ExportState:
        snapshot, settled = _given(state.snapshot), _given(state.plan)
        try:
            standing = await asyncio.to_thread(look_over, self.disk, state.tree)
        except OSError as error:
            raise UnavailableError(f"Cannot read the export tree {state.tree}: {error}.") from error
        conditions = conditions_of(snapshot.extractor, state.resources)
        published = Publication(
            tree=str(state.tree),
            version=snapshot.version,
            fingerprint=render_fingerprint(standing, conditions, len(settled.after.files)),
        )
        await self.database.write(lambda session: session.within(state.scope).publications.set(published))
        return state


def _renderer(state: ExportState) -> Render:
    snapshot = _given(state.snapshot)
    folders = (workspace for workspace in snapshot.workspaces if workspace.root)
    roots = {workspace.id: root_url(state.tree, Path(workspace.root)) for workspace in folders}

    def again(renames: Mapping[str, str]) -> Mapping[str, bytes]:
        return render_tree(snapshot, roots=roots, copies=state.copies, renames=renames)

    return again


def _given(value: T | None) -> T:
    assert value is not None, "the workflow's reads and writes see to it"
    return value
