"""Reading once more the sources that were cut, so that their rows are what a fresh reading gives."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memu.errors import ReadError
from memu.ingest.diff import Diff
from memu.ingest.found import FoundFile, found_file
from memu.ingest.paths import os_path
from memu.ingest.project_file import read_project_file
from memu.memorize.file_work import MemorizeFiles
from memu.memorize.forget.removal import Removal
from memu.memorize.offer import list_names
from memu.memorize.states import Outcome, SyncState
from memu.providers.meter import Meter
from memu.records import FileProblem, Scope, State

__all__ = ["Rereading"]

_GONE = "the file is gone"


@dataclass(frozen=True, slots=True)
class Rereading:
    """Reads what a removal cut. ``asks``: whether there is a model; without one, what a model has read waits."""

    memorize: MemorizeFiles
    asks: bool
    meter: Meter

    async def __call__(self, scope: Scope, removal: Removal) -> tuple[FileProblem, ...]:
        """Read it again; what stands as it was cut, with the reason."""
        cut: defaultdict[str, list[str]] = defaultdict(list)
        for each in removal.cuts:
            if each.resource.state is State.PENDING:
                cut[each.resource.workspace_id].append(each.resource.path)
        waiting = set() if self.asks else {each.resource.path for each in removal.cuts if each.worded}
        offered = await self.memorize.database.read(lambda session: list_names(session.within(scope)))
        problems: list[FileProblem] = []
        for workspace in (each for each in removal.workspaces if each.root):
            began = datetime.now(UTC)
            root, paths = Path(workspace.root), sorted(cut[workspace.id])
            found = await asyncio.to_thread(_look_for, root, paths)
            problems += (FileProblem(path=path, reason=_GONE) for path in paths if path not in found)
            state = SyncState(
                scope=scope,
                folder=root,
                workspace=workspace,
                began=began,
                untrusted=(await asyncio.to_thread(read_project_file, root)).untrusted,
                diff=Diff(again=tuple(found[path] for path in sorted(found.keys() - waiting))),
                offered=offered,
                meter=self.meter,
            )
            problems += map(_to_problem, filter(_is_left, (await self.memorize(state)).outcomes))
        return tuple(problems)


def _look_for(root: Path, paths: list[str]) -> dict[str, FoundFile]:
    found: dict[str, FoundFile] = {}
    for path in paths:
        try:
            status = os_path(root, path).lstat()
        except (OSError, ReadError):
            continue
        found[path] = found_file(path, status)
    return found


def _is_left(outcome: Outcome) -> bool:
    return outcome.state in (State.FAILED, State.PENDING)


def _to_problem(outcome: Outcome) -> FileProblem:
    return FileProblem(path=outcome.path, reason=outcome.reason or "")
