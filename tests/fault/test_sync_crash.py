"""P2: killed at any instant, run again: the result of an undisturbed run, nothing twice, nothing lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.kills import KillAtStatement, KillAtStep, KilledError, listening
from support.postgres import Server
from support.stores import Bench

from memu import Interceptor

pytestmark = pytest.mark.fault

EVERY = int(os.environ.get("MEMU_TEST_CRASH_EVERY", "17"))
# On a server, in the short form, so many times fewer points.
RARER = 1 if EVERY == 1 else 3

DEPLOYS = "# Deploys\n\nDeploys go out on Tuesdays after the stand-up.\n\nThe gateway is left alone on Fridays.\n"
RESTORE = "# Restore\n\n## How to restore\n\n1. Stop the service.\n2. Copy the dump back.\n3. Start it again.\n"
BEFORE = {
    "deploys.md": DEPLOYS,
    "dns.md": "# DNS\n\nWe decided to keep one zone for all environments.\n",
    "gone.md": "# Carrier\n\nThe pigeon post is answered within a day.\n",
    "restore.md": RESTORE,
}
AFTER = {
    "deploys.md": DEPLOYS.replace("Tuesdays", "Wednesdays"),
    "zone/dns.md": BEFORE["dns.md"],
    "new.md": "# Deploy windows\n\nNobody deploys while the moon is full.\n",
    "restore.md": RESTORE.replace("2. Copy the dump back.\n3.", "2. Ask the owner first.\n3. Copy it back.\n4."),
}


def lay(folder: Path, files: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for number, (path, text) in enumerate(sorted(files.items())):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        os.utime(target, (1_700_000_000 + number, 1_700_000_000 + number))


async def sync(bench: Bench, *interceptors: Interceptor) -> None:
    async with bench.open(interceptors=interceptors) as memu:
        assert (await memu.memorize_workspace(bench.work)).ok


def outcome(bench: Bench) -> Any:
    trees, rows = bench.outcome()
    return trees, {
        name: [tuple(str(value).replace(str(bench.base), "") for value in row) for row in found]
        for name, found in rows.items()
    }


@pytest.fixture
async def prepared(tmp_path: Path, store_server: Server | None) -> tuple[Bench, Any]:
    """A synced folder, then edited in every way; and what an undisturbed sync makes of that."""
    bench = Bench(tmp_path / "base", server=store_server)
    lay(bench.work, BEFORE)
    await sync(bench)
    lay(bench.work, AFTER)
    calm = bench.copy_to(tmp_path / "calm")
    await sync(calm)
    return bench, outcome(calm)


async def crash_and_recover(prepared: tuple[Bench, Any], number: int, kind: str) -> bool:
    """Whether a kill at this point was reached; if so, a further sync ended as an undisturbed one."""
    bench, expected = prepared
    trial = bench.copy_to(bench.base.parent / f"trial-{kind}-{number}")
    try:
        if kind == "step":
            await sync(trial, KillAtStep(number))
        else:
            with listening(KillAtStatement(number)):
                await sync(trial)
        reached = False
    except KilledError:
        reached = True
        await sync(trial)
    assert outcome(trial) == expected, f"killed at {kind} {number}"
    trial.discard()
    return reached


@pytest.mark.parametrize("kind", ["step", "statement"])
async def test_p2_killed_at_any_point_a_further_sync_ends_as_an_undisturbed_one(
    prepared: tuple[Bench, Any], kind: str, record_property: Any
) -> None:
    points = 0
    every = EVERY if prepared[0].server is None else EVERY * RARER
    for number in range(1, 100_000, every):
        if not await crash_and_recover(prepared, number, kind):
            break
        points += 1
    record_property(f"crash points by {kind}", points)
    assert points * every > 20
