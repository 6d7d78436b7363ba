"""A progress bar on stderr, driven by the events of the workflows: one tick for each file that is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memu import Interceptor, StepEvent
from memu.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["SyncProgress", "sync_progress"]


@dataclass(frozen=True, slots=True)
class SyncProgress(Interceptor):
    """Shows the step of the sync and, while files are memorized, how many are done."""

    progress: Progress
    task: TaskID

    async def before(self, event: StepEvent) -> None:
        """A new step of the sync becomes the description."""
        if event.workflow == "sync":
            self.progress.update(self.task, description=event.step)

    async def after(self, event: StepEvent) -> None:
        """The diff says how many files there are; a commit is one of them done."""
        if event.workflow == "sync" and event.step == "diff":
            diff = event.result.diff
            self.progress.update(self.task, total=len(diff.added) + len(diff.modified))
        elif event.workflow == "memorize" and event.step == "commit":
            self.progress.advance(self.task)

    async def on_error(self, event: StepEvent) -> None:
        """A file that failed is done as well."""
        if event.workflow == "memorize":
            self.progress.advance(self.task)


@contextmanager
def sync_progress(*, quiet: bool) -> Iterator[Sequence[Interceptor]]:
    """The interceptors that show progress: none when asked to be quiet or when nobody is watching."""
    if quiet or not sys.stderr.isatty():
        yield ()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(to_stderr=True), transient=True) as progress:
        yield (SyncProgress(progress, progress.add_task("scan", total=None)),)
