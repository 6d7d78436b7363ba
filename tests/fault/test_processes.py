"""P2 and P8 with real processes: killed with -9 at random moments, and eight at once on one store."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support.citations import check_tree
from support.postgres import Server
from support.stores import Bench
from support.warm_start import Started, start_memu

pytestmark = pytest.mark.fault

KILLS = int(os.environ.get("MEMU_TEST_KILLS", "20"))
FOLDERS = [1, 4, 8] if KILLS > 20 else [1, 8]
BUSY = 3


def start(*arguments: str, cwd: Path) -> Started:
    environment = {**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": ""}
    return start_memu(*arguments, cwd=cwd, environment=environment)


def sync(folder: Path, bench: Bench, *more: str) -> Started:
    places = ("--db", bench.url, "--out", str(bench.out))
    return start("sync", str(folder), "--quiet", *places, *more, cwd=folder)


def finish(process: Started) -> tuple[int, str]:
    ended = process.finish()
    return ended.returncode, ended.stderr


def lay(folder: Path, count: int, edition: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        if edition and number % 3 == 0:
            (folder / f"{number}.md").unlink(missing_ok=True)
            continue
        text = (
            f"# Topic {number % 5}\n\n"
            f"Item {number} of {folder.name} was measured in edition {edition} of the list.\n\n"
            f"The gauge of line {number} shows what nobody expected of it.\n"
        )
        (folder / f"{number}.md").write_text(text, encoding="utf-8")


def tree(out: Path) -> dict[str, bytes]:
    files = (path for path in out.rglob("*") if path.suffix == ".md")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def test_p2_killed_by_the_system_at_random_moments(
    tmp_path: Path, store_server: Server | None, record_property: Any
) -> None:
    """After every few kills the folder changes; in the end store and tree are those of a calm sync."""
    chance = random.Random(20)
    bench, calm = (Bench(tmp_path, name, store_server) for name in ("store", "calm"))
    folder = bench.work
    lay(folder, 30)
    kills = KILLS if store_server is None or KILLS > 20 else KILLS // 3
    interrupted = 0
    for number in range(kills):
        if number % 5 == 4:
            lay(folder, 30, edition=number)
        process = sync(folder, bench)
        time.sleep(chance.uniform(0.0, 1.2))
        process.kill()
        code, errors = finish(process)
        interrupted += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), errors
    # A dead process holds no lock: the next sync goes ahead at once.
    assert finish(sync(folder, bench)) == (0, "")
    record_property("kills that met a running sync", f"{interrupted} of {kills}")
    assert interrupted > 0
    assert finish(sync(folder, calm)) == (0, "")
    assert tree(bench.out) == tree(calm.out)
    assert bench.comparable() == calm.comparable()
    assert check_tree(bench.out / "workspace-memory")[1] == []
    assert [path.name for path in bench.out.rglob("*") if ".tmp" in path.name or path.name.endswith("~")] == []


@pytest.mark.parametrize("count", FOLDERS)
async def test_p8_eight_processes_on_one_store_end_as_one_after_another(
    count: int, tmp_path: Path, store_server: Server | None
) -> None:
    """One folder or several in one scope and one tree, a search and an export between: after all ended, nothing is
    left to do. Busy is the only refusal, and only of who syncs a folder that another syncs."""
    bench, calm = (Bench(tmp_path, name, store_server) for name in ("store", "calm"))
    folders = [tmp_path / f"room-{number}" for number in range(count)]
    for folder in folders:
        lay(folder, 8)
    places = ("--db", bench.url, "--out", str(bench.out))
    running = [sync(folder, bench, "--workspace", folder.name) for folder in folders * (8 // count)]
    ended = [await asyncio.to_thread(finish, running[0])]
    between = [
        start("search", "gauge of line 7", "--json", *places[:2], cwd=tmp_path),
        start("export", "--quiet", *places, cwd=tmp_path),
    ]
    ended += [await asyncio.to_thread(finish, process) for process in running[1:]]
    assert [finish(process)[0] for process in between] == [0, 0]
    assert {code for code, _ in ended} <= {0, BUSY}, ended
    if count == 8:
        assert ended == [(0, "")] * 8
    assert sum(code == 0 for code, _ in ended) >= count
    assert all("the sync of" in errors for code, errors in ended if code == BUSY), ended
    async with calm.open(encoder=None) as memu:
        for folder in folders:
            await memu.memorize_workspace(folder, name=folder.name)
    assert tree(bench.out) == tree(calm.out)
    assert bench.comparable() == calm.comparable()
    async with bench.open(encoder=None) as memu:
        assert (await memu.export_memory_files()).written == ()
