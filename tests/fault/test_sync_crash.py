"""P2: killed at any instant, run again: the result of an undisturbed run, nothing twice, nothing lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.kills import KillAtStatement, KillAtStep, KilledError, listening
from support.rows import comparable_rows

from memu import Interceptor, MemoryService
from memu.providers.fakes import HashingEncoder

pytestmark = pytest.mark.fault

EVERY = int(os.environ.get("MEMU_TEST_CRASH_EVERY", "9"))

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


async def sync(base: Path, *interceptors: Interceptor) -> None:
    async with MemoryService.open(
        f"sqlite:///{base / 'store.sqlite3'}",
        out=base / "out",
        encoder=HashingEncoder(16),
        interceptors=interceptors,
    ) as memu:
        report = await memu.memorize_workspace(base / "work")
        assert report.ok


def outcome(base: Path) -> Any:
    tree = {
        path.relative_to(base / "out").as_posix(): path.read_bytes()
        for path in (base / "out").rglob("*")
        if path.is_file() and path.name != ".memu-export.json"
    }
    return tree, {
        name: [tuple(str(value).replace(str(base), "") for value in row) for row in rows]
        for name, rows in comparable_rows(base / "store.sqlite3").items()
    }


@pytest.fixture
async def prepared(tmp_path: Path) -> tuple[Path, Any]:
    """A synced folder, then edited in every way; and what an undisturbed sync makes of that."""
    base = tmp_path / "base"
    lay(base / "work", BEFORE)
    await sync(base)
    lay(base / "work", AFTER)
    calm = tmp_path / "calm"
    shutil.copytree(base, calm)
    await move_root(calm, base)
    await sync(calm)
    return base, outcome(calm)


async def move_root(copy: Path, original: Path) -> None:
    """The copy's store knows the folder at its old place; it is told of the new one as a move would."""
    import sqlite3

    with sqlite3.connect(copy / "store.sqlite3") as connection:
        connection.execute("UPDATE workspace SET root = ?", (str(copy / "work"),))
        connection.execute("UPDATE publication SET tree = replace(tree, ?, ?)", (str(original), str(copy)))
    connection.close()


async def crash_and_recover(prepared: tuple[Path, Any], number: int, kind: str) -> bool:
    """Whether a kill at this point was reached; if so, a further sync ended as an undisturbed one."""
    base, expected = prepared
    trial = base.parent / f"trial-{kind}-{number}"
    shutil.copytree(base, trial)
    await move_root(trial, base)
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
    shutil.rmtree(trial)
    return reached


@pytest.mark.parametrize("kind", ["step", "statement"])
async def test_p2_killed_at_any_point_a_further_sync_ends_as_an_undisturbed_one(
    prepared: tuple[Path, Any], kind: str, record_property: Any
) -> None:
    points = 0
    for number in range(1, 100_000, EVERY):
        if not await crash_and_recover(prepared, number, kind):
            break
        points += 1
    record_property(f"crash points by {kind}", points)
    assert points * EVERY > 20
