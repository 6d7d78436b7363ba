"""P5: wherever a cap falls, what is left is counted and said, in the report, by status and in the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.colleague import good
from support.stores import Bench

from memu import SyncReport, WorkspaceStatus
from memu.cli.report import describe_sync
from memu.cli.status import describe_status
from memu.providers.fakes import HashingEncoder, ScriptedChatModel

pytestmark = pytest.mark.fault

FILES = {
    "a.md": "# Deploys\n\nDeploys go out on Tuesdays at nine. The gateway is left alone then.\n",
    "b.md": "# Deployment\n\nThe moon decides when nothing is released. Backups are kept for thirty days.\n",
    "c/d.md": "# Ferry\n\nThe ferry needs twelve minutes. The bridge opens at noon.\n",
    "c/e.md": "# Backup\n\nEach backup is tested on the first of the month.\n",
}
MORE = {
    "a.md": "# Deploys\n\nDeploys go out on Wednesdays at nine. The tunnel was closed.\n",
    "f.md": "# Gateway\n\nNobody opens the gateway at night. The pigeon brings what is urgent.\n",
}
CALLS = range(16)
# Each is tried at a first or at a later sync; on a server a cap at each step of the work.
CAPS = [
    *(("sqlite", calls, calls % 2 == 1) for calls in CALLS),
    *(("sqlite", calls, calls % 2 == 0) for calls in CALLS[::3]),
    *(("postgres", calls, calls % 2 == 1) for calls in (0, 3, 6, 9)),
]


async def sync(bench: Bench, model: ScriptedChatModel, **options: Any) -> tuple[SyncReport, WorkspaceStatus]:
    async with bench.open(models=model) as memu:
        report = await memu.memorize_workspace(bench.work, synthesize=True, **options)
        (status,) = await memu.status()
    return report, status


async def unshown(bench: Bench) -> int:
    """The entries whose words no page's content holds."""
    async with bench.open(models=None, encoder=None) as memu:
        listed = await memu.list_entries()
    pages = b"\n".join(data for path, data in bench.trees().items() if "/memory/" in path or "/skill/" in path)
    return sum(entry.text.encode() not in pages for entry in listed)


def says(report: SyncReport, status: WorkspaceStatus) -> bool:
    """Whether report and status say that something is left; all three of their forms say the same of it."""
    named = {problem.path for problem in report.unpatched}
    left = bool(report.waiting or report.unplaced or named or report.degraded)
    document = report.to_dict()
    assert (document["waiting"], document["unplaced"]) == ([*report.waiting], report.unplaced)
    told = "\n".join(line for line, _ in describe_sync(report))
    assert ("on no page yet" in told) == bool(report.unplaced)
    run = status.last_run
    assert run is not None
    assert run.state == ("partial" if left else "done")
    assert (run.counts["waiting"], run.counts["unplaced"]) == (len(report.waiting), report.unplaced)
    assert (status.last_good_run is not None and status.last_good_run.id == run.id) is not left
    assert (status.unplaced, status.to_dict()["unplaced"]) == (report.unplaced,) * 2
    shown = "\n".join(line for line, _ in describe_status(status))
    rest = bool(status.unplaced or status.queued or status.vectors_missing)
    assert (f"{status.unplaced} entries on no page" in shown) == rest
    return left


@pytest.mark.parametrize(("bench", "calls", "changed"), CAPS, indirect=["bench"])
async def test_p5_what_a_cap_leaves_is_counted_and_said(calls: int, changed: bool, bench: Bench) -> None:
    bench.write(FILES)
    model = ScriptedChatModel(usual=good)
    if changed:
        assert not says(*await sync(bench, model))
        bench.write(MORE)
    report, status = await sync(bench, model, max_calls=calls)
    left = says(report, status)
    assert report.unplaced == await unshown(bench)
    assert status.ok
    asked = len(model.asked)
    again, healed = await sync(bench, model)
    assert not says(again, healed)
    assert await unshown(bench) == 0
    # Whoever was told that nothing is left finds nothing left.
    assert left or (again.usage.calls, len(model.asked), again.export and again.export.written) == (0, asked, ())


async def test_the_calls_that_are_tried_reach_beyond_all_that_are_made(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write(FILES)
    report, _ = await sync(bench, ScriptedChatModel(usual=good))
    assert report.usage.calls <= CALLS[-1]
    assert {"extract", "names", "fold", "overview", "embed"} <= set(report.by_step)


async def test_another_workspaces_rest_is_not_this_ones(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write(FILES)
    bench.write({"g.md": "# Ferry\n\nThe ferry is blue.\n"}, folder="other")
    model = ScriptedChatModel(usual=good)
    await sync(bench, model, max_calls=len(FILES))
    async with bench.open(models=model, encoder=HashingEncoder(16)) as memu:
        report = await memu.memorize_workspace(bench.base / "other")
        other, work = sorted(await memu.status(), key=lambda each: each.workspace.root)
    assert (report.unplaced, other.unplaced, other.last_run and other.last_run.state) == (0, 0, "done")
    assert work.unplaced > 0
