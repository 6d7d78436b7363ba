"""What a sync would do, found by its own first steps and nothing written."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memu.ingest.diff import Diff
from memu.ingest.scan import FoundFile
from memu.memorize.extractors.protocol import Extractor
from memu.memorize.file_survey import CompareFiles, ScanFolder, work_of
from memu.memorize.foresight import Foreseen, Foresight
from memu.memorize.forget.steps import PassOverForgotten
from memu.memorize.opening import find_workspace
from memu.memorize.perceive_step import STEP, TRIES, list_overcome, list_unperceived
from memu.memorize.standing import count_unchanged, find_standing_failures
from memu.memorize.states import SyncState
from memu.memorize.unread import find_unread
from memu.providers.protocols import Encoder
from memu.records import FileProblem, Resource, State, SyncPlan, Workspace
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session

if TYPE_CHECKING:
    from memu.providers.models import MediaModels

__all__ = ["Planner"]

# Seen on notes and documents: passages, entries and what pages are cut to are two for each file, and one more for
# about so many bytes of it. Most is encoded twice, in a passage and in an entry; a token has four bytes.
_TEXTS_PER_FILE, _BYTES_PER_TEXT = 2, 220
_BYTES_PER_TOKEN, _TIMES_ENCODED = 4, 2


@dataclass(frozen=True, slots=True)
class Planner:
    """Runs the read-only steps of a sync and says what would follow. ``asks``: whether a model reads the files."""

    database: Database
    encoder: Encoder | None
    extractor: Extractor
    outputs: tuple[Path, ...]
    max_file_bytes: int
    asks: bool = False
    media: MediaModels | None = None

    async def plan(self, state: SyncState) -> SyncPlan:
        """What a sync of ``state.folder`` would do now.

        Raises:
            RootError, EncoderMismatch: as the sync itself would.
        """
        state = await self._survey(state)
        workspace, compared, scanned = state.workspace, state.diff, state.scan
        assert workspace is not None
        assert compared is not None
        assert scanned is not None

        def look(session: Session) -> tuple[dict[str, str], Sequence[Resource]]:
            resources = session.within(state.scope).resources
            failing = resources.in_state(workspace.id, State.FAILED, State.PARTIAL)
            return _touched(session, state, workspace, compared), failing

        pages, failing = await self.database.read(look)
        calls = await self._foresee(state, frozenset(pages))
        unperceived = len(await list_unperceived(self.database, state, self.media))
        by_step = {**calls.most, **({STEP: TRIES * unperceived} if unperceived else {})}
        work = work_of(compared)
        shut = {each.path: each for each in await asyncio.to_thread(list, find_unread(state.folder, work))}
        return SyncPlan(
            workspace=workspace.name or workspace.root,
            added=tuple(sorted(_find_new(compared, state) - shut.keys())),
            modified=tuple(file.path for file in compared.modified if file.path not in {*state.never_read, *shut}),
            retried=tuple(file.path for file in compared.again if file.path not in shut),
            moved=tuple((move.old, move.new.path) for move in compared.moved),
            deleted=compared.deleted,
            unchanged=count_unchanged(
                compared, scanned, {row.path for row in failing} - {each.path for each in work}
            ),
            skipped=scanned.skipped,
            failed=_join(find_standing_failures(failing, compared, scanned), shut),
            pages=tuple(sorted(pages.values())),
            model_calls=sum(by_step.values()),
            likely_calls=calls.likely + unperceived,
            calls_by_step=by_step,
            prompt_tokens=calls.tokens,
            encoder_texts=_count_texts(work, shut) if self.encoder else 0,
            encoder_tokens=_count_tokens(work, shut) if self.encoder else 0,
            extractor=self.extractor.name,
            encoder=self.encoder.identity.name if self.encoder else None,
        )

    async def _survey(self, state: SyncState) -> SyncState:
        """The state after the first steps of the sync: what is there, and what of it is new."""
        found = await find_workspace(self.database, state, self.encoder)
        # A folder that was never synced has no rows; any id that no workspace bears stands for it.
        workspace = found.workspace or Workspace(id="", name=found.name, root=str(found.root))
        state = replace(state, folder=found.root, name=found.name, workspace=workspace)
        state = await ScanFolder(self.outputs, self.max_file_bytes)(state)
        state = await PassOverForgotten(self.database)(state)
        return await CompareFiles(
            self.database, self.extractor.name if self.asks else None, list_overcome(self.media)
        )(state)

    async def _foresee(self, state: SyncState, touched: frozenset[str]) -> Foreseen:
        if not self.asks:
            return Foreseen()
        return await Foresight(self.database, self.extractor, self.max_file_bytes).foresee(state, touched)


def _join(standing: Iterable[FileProblem], shut: Mapping[str, FileProblem]) -> tuple[FileProblem, ...]:
    found = {each.path: each for each in standing} | dict(shut)
    return tuple(found[path] for path in sorted(found))


def _find_new(compared: Diff, state: SyncState) -> set[str]:
    """What is there for the first time, and rows of an interrupted first sync: they are new to the memory."""
    late = {file.path for file in compared.modified if file.path in state.never_read}
    return late.union(file.path for file in compared.added)


def _count_texts(work: Iterable[FoundFile], shut: Collection[str]) -> int:
    return sum(_TEXTS_PER_FILE + file.size // _BYTES_PER_TEXT for file in work if file.path not in shut)


def _count_tokens(work: Iterable[FoundFile], shut: Collection[str]) -> int:
    return sum(_TIMES_ENCODED * file.size // _BYTES_PER_TOKEN for file in work if file.path not in shut)


def _touched(session: Session, state: SyncState, workspace: Workspace, compared: Diff) -> dict[str, str]:
    """The pages that rest on what changes or goes, id → ``track/name``; what new text joins is known later."""
    repository = session.within(state.scope)
    changed = [
        *compared.deleted,
        *(file.path for file in compared.modified),
        *(move.old for move in compared.moved),
    ]
    queued = {page.file_id for page in repository.queue.list()}
    touched = queued | _pages_of(repository, workspace, changed)
    return {page.id: f"{page.track.value}/{page.name}" for page in repository.pages.list() if page.id in touched}


def _pages_of(repository: Repository, workspace: Workspace, paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        resource = repository.resources.by_path(workspace.id, path)
        entries = repository.entries.of_resource(resource.id) if resource else ()
        for pages in repository.pages.pages_of_entries([entry.id for entry in entries]).values():
            found.update(pages)
    return found
