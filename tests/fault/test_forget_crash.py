"""P2 for forgetting: killed at any moment, either nothing went, or the words are gone and a sync does the rest."""

from __future__ import annotations

import os
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
SECRET = "The blue lantern is hidden under the bridge in Oslo."
FILES = {
    "treasure.md": f"# Treasure\n\n- {SECRET}\n- Maps are kept with the harbour master.\n",
    "second.md": f"# Second\n\nWe decided to write it down. {SECRET}\n",
    "only.md": f"# Only\n\n- {SECRET}\n",
    "other.md": "# Other\n\nDeploys go out on Tuesdays after the stand-up.\n",
}


async def forget(bench: Bench, *interceptors: Interceptor) -> None:
    async with bench.open(interceptors=interceptors) as memu:
        await memu.forget(match="blue lantern")


async def sync(bench: Bench) -> None:
    async with bench.open() as memu:
        assert (await memu.memorize_workspace(bench.work)).ok


def outcome(bench: Bench) -> Any:
    trees, rows = bench.outcome()
    return trees, {
        name: [tuple(str(value).replace(str(bench.base), "") for value in row) for row in found]
        for name, found in rows.items()
    }


@pytest.fixture
async def prepared(tmp_path: Path, store_server: Server | None) -> tuple[Bench, Any]:
    """A synced folder; and what it comes to when it forgets undisturbed."""
    bench = Bench(tmp_path / "base", server=store_server)
    bench.write(FILES)
    await sync(bench)
    calm = bench.copy_to(tmp_path / "calm")
    await forget(calm)
    return bench, outcome(calm)


async def crash_and_recover(prepared: tuple[Bench, Any], number: int, kind: str) -> bool:
    """Whether a kill at this point was reached; if so, all was well afterwards."""
    bench, expected = prepared
    trial = bench.copy_to(bench.base.parent / f"trial-{kind}-{number}")
    try:
        if kind == "step":
            await forget(trial, KillAtStep(number))
        else:
            with listening(KillAtStatement(number)):
                await forget(trial)
        reached = False
    except KilledError:
        reached = True
        left = [place for place in trial.holding("lantern") if not place.endswith(".md")]
        if left:
            # Killed before the one transaction: nothing at all went.
            assert len(trial.holding(SECRET)) == len(bench.holding(SECRET))
            await forget(trial)
        else:
            await sync(trial)
    assert trial.holding("lantern") == []
    assert outcome(trial) == expected, f"killed at {kind} {number}"
    trial.discard()
    return reached


@pytest.mark.parametrize("kind", ["step", "statement"])
async def test_p2_a_killed_forget_has_done_nothing_or_is_finished_by_a_sync(
    prepared: tuple[Bench, Any], kind: str, record_property: Any
) -> None:
    points = 0
    for number in range(1, 100_000, EVERY if prepared[0].server is None else RARER * EVERY):
        if not await crash_and_recover(prepared, number, kind):
            break
        points += 1
    record_property(f"crash points of forget by {kind}", points)
    assert points > 1


async def test_p2_a_scope_that_was_half_forgotten_is_forgotten_whole_the_second_time(
    prepared: tuple[Bench, Any],
) -> None:
    bench, _ = prepared
    for number in range(1, 100_000, 7 if bench.server is None else 7 * RARER):
        trial = bench.copy_to(bench.base.parent / f"scope-{number}")
        async with trial.open() as memu:
            try:
                with listening(KillAtStatement(number)):
                    await memu.forget(everything=True)
                break
            except KilledError:
                await memu.forget(everything=True)
        assert trial.holding("lantern", "tuesdays") == []
        assert trial.trees() == {}
        trial.discard()
    assert number > 7
