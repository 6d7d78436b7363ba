"""One request to forget, from the question to the last tree: what the verb ``forget`` does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from memu.errors import CapReached, EncoderMismatch, NotFound, ReadError, UnavailableError
from memu.ingest.document import Document
from memu.ingest.paths import hash_source
from memu.memorize.file_work import Carry, FoldPages, MemorizeFiles, find_unpatched
from memu.memorize.forget.forgotten import REASON, Forgotten, read_forgotten
from memu.memorize.forget.leftovers import find_left
from memu.memorize.forget.receipts import (
    add_removal,
    compare_pages,
    describe_removal,
    describe_scope,
    name_trees,
    read_pages,
)
from memu.memorize.forget.removal import Removal, apply_removal, plan_removal
from memu.memorize.forget.rereading import Rereading
from memu.memorize.forget.selection import Request, Selection, locate_path, select, select_again
from memu.memorize.states import AssignState, EmbedState
from memu.providers.meter import Meter
from memu.records import ExportReport, FileProblem, ForgetReceipt, Origin, Scope, State, Workspace
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["Forgetter"]

# What comes out as a source is read again comes out at once; more rounds than two are rare.
_ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetter:
    """Forgets in one store.

    lock_name: of the sync of a folder. export: brings every tree of a scope up to date. withdraw: removes every
    tree of a scope, as far as it is memu's. concurrency: files read, and pages folded, at once.
    asks: whether there is a model; without one, what a model has read waits as it is left for a sync that has one.
    meter: what is asked of models, and the caps; one request's. What a cap leaves, the next sync does.
    """

    database: Database
    carry: Carry
    lock_name: Callable[[Scope, str], str]
    export: Callable[[Scope], Awaitable[tuple[ExportReport, ...]]]
    withdraw: Callable[[Scope], Awaitable[tuple[ExportReport, ...]]]
    concurrency: int
    asks: bool = False
    meter: Meter = field(default_factory=Meter)

    async def forget(self, scope: Scope, request: Request, *, dry_run: bool, wait: bool) -> ForgetReceipt:
        """Forget what the request names, and see that it stays forgotten.

        The removal is one transaction; what comes after (sources read anew, pages folded, trees written) is done
        by the next sync where this is killed.

        Raises:
            NotFound: it names nothing in the scope. ConfigurationError: it is ambiguous or empty.
            BusyError: a sync of one of the scope's folders runs.
        """
        if request.everything:
            return await self._forget_scope(scope, dry_run=dry_run, wait=wait)
        if dry_run:
            return describe_removal(await self._plan(scope, request), dry_run=True)
        async with self._held(scope, wait=wait):
            before = await read_pages(self.database, scope)
            receipt = await self._remove(scope, request)
            pages = compare_pages(before, await read_pages(self.database, scope))
        receipt = replace(receipt, pages=pages)
        return replace(name_trees(receipt, await self._publish(scope, receipt)), usage=self.meter.usage)

    async def _publish(self, scope: Scope, receipt: ForgetReceipt) -> tuple[ExportReport, ...]:
        """Bring the trees up to date; where nothing was removed, none has to be that cannot be written."""
        try:
            return await self.export(scope)
        except UnavailableError:
            removed = receipt.entries or receipt.sources or receipt.removed
            if removed or await self.database.read(
                lambda session: session.within(scope).publications.are_behind()
            ):
                raise
            return ()

    async def _remove(self, scope: Scope, request: Request) -> ForgetReceipt:
        """Remove it, and what more of it comes out as its sources are read again, until nothing is left."""
        read_again = Rereading(MemorizeFiles(self.database, self.carry, self.concurrency), self.asks, self.meter)
        removal = await self._plan(scope, request)
        selection, done = removal.selection, describe_removal(removal)
        unread: set[FileProblem] = set()
        for at in range(_ROUNDS):
            if at:
                removal = await self._plan(scope, request, after=selection)
                if not (removal.gone or removal.cuts):
                    break
                done = add_removal(done, removal)
            await self.database.write(partial(_apply, scope, removal))
            unread.update(await read_again(scope, removal))
            done = replace(done, unpatched=await self.settle(scope))
            if selection.sources:
                break
        left = await self.database.read(lambda session: find_left(session.within(scope), selection))
        problems = sorted(unread, key=lambda each: (each.path, each.reason))
        return replace(done, left=left, unread=tuple(problems))

    async def undo(self, scope: Scope, path: str, *, wait: bool) -> ForgetReceipt:
        """Let a forgotten file be read again by the next sync.

        Raises:
            NotFound: no such file was forgotten.
        """
        async with self._held(scope, wait=wait):
            places = await self.database.read(lambda session: locate_path(session.within(scope), path))
            hashes = [await asyncio.to_thread(_hash_of, workspace, each) for workspace, each in places]
            found = dict(zip(places, hashes, strict=True))
            freed = await self.database.write(lambda session: _free(session.within(scope), found))
        if not freed:
            raise NotFound(f"No file {path!r} was forgotten here; give its path in the folder, or on the disk.")
        return ForgetReceipt(what="undo", sources=freed)

    async def _plan(self, scope: Scope, request: Request, after: Selection | None = None) -> Removal:
        def choose(session: Session) -> tuple[Selection, Forgotten]:
            repository = session.within(scope)
            chosen = select(repository, request) if after is None else select_again(repository, after)
            return chosen, read_forgotten(repository)

        selection, forgotten = await self.database.read(choose)
        documents = await _read_sources(scope, selection, forgotten)
        return await self.database.read(lambda session: plan_removal(session.within(scope), selection, documents))

    @asynccontextmanager
    async def _held(self, scope: Scope, *, wait: bool) -> AsyncIterator[None]:
        """Hold off the syncs of the scope's folders: any of them may say what is to be forgotten."""
        workspaces = await self.database.read(lambda session: session.within(scope).workspaces.list())
        async with AsyncExitStack() as stack:
            for root in sorted(each.root for each in workspaces):
                name = self.lock_name(scope, root)
                await stack.enter_async_context(self.database.lock(name, wait_seconds=None if wait else 0))
            yield

    async def settle(self, scope: Scope) -> tuple[FileProblem, ...]:
        """Assign, fold and embed what a removal left; the pages that no model worded, though one was wanted."""
        workspaces = await self.database.read(lambda session: session.within(scope).workspaces.list())
        for workspace in workspaces:
            if not workspace.root:
                # What was imported stands where it was put.
                await self.database.write(partial(_mark_settled, scope, workspace))
            elif workspace.assigned != workspace.version:
                # Names that nobody may be asked about wait for the next sync.
                assigning = AssignState(scope=scope, workspace_id=workspace.id, meter=self.meter)
                with suppress(CapReached):
                    await self.carry("assign", assigning)
        return await self.fold(scope)

    async def fold(self, scope: Scope) -> tuple[FileProblem, ...]:
        """Fold what is queued and embed it; the pages that no model worded, though one was wanted."""
        folded = await FoldPages(self.database, self.carry, self.concurrency).fold(scope, self.meter)
        # Words answer without vectors; whoever syncs next is told which encoder is wanted.
        with suppress(EncoderMismatch):
            await self.carry("embed", EmbedState(scope=scope, meter=self.meter))
        return find_unpatched(folded)

    async def _forget_scope(self, scope: Scope, *, dry_run: bool, wait: bool) -> ForgetReceipt:
        if scope not in await self.database.read(lambda session: session.scopes()):
            raise NotFound(f"Nothing is stored for {scope}.")
        if dry_run:
            return await self.database.read(lambda session: describe_scope(session.within(scope), dry_run=True))
        async with self._held(scope, wait=wait):
            receipt = await self.database.read(
                lambda session: describe_scope(session.within(scope), dry_run=False)
            )
            # The scope's own row goes last: it knows which trees are still to be removed.
            await self.database.write(lambda session: _empty(session.within(scope)))
            reports = await self.withdraw(scope)
            await self.database.write(lambda session: session.remove(scope))
        return name_trees(receipt, reports)


async def _read_sources(scope: Scope, selection: Selection, forgotten: Forgotten) -> dict[str, Document]:
    """The sources whose lines have to be known, by their ids, where they are still as they were stored."""
    from memu.memorize.forget.cited import is_folded, read_stored

    wanted = {
        each.resource.id: each
        for each in selection.entries
        if each.entry.origin is Origin.MODEL or is_folded(each.entry)
    }
    found: dict[str, Document] = {}
    for resource_id, placed in wanted.items():
        document = await read_stored(scope, placed.workspace, placed.resource, forgotten)
        if document is not None:
            found[resource_id] = document
    return found


def _apply(scope: Scope, removal: Removal, session: Session) -> None:
    apply_removal(session.within(scope), removal)


def _empty(repository: Repository) -> None:
    for workspace in repository.workspaces.list():
        repository.workspaces.remove(workspace.id)
    for page in repository.pages.list():
        repository.pages.remove(page.id)
    repository.tombstones.remove(repository.tombstones.list())


def _mark_settled(scope: Scope, workspace: Workspace, session: Session) -> None:
    session.within(scope).workspaces.mark_assigned(workspace.id, workspace.version)


def _hash_of(workspace: Workspace, path: str) -> str | None:
    if not workspace.root:
        return None
    try:
        return hash_source(Path(workspace.root), path)
    except ReadError:
        return None


def _free(repository: Repository, places: dict[tuple[Workspace, str], str | None]) -> tuple[str, ...]:
    """Drop the tombstones of these files; returns the paths that had some."""
    forgotten = read_forgotten(repository)
    freed: list[str] = []
    for (workspace, path), content_hash in places.items():
        hashes = set(forgotten.hash_path(workspace, path)) if forgotten else set()
        if forgotten and content_hash is not None:
            hashes.add(forgotten.hash_content(content_hash))
        if hashes.isdisjoint(forgotten.hashes):
            continue
        repository.tombstones.remove(hashes)
        freed.append(path)
        known = repository.resources.by_path(workspace.id, path)
        if known is not None and known.reason == REASON:
            repository.resources.save(replace(known, state=State.PENDING, reason=None))
    return tuple(freed)
