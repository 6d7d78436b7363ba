"""P2 with a model: killed at any step, run again; no reply that had arrived is paid for twice.

The server counts. What it was asked and had not answered when the kill came may be asked again, nothing else.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.colleague import WRONG, Write, good, only_at, patient
from support.kills import KillAtStatement, KillAtStep, KilledError, listening
from support.postgres import Server
from support.server import ScriptedServer, chat, later, scripted_server
from support.stores import Bench

from memu import Interceptor, Settings

pytestmark = pytest.mark.fault

AT_ONCE = 2
EVERY = int(os.environ.get("MEMU_TEST_CRASH_EVERY", "17"))
# On a server, in the short form, so many times fewer points.
RARER = 1 if EVERY == 1 else 3
BEFORE = {
    "deploys.md": "# Deploys\n\nDeploys go out on Tuesdays at nine.\n\nWe decided to keep one DNS zone.\n",
    "gone.md": "# Carrier\n\nThe pigeon post is answered within a day.\n",
    "restore.md": "# Restore\n\n## How to restore\n\n1. Stop the service.\n2. Copy the dump back.\n",
}
AFTER = {
    "deploys.md": BEFORE["deploys.md"].replace("Tuesdays", "Wednesdays"),
    "new.md": "# Windows\n\nThe moon decides when nothing is released. We decided to keep one DNS zone.\n",
    "restore.md": BEFORE["restore.md"].replace("2. Copy", "2. Ask the owner first.\n3. Copy"),
    "moved/ferry.md": "# Crossing\n\nThe ferry needs twelve minutes for it.\n",
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(later(0.01, chat(good))) as scripted:
        yield scripted


async def sync(bench: Bench, server: ScriptedServer, *interceptors: Interceptor, **options: Any) -> None:
    """One sync, as a process of its own would do it."""
    told = Settings.load(chat_model="m", chat_base_url=server.base_url, concurrency=AT_ONCE)
    async with bench.open(settings=told, interceptors=interceptors) as memu:
        report = await memu.memorize_workspace(bench.work, synthesize=True, **options)
        assert (report.ok, report.unpatched) == (True, ())


@pytest.fixture
async def prepared(tmp_path: Path, server: ScriptedServer, store_server: Server | None) -> tuple[Bench, Any, int]:
    """A synced folder, then edited in every way; what an undisturbed sync makes of that, and in how many calls."""
    bench = Bench(tmp_path / "base", server=store_server)
    bench.write(BEFORE | {"ferry.md": AFTER["moved/ferry.md"]})
    await sync(bench, server)
    shutil.rmtree(bench.work)
    bench.write(AFTER)
    calm = bench.copy_to(tmp_path / "calm")
    server.asked.clear()
    await sync(calm, server)
    return bench, outcome(calm), len(server.asked)


def outcome(bench: Bench) -> Any:
    trees, rows = bench.outcome()
    return trees, {
        name: [tuple(str(value).replace(str(bench.base), "") for value in row) for row in each]
        for name, each in rows.items()
    }


async def crash_and_recover(
    prepared: tuple[Bench, Any, int], server: ScriptedServer, number: int, kind: str
) -> tuple[bool, int]:
    """Whether a kill at this point was reached, and how many calls were made twice for it."""
    bench, expected, calls = prepared
    trial = bench.copy_to(bench.base.parent / f"trial-{kind}-{number}")
    server.asked.clear()
    reached, stored, before = False, 0, 0
    at_kill: list[int] = []
    try:
        if kind == "step":
            await sync(trial, server, KillAtStep(number))
        else:
            with listening(KillAtStatement(number, note=lambda: at_kill.append(len(server.asked)))):
                await sync(trial, server)
    except KilledError:
        reached, before = True, len(server.asked)
        stored = len(trial.rows()["reply"])
        await sync(trial, server)
    extra = len(server.asked) - calls
    # A call is in flight until its reply is stored, and no more than these are at any instant. What waited for its
    # turn may still go out between the kill of another's task and its own; a process that is gone sends nothing.
    sent_after = before - at_kill[0] if at_kill else 0
    assert extra - sent_after <= AT_ONCE, f"killed at {kind} {number}"
    assert extra <= before - stored, f"killed at {kind} {number}"
    assert outcome(trial) == expected, f"killed at {kind} {number}"
    assert trial.rows()["reply"] == []
    trial.discard()
    return reached, extra


@pytest.mark.parametrize("kind", ["step", "statement"])
async def test_p2_killed_at_any_point_only_what_was_in_flight_is_asked_again(
    prepared: tuple[Bench, Any, int], server: ScriptedServer, kind: str, record_property: Any
) -> None:
    points, most = 0, 0
    every = (EVERY if kind == "step" else 6 * EVERY) * (1 if prepared[0].server is None else RARER)
    for number in range(1, 100_000, every):
        reached, extra = await crash_and_recover(prepared, server, number, kind)
        if not reached:
            break
        points, most = points + 1, max(most, extra)
    record_property(f"crash points by {kind}", points)
    record_property(f"most calls made twice, killed by {kind}", most)
    assert points > (4 if prepared[0].server is None else 1)


@pytest.mark.parametrize("wrong", [WRONG["a copy of the prompt"], WRONG["instructions of its own"]])
async def test_p3_replies_of_no_use_to_a_killed_run_keep_no_good_server_from_its_part(
    tmp_path: Path, store_server: Server | None, wrong: Write, record_property: Any
) -> None:
    """Killed after the second bad reply was stored and before it was forgotten, the next run finds both."""
    every, number, points = (1 if EVERY == 1 else 3) * (1 if store_server is None else RARER), 1, 0
    bench = Bench(tmp_path / "base", server=store_server)
    while True:
        bench.write({"deploys.md": BEFORE["deploys.md"]})
        reached = False
        with scripted_server(chat(only_at("fold", wrong) if number % 2 else wrong)) as bad:
            try:
                await sync(bench, bad, KillAtStep(number))
            except KilledError:
                reached = True
            except AssertionError:
                # It came to an end, and says what it could not read.
                pass
        if not reached:
            break
        with scripted_server(chat(patient)) as calm:
            await sync(bench, calm, retry_failed=True)
        bench.discard()
        number, points = number + every, points + 1
    record_property("crash points", points)
    assert points > 4
