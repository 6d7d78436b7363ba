"""The scan and diff steps of sync: what lies in the folder, and what of it is new to the store.

Nothing is awaited inside a transaction. What a crash leaves undone shows in rows (pending sources, a workspace
whose ``assigned`` lags behind its ``version``, the fold queue, passages without vectors); the next sync does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from memu.errors import RootError
from memu.ingest.diff import RACY_WINDOW_NS, Diff, Known, diff, is_idle
from memu.ingest.paths import hash_source
from memu.ingest.project_file import read_project_file
from memu.ingest.scan import FoundFile, Scan, ScanRules, scan
from memu.memorize.forget.forgotten import Forgotten, read_forgotten
from memu.memorize.retries import is_due
from memu.memorize.states import SyncState
from memu.memorize.trust_rules import TRUST_RULES, find_misjudged, number_rules
from memu.records import State
from memu.storage.database import Database
from memu.storage.resources import KnownResource
from memu.storage.session import Session

__all__ = ["CompareFiles", "ScanFolder", "nanoseconds", "work_of"]

_Tries: TypeAlias = dict[str, tuple[int, datetime | None]]


@dataclass(frozen=True, slots=True)
class ScanFolder:
    """List the folder once: what is there, what is left out and why."""

    outputs: tuple[Path, ...]
    max_size: int

    async def __call__(self, state: SyncState) -> SyncState:
        began = datetime.now(UTC)
        project = await asyncio.to_thread(read_project_file, state.folder)
        rules = ScanRules(project_ignore=project.ignore, outputs=self.outputs, max_size=self.max_size)
        found = await asyncio.to_thread(scan, state.folder, rules)
        return replace(state, began=began, scan=_narrow(found, state.only), untrusted=project.untrusted)


@dataclass(frozen=True, slots=True)
class CompareFiles:
    """Compare with the rows: added, changed, moved, gone, to be tried again.

    upgrade: the extractor by which all files are to be read, those too that one without a model has read; None to
        leave what stands.
    overcome: how reasons end for which files were skipped, and would not be now.
    """

    database: Database
    upgrade: str | None = None
    overcome: tuple[str, ...] = ()

    async def __call__(self, state: SyncState) -> SyncState:
        workspace, found, began = state.workspace, state.scan, state.began
        assert workspace is not None
        assert found is not None
        assert began is not None

        stale = await self._find_stale(state, workspace.id)
        if not stale and await self._is_idle(state, workspace.id, found):
            return replace(state, diff=Diff(unchanged=len(found.files)))

        def load(session: Session) -> tuple[dict[str, KnownResource], _Tries, frozenset[str], Forgotten]:
            repository = session.within(state.scope)
            resources = repository.resources
            rows, tries = resources.known(workspace.id), resources.tries(workspace.id)
            return rows, tries, resources.never_read(workspace.id), read_forgotten(repository)

        rows, tries, never_read, forgotten = await self.database.read(load)
        if state.only is not None:
            rows = {path: row for path, row in rows.items() if _covers(state.only, path)}
        _refuse_emptiness(state, found, rows)

        def due(path: str, _known: Known) -> bool:
            return state.retry_failed or is_due(*tries.get(path, (0, None)), began)

        compared = await asyncio.to_thread(
            diff,
            found.files,
            rows,
            partial(hash_source, state.folder),
            nanoseconds(began),
            unlistable=found.unlistable,
            is_due=due,
            is_other=forgotten.is_named,
        )
        compared = _with_stale(compared, [file for file in found.files if file.path in stale])
        return replace(
            state,
            diff=compared if state.removals else replace(compared, deleted=()),
            never_read=never_read,
        )

    async def _find_stale(self, state: SyncState, workspace_id: str) -> frozenset[str]:
        """The paths that were met before there was a model or a library for them, or under other rules of trust.

        Once all are read anew, hardly anything is looked up.
        """

        def work(session: Session) -> frozenset[str]:
            repository = session.within(state.scope)
            last = repository.runs.last_good(workspace_id)
            upgrading = self.upgrade is not None and (last is None or last.extractor != self.upgrade)
            ruling = last is None or last.counts.get(TRUST_RULES, 0) != number_rules(state.untrusted)
            # Asked each time: of a store that was synced without the libraries or models nothing else tells.
            unopened = repository.resources.skipped_for(workspace_id, self.overcome)
            if not (upgrading or ruling):
                return unopened
            done = repository.resources.in_state(workspace_id, State.DONE, State.PARTIAL)
            unread = {each.path for each in done if each.state is State.DONE and upgrading}
            unread -= {each.path for each in done if each.facts.get("extractor") == self.upgrade}
            return find_misjudged(done, state.untrusted).union(unread, unopened)

        return await self.database.read(work)

    async def _is_idle(self, state: SyncState, workspace_id: str, found: Scan) -> bool:
        """Whether nothing at all has to be done, told without a record for each of many thousand files."""
        if state.only is not None or found.unlistable or not found.files:
            return False
        settled, whole = await self.database.read(
            lambda session: session.within(state.scope).resources.settled(workspace_id, RACY_WINDOW_NS)
        )
        return whole and await asyncio.to_thread(is_idle, found.files, settled)


def _refuse_emptiness(state: SyncState, found: Scan, rows: Mapping[str, KnownResource]) -> None:
    if rows and not found.files and not found.unlistable and state.only is None and not state.allow_empty:
        stored, gone = ("one is", "it is") if len(rows) == 1 else (f"{len(rows)} are", "they are")
        raise RootError(
            f"{state.folder} holds no source any more, but {stored} stored. If {gone} really gone, "
            "sync with --allow-empty; nothing was changed."
        )


def _with_stale(compared: Diff, stale: Sequence[FoundFile]) -> Diff:
    """The comparison with what stands, and was read by another extractor, among what is done again."""
    read_anyway = {file.path for file in work_of(compared)}
    again = {file.path: file for file in stale if file.path not in read_anyway}
    if not again:
        return compared
    restated = tuple(file for file in compared.restated if file.path not in again)
    return replace(
        compared,
        again=tuple(sorted([*compared.again, *again.values()], key=lambda file: file.path)),
        restated=restated,
        unchanged=compared.unchanged - len(again) + len(compared.restated) - len(restated),
    )


def work_of(compared: Diff) -> tuple[FoundFile, ...]:
    """The files to be read. A moved one is among them: its passages bear its path."""
    moved = tuple(move.new for move in compared.moved)
    files = (*compared.added, *compared.modified, *compared.again, *moved)
    return tuple(sorted(files, key=lambda file: file.path))


def _covers(only: str | None, path: str) -> bool:
    return only is None or path == only or path.startswith(only.rstrip("/") + "/")


def _narrow(found: Scan, only: str | None) -> Scan:
    if only is None:
        return found
    return Scan(
        files=tuple(file for file in found.files if _covers(only, file.path)),
        skipped=tuple(problem for problem in found.skipped if _covers(only, problem.path.rstrip("/"))),
        unlistable=found.unlistable,
    )


def nanoseconds(moment: datetime) -> int:
    """A time as nanoseconds since 1970, not later than it is."""
    return int(moment.timestamp() * 1_000_000) * 1000
