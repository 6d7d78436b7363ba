"""``memu steps`` reads its tables from the workflows, and the progress bar counts what they do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from memu import Step, StepEvent, Workflow
from memu.cli.progress import SyncProgress, sync_progress
from memu.cli.steps import as_markdown, step_rows

pytestmark = pytest.mark.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Tea:
    water: int
    leaves: str = ""
    cup: str = ""


@dataclass(frozen=True, slots=True)
class Brew:
    """Pours the water | over the leaves.

    And waits.
    """

    minutes: int

    async def __call__(self, tea: Tea) -> Tea:
        """Not this one."""
        return replace(tea, cup="tea")


async def choose(tea: Tea) -> Tea:
    """Takes the leaves
    that are left."""
    return replace(tea, leaves="green")


TEA = Workflow(
    "tea",
    Tea,
    inputs=["water"],
    steps=[
        Step("choose", choose, reads=["water"], writes=["leaves"]),
        Step("brew", Brew(3), reads=["leaves", "water"], writes=["cup"]),
    ],
)


def test_rows_follow_the_state_and_tell_what_each_step_does() -> None:
    first, second = step_rows(TEA)
    assert (first.reads, first.writes, first.doc) == (("water",), ("leaves",), "Takes the leaves that are left.")
    assert (second.reads, second.doc) == (("water", "leaves"), "Pours the water | over the leaves.")


def test_a_replaced_step_shows_its_own_words() -> None:
    async def other(tea: Tea) -> Tea:
        """Buys a bag."""
        return tea

    assert step_rows(TEA.replacing("choose", other))[0].doc == "Buys a bag."


def test_markdown_escapes_what_would_end_a_cell() -> None:
    table = as_markdown("tea", step_rows(TEA)).splitlines()
    assert table[0] == "### tea"
    assert table[-1] == r"| brew | water, leaves | cup | Pours the water \| over the leaves. |"


class Bar:
    """What the progress bar was told."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.done = 0
        self.description = ""

    def update(self, task: int, *, total: int | None = None, description: str | None = None) -> None:
        self.total = total if total is not None else self.total
        self.description = description or self.description

    def advance(self, task: int) -> None:
        self.done += 1


async def test_one_tick_for_each_file_done_or_failed() -> None:
    bar = Bar()
    watcher = SyncProgress(bar, 0)  # type: ignore[arg-type]
    diffed = SimpleNamespace(diff=SimpleNamespace(added=("a", "b"), modified=("c",)))

    def event(workflow: str, step: str, **more: object) -> StepEvent:
        return StepEvent(workflow=workflow, step=step, position=0, state=None, **more)  # type: ignore[arg-type]

    await watcher.before(event("sync", "diff"))
    await watcher.after(event("sync", "diff", result=diffed))
    for step in ("read", "commit"):
        await watcher.before(event("memorize", step))
        await watcher.after(event("memorize", step))
    await watcher.on_error(event("memorize", "read", error=OSError()))
    await watcher.before(event("sync", "fold"))
    await watcher.after(event("fold", "commit"))
    assert (bar.total, bar.done, bar.description) == (3, 2, "fold")


def test_nobody_watching_no_progress() -> None:
    with sync_progress(quiet=False) as interceptors:
        assert interceptors == ()
