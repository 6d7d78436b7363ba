"""The examination of a store: every check in its order, over one scope or several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path

from memu.doctor.checked import Checked, ScopeRows, merge
from memu.doctor.page_checks import check_entries, check_pages
from memu.doctor.probes import Probe, choose_probes, run_probes
from memu.doctor.remedies import Remedies
from memu.doctor.search_checks import check_vectors, find_wrong_terms, report_postings
from memu.doctor.source_checks import SourceCheck
from memu.doctor.store_checks import check_access, check_encoder, check_file, check_links, check_locks
from memu.doctor.tree_checks import check_tree
from memu.doctor.work_checks import check_runs, check_sources, check_work
from memu.export.disk import Disk, LocalDisk
from memu.export.examination import PublishedState, TreeExamination, describe_tree, examine_tree, load_published
from memu.export.exporter import is_anothers, tree_of
from memu.idle import confirmed_at
from memu.memorize.states import MemorizeState
from memu.memorize.status import describe_workspaces
from memu.providers.protocols import Encoder
from memu.records import HealthReport, Scope, Severity, TreeStatus, Usage, Workspace, WorkspaceStatus
from memu.storage.database import Database
from memu.storage.engine import store_path
from memu.storage.hindrances import find_hindrance
from memu.storage.inspection import StoredTerms
from memu.storage.session import Session
from memu.workflow import Workflow

__all__ = ["Doctor"]

_BATCH = 500
_SAMPLE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctor:
    """Looks at a store, its trees and its locks, and writes nothing.

    find_out: the ``--out`` folder of a workspace's root. placed: whether somebody named it.
    lock_name: the lock that a sync of a root holds.
    find_memorize: gives the memorize workflow, whose first steps read a file.
    """

    database: Database
    encoder: Encoder | None
    extractor: str
    resources: str
    find_out: Callable[[str], Path]
    placed: bool
    lock_name: Callable[[Scope, str], str]
    find_memorize: Callable[[], Workflow[MemorizeState]]
    disk: Disk = field(default_factory=LocalDisk)

    async def describe(self, scope: Scope) -> tuple[WorkspaceStatus, ...]:
        """How each workspace of the scope stands, with its trees."""

        def work(session: Session) -> tuple[tuple[WorkspaceStatus, ...], PublishedState]:
            repository = session.within(scope)
            described = describe_workspaces(session, repository, self.encoder, self.extractor)
            return described, load_published(repository)

        found, known = await self.database.read(work)
        all_workspaces = [each.workspace for each in found]
        syncing = await self._syncing(scope, all_workspaces)
        return tuple(
            [
                replace(
                    each,
                    syncing=each.workspace.id in syncing,
                    usage=_usage(each),
                    blocked=find_hindrance(self.database.url),
                    confirmed_at=confirmed_at(
                        Path(each.workspace.root), store_path(self.database.url), scope.fields
                    ),
                    trees=await self._describe_trees(scope, [each.workspace], all_workspaces, known),
                )
                for each in found
            ]
        )

    async def examine(self, scopes: Sequence[Scope], *, thorough: bool = False) -> HealthReport:
        """Every check. ``thorough``: postings and probes of everything, not of a sample, and files read once more.

        Raises:
            StoreError: the store is so damaged that it does not answer.
        """
        locks = check_locks(await self.database.abandoned_locks())
        file = await self.database.read(lambda session: check_file(session, self.database.url))
        found: list[tuple[Scope | None, Checked]] = [(None, file), (None, locks)]
        found.append((None, check_access(self.database.url)))
        if not file.findings:
            # Rows read through a broken index would tell of faults that are not there.
            found += await self.database.read(
                lambda session: [
                    (None, check_links(session, self.database.url)),
                    (None, check_encoder(session, self.encoder)),
                ]
            )
            for scope in scopes:
                found += [(scope, each) for each in await self._examine(scope, thorough=thorough)]
        return merge(found)

    async def _examine(self, scope: Scope, *, thorough: bool) -> list[Checked]:
        remedies = Remedies(scope=scope, url=self.database.url, find_out=self.find_out if self.placed else None)
        workspaces = await self.database.read(lambda session: session.within(scope).workspaces.list())
        syncing = await self._syncing(scope, workspaces)

        def see(session: Session) -> ScopeRows:
            repository = session.within(scope)
            return ScopeRows(
                scope=scope,
                repository=repository,
                workspaces=repository.workspaces.list(),
                syncing=syncing,
                remedies=remedies,
            )

        def work(session: Session) -> tuple[list[Checked], tuple[Probe, ...], PublishedState, Severity]:
            rows = see(session)
            checks = [check(rows) for check in (check_entries, check_pages, check_sources, check_work, check_runs)]
            checks.append(check_vectors(session, rows, self.encoder))
            return checks, choose_probes(rows, thorough=thorough), load_published(rows.repository), rows.left()

        checks, probes, known, left = await self.database.read(work)
        checks.append(await self._check_postings(see, thorough=thorough))
        checks.append(await run_probes(self.database, scope, probes, remedies))
        if thorough:
            reading = SourceCheck(database=self.database, find_workflow=self.find_memorize)
            checks.append(await reading.run(scope, workspaces, remedies))
        for status in await self._describe_trees(scope, workspaces, workspaces, known):
            examined = TreeExamination()
            if status.state not in {"missing", "unpublished", "unreadable"}:
                examined = await asyncio.to_thread(examine_tree, self.disk, Path(status.tree), scope)
            checks.append(check_tree(status, examined, remedies, left))
        return checks

    async def _check_postings(self, see: Callable[[Session], ScopeRows], *, thorough: bool) -> Checked:
        """Sums over all passages, terms over a sample or all: batch by batch, so that no read stays open long."""
        wrong = await self.database.read(lambda session: see(session).repository.inspection.wrongly_counted())
        looked_at, after = 0, ""

        def load(session: Session) -> tuple[StoredTerms, ...]:
            return see(session).repository.inspection.indexed(after=after, limit=_BATCH)

        while (thorough or looked_at < _SAMPLE) and (indexed := await self.database.read(load)):
            wrong = (*wrong, *await asyncio.to_thread(find_wrong_terms, indexed))
            looked_at += len(indexed)
            after = indexed[-1].passage.id
        return await self.database.read(lambda session: report_postings(see(session), wrong, looked_at))

    async def _syncing(self, scope: Scope, workspaces: Sequence[Workspace]) -> frozenset[str]:
        names = {each.id: self.lock_name(scope, each.root) for each in workspaces}
        return frozenset([each for each, name in names.items() if await self.database.is_locked(name)])

    async def _describe_trees(
        self, scope: Scope, workspaces: Sequence[Workspace], every: Sequence[Workspace], known: PublishedState
    ) -> tuple[TreeStatus, ...]:
        """How the trees of these workspaces stand, and what else the scope has; ``every``: all of the scope's."""
        own, all_own = ({self._tree(scope, each) for each in some if each.root} for some in (workspaces, every))
        return await asyncio.to_thread(
            lambda: tuple(
                describe_tree(self.disk, tree, known, self.resources) for tree in self._trees(own, all_own, known)
            )
        )

    def _tree(self, scope: Scope, workspace: Workspace) -> Path:
        return tree_of(scope, self.find_out(workspace.root))

    def _trees(self, own: AbstractSet[Path], all_own: AbstractSet[Path], known: PublishedState) -> Iterator[Path]:
        """Where the workspaces' trees belong, then what else was published and is still there.

        Whoever publishes elsewhere, and does not say so now, misses nothing in the place that is only the default.
        """
        published, store = {Path(tree) for tree in known.publications}, store_path(self.database.url)
        others = {tree for tree in published - own if tree.is_dir() and not is_anothers(tree, store)}
        elsewhere = not self.placed and bool(others - all_own)
        yield from sorted(own & published if elsewhere else own)
        yield from sorted(others)


def _usage(status: WorkspaceStatus) -> Usage:
    counts = status.last_run.counts if status.last_run else {}
    spent = status.last_run.usage.values() if status.last_run else ()
    return Usage(
        cost=sum(each.cost for each in spent),
        calls=counts.get("calls", 0),
        texts=counts.get("texts", 0),
        prompt_tokens=counts.get("prompt_tokens", 0),
        completion_tokens=counts.get("completion_tokens", 0),
        unanswered=counts.get("unanswered", 0),
    )
