"""What the report says of a sync that goes on where a killed one stopped (P2)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from memu import MemoryService, SyncReport
from memu.cli.report import describe_sync

pytestmark = pytest.mark.e2e


class Killed(BaseException):
    """Ends a process as a signal would: nothing that cleans up after errors sees it."""


async def killed(_state: object) -> object:
    """Die here."""
    raise Killed


async def sync(folder: Path, dies_at: str | None = None) -> SyncReport:
    changes = {"sync": lambda flow: flow.replacing(dies_at, killed)} if dies_at else {}
    async with MemoryService.open(folder=folder, encoder=None, workflows=changes) as memu:
        return await memu.memorize_workspace(folder)


def told(report: SyncReport) -> str:
    return "\n".join(line for line, _ in describe_sync(report))


@pytest.mark.parametrize("step", ["memorize", "assign", "fold", "embed", "export", "report"])
async def test_a_resumed_sync_says_that_it_is_one_and_what_it_published(tmp_path: Path, step: str) -> None:
    for name in ("pump", "crane"):
        (tmp_path / f"{name}.md").write_text(f"# The {name}\n\nThe {name} was repaired on 2 March 2024.\n")
    with pytest.raises(Killed):
        await sync(tmp_path, dies_at=step)
    report = await sync(tmp_path)
    assert report.resumed
    assert report.export is not None
    assert bool(report.export.written) is (step != "report")
    assert f"an interrupted sync was finished; {len(report.export.written)} files published" in told(report)
    assert "nothing changed" not in told(report)
    assert report.to_dict()["resumed"] is True
    again = await sync(tmp_path)
    assert not again.resumed
    assert "interrupted" not in told(again)
    assert "pages: nothing changed" in told(again)


async def test_one_published_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text("# The pump\n\nThe pump was repaired on 2 March 2024.\n")
    report = await sync(tmp_path)
    assert not report.resumed
    assert report.export is not None
    one = dataclasses.replace(report.export, written=("MEMORY.md",))
    assert "; 1 file published" in told(dataclasses.replace(report, resumed=True, export=one))
