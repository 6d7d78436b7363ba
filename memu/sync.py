"""The blocking twin of :class:`memu.MemoryService`, for programs without an event loop.

    with memu.sync.MemoryService.open(folder="notes") as memory:
        print(memory.retrieve_workspace("when do we deploy?").hits[0].text)

It works inside a running event loop too: the calls run on a loop of their own, in a thread of their own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from memu.errors import StoreError
from memu.records import (
    ExportReport,
    ForgetReceipt,
    HealthReport,
    ImportReport,
    Kind,
    Layer,
    Listing,
    MemoryType,
    ReindexReport,
    RetrieveResult,
    SyncPlan,
    SyncReport,
    Track,
    Workspace,
    WorkspaceStatus,
)
from memu.service import MemoryService as AsyncMemoryService
from memu.workflow import Workflow

if TYPE_CHECKING:
    from memu.retrieve.evaluation import EvalReport, Question

__all__ = ["MemoryService"]

T = TypeVar("T")


class MemoryService:
    """Every verb of :class:`memu.MemoryService`, blocking. Use it as a ``with`` block, or call ``close``."""

    def __init__(self, service: AsyncMemoryService) -> None:
        self._service = service
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memu", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, db: str | None = None, **options: Any) -> Self:
        """Open a store; takes what :meth:`memu.MemoryService.open` takes."""
        return cls(AsyncMemoryService.open(db, **options))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and end the thread. Closing twice is no error."""
        if self._loop.is_closed():
            return
        self._run(self._service.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def memorize_workspace(
        self,
        folder: Path | str,
        *,
        user: Mapping[str, Any] | None = None,
        name: str | None = None,
        allow_empty: bool = False,
        wait: bool = False,
        retry_failed: bool = False,
        synthesize: bool = False,
        max_calls: int | None = None,
        max_cost: float | None = None,
    ) -> SyncReport:
        """See :meth:`memu.MemoryService.memorize_workspace`."""
        return self._run(
            self._service.memorize_workspace(
                folder,
                user=user,
                name=name,
                allow_empty=allow_empty,
                wait=wait,
                retry_failed=retry_failed,
                synthesize=synthesize,
                max_calls=max_calls,
                max_cost=max_cost,
            )
        )

    def plan_workspace(
        self,
        folder: Path | str,
        *,
        user: Mapping[str, Any] | None = None,
        name: str | None = None,
        allow_empty: bool = False,
        retry_failed: bool = False,
        synthesize: bool = False,
    ) -> SyncPlan:
        """See :meth:`memu.MemoryService.plan_workspace`."""
        return self._run(
            self._service.plan_workspace(
                folder,
                user=user,
                name=name,
                allow_empty=allow_empty,
                retry_failed=retry_failed,
                synthesize=synthesize,
            )
        )

    def memorize(self, path: Path | str, *, user: Mapping[str, Any] | None = None) -> SyncReport:
        """See :meth:`memu.MemoryService.memorize`."""
        return self._run(self._service.memorize(path, user=user))

    def retrieve_workspace(
        self,
        query: str,
        *,
        where: Mapping[str, Any] | None = None,
        across: bool = False,
        layers: Iterable[Layer] | None = None,
        tracks: Iterable[Track] | None = None,
        path: str | None = None,
        kinds: Iterable[Kind | str] | None = None,
        memory_types: Iterable[MemoryType | str] | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        changed_since: datetime | str | None = None,
        changed_until: datetime | str | None = None,
        workspace: str | None = None,
        max_hits: int = 10,
        max_words: int | None = None,
        min_score: float = 0.0,
        explain: bool = False,
    ) -> RetrieveResult:
        """See :meth:`memu.MemoryService.retrieve_workspace`."""
        return self._run(
            self._service.retrieve_workspace(
                query,
                where=where,
                across=across,
                layers=layers,
                tracks=tracks,
                path=path,
                kinds=kinds,
                memory_types=memory_types,
                since=since,
                until=until,
                changed_since=changed_since,
                changed_until=changed_until,
                workspace=workspace,
                max_hits=max_hits,
                max_words=max_words,
                min_score=min_score,
                explain=explain,
            )
        )

    def export_memory_files(
        self, *, user: Mapping[str, Any] | None = None, force: Iterable[str] = ()
    ) -> ExportReport:
        """See :meth:`memu.MemoryService.export_memory_files`."""
        return self._run(self._service.export_memory_files(user=user, force=force))

    def get(self, reference: str, *, user: Mapping[str, Any] | None = None) -> Listing:
        """See :meth:`memu.MemoryService.get`."""
        return self._run(self._service.get(reference, user=user))

    def evaluate(
        self, questions: Iterable[Question | Mapping[str, Any]], *, user: Mapping[str, Any] | None = None
    ) -> EvalReport:
        """Ask questions whose answers' places are known."""
        return self._run(self._service.evaluate(questions, user=user))

    def recall(self, *, last: int = 1, user: Mapping[str, Any] | None = None) -> Listing:
        return self._run(self._service.recall(last=last, user=user))

    def list_files(
        self,
        *,
        user: Mapping[str, Any] | None = None,
        tracks: Iterable[Track | str] | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> tuple[Listing, ...]:
        """See :meth:`memu.MemoryService.list_files`."""
        return self._run(self._service.list_files(user=user, tracks=tracks, after=after, limit=limit))

    def list_entries(
        self,
        *,
        user: Mapping[str, Any] | None = None,
        tracks: Iterable[Track | str] | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> tuple[Listing, ...]:
        """See :meth:`memu.MemoryService.list_entries`."""
        return self._run(self._service.list_entries(user=user, tracks=tracks, after=after, limit=limit))

    def list_resources(
        self,
        *,
        user: Mapping[str, Any] | None = None,
        workspace: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> tuple[Listing, ...]:
        """See :meth:`memu.MemoryService.list_resources`."""
        return self._run(self._service.list_resources(user=user, workspace=workspace, after=after, limit=limit))

    def status(self, *, user: Mapping[str, Any] | None = None) -> tuple[WorkspaceStatus, ...]:
        """See :meth:`memu.MemoryService.status`."""
        return self._run(self._service.status(user=user))

    def examine(
        self, *, user: Mapping[str, Any] | None = None, across: bool = False, thorough: bool = False
    ) -> HealthReport:
        """See :meth:`memu.MemoryService.examine`."""
        return self._run(self._service.examine(user=user, across=across, thorough=thorough))

    def list_workspaces(self, *, user: Mapping[str, Any] | None = None) -> tuple[Workspace, ...]:
        """See :meth:`memu.MemoryService.list_workspaces`."""
        return self._run(self._service.list_workspaces(user=user))

    def remove_workspace(self, reference: str, **options: Any) -> ForgetReceipt:
        """See :meth:`memu.MemoryService.remove_workspace`."""
        return self._run(self._service.remove_workspace(reference, **options))

    def reindex(
        self, *, wait: bool = False, max_calls: int | None = None, max_cost: float | None = None
    ) -> ReindexReport:
        """See :meth:`memu.MemoryService.reindex`."""
        return self._run(self._service.reindex(wait=wait, max_calls=max_calls, max_cost=max_cost))

    def import_memu(
        self, url: str, *, user: Mapping[str, Any] | None = None, vectors_from: str | None = None
    ) -> ImportReport:
        """See :meth:`memu.MemoryService.import_memu`."""
        return self._run(self._service.import_memu(url, user=user, vectors_from=vectors_from))

    def forget(self, reference: str | None = None, **options: Any) -> ForgetReceipt:
        """See :meth:`memu.MemoryService.forget`."""
        return self._run(self._service.forget(reference, **options))

    def workflow(self, name: str) -> Workflow[Any]:
        """See :meth:`memu.MemoryService.workflow`."""
        return self._service.workflow(name)

    @property
    def workflow_names(self) -> tuple[str, ...]:
        """See :attr:`memu.MemoryService.workflow_names`."""
        return self._service.workflow_names

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            work.close()
            raise StoreError("The service is closed; open another one.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # A Ctrl-C here must stop the work too, not only the wait for it.
            future.cancel()
            raise
