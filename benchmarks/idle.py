"""What a sync with nothing to do costs on a large folder, against a bare walk of the same tree in the same run.

    python benchmarks/idle.py                      # 10,000 files, words only; the first sync takes minutes
    python benchmarks/idle.py --folder PLACE       # a folder that is synced already

Printed: a sync in a running service and a whole ``memu sync`` process, as times of the bare walk (``os.scandir``
and ``stat`` of every file) and in seconds beyond it. Medians; every figure is CPU time, which other jobs on the
machine change less than wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from machine import own_environment

from memu import MemoryService

OLD = 1_600_000_000


def make(folder: Path, count: int) -> None:
    for number in range(count):
        path = folder / f"room-{number // 100:03}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Item {number}\n\nThe item with the number {number} is kept in a drawer.\n")
        os.utime(path, (OLD, OLD))


def walk(folder: Path) -> int:
    """Every file's status, as a bare loop would ask for it."""
    pending, files = [str(folder)], 0
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".memu":
                        pending.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    files += 1
    return files


def cpu_of(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def child_cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=own_environment(MEMU_ENCODER="none"), stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def in_service(folder: Path, rounds: int) -> tuple[list[float], list[float]]:
    """CPU seconds of syncs and of bare walks, in turn, in one process."""
    syncs, walks = [], []
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        await memu.memorize_workspace(folder)
        for _ in range(rounds):
            walks.append(cpu_of(lambda: walk(folder)))
            before = time.process_time()
            await memu.memorize_workspace(folder)
            syncs.append(time.process_time() - before)
    return syncs, walks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made) / "work"
        if given.folder is None:
            make(folder, given.files)
        syncs, walks = asyncio.run(in_service(folder, given.rounds))
        sync, bare = statistics.median(syncs), statistics.median(walks)
        whole = statistics.median(
            child_cpu([sys.executable, "-m", "memu", "sync", str(folder), "--quiet"]) for _ in range(given.rounds)
        )
        counted = "total = 0\nfor number in range(3_000_000): total += number"
        fixed = statistics.median(child_cpu([sys.executable, "-c", counted]) for _ in range(given.rounds))
        print(f"{walk(folder)} files; the fixed loop of workspace.py takes {fixed:.2f} s here")
        print(f"bare walk                 {bare:.3f} s")
        print(f"sync in a service         {sync:.3f} s   {sync / bare:.1f} times the walk")
        print(
            f"whole process             {whole:.3f} s   {whole - bare:.2f} s beyond the walk, "
            f"{(whole - bare) / fixed:.1f} loops"
        )


if __name__ == "__main__":
    main()
