"""Run one memu command under the profiler and write whose code its CPU time was spent in.

    python benchmarks/profiled.py SHARES.json sync FOLDER

Started by ``workspace.py``. All threads are profiled, each by its own clock, so waiting counts for nothing. C code
is counted where it is called from: a regex that a reader runs is the reader's, what SQLite does is SQLite's.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
import threading
import time
from concurrent.futures import thread as pool
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1] / "memu"
SHOWN = {"_compiler", "_parser", "base_events", "dataclasses", "enum", "inspect", "threading", "typing"}
LATER: list[cProfile.Profile] = []


def name_place(file: str, function: str) -> str:
    """A room of memu (``memu.storage``), a library, or Python itself."""
    if file in ("~", "") or file.startswith("<frozen"):
        return (
            "SQLite" if "sqlite3." in function else "Python: importing" if "frozen" in file else "Python: built in"
        )
    path = Path(file)
    if path.is_relative_to(PACKAGE):
        return f"memu.{path.relative_to(PACKAGE).parts[0].removesuffix('.py')}"
    parts = path.parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1].removesuffix(".py")
    return f"Python: {path.stem}" if path.stem in SHOWN else "Python: the rest of its library"


def gather(stats: pstats.Stats) -> dict[str, float]:
    """Seconds by place; a built-in function's go to whoever called it."""
    shares: dict[str, float] = {}
    table: dict[Any, Any] = stats.stats  # type: ignore[attr-defined]
    for (file, _, function), (_, _, own, _, callers) in table.items():
        if file == "~" and "sqlite3." not in function and callers:
            for (caller_file, _, caller), (_, _, spent, _) in callers.items():
                place = name_place(caller_file, caller)
                shares[place] = shares.get(place, 0.0) + spent
        else:
            place = name_place(file, function)
            shares[place] = shares.get(place, 0.0) + own
    return shares


class Worker(threading.Thread):
    """A thread of the pools, under a profiler of its own."""

    def run(self) -> None:
        profile = cProfile.Profile(time.thread_time)
        LATER.append(profile)
        profile.enable()
        try:
            super().run()
        finally:
            profile.disable()


def main() -> None:
    target, arguments = sys.argv[1], sys.argv[2:]
    pool.threading.Thread = Worker  # type: ignore[attr-defined, misc]
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    try:
        from memu.cli.app import run

        code = run(arguments)
    finally:
        profile.disable()
    stats = pstats.Stats(profile)
    for each in LATER:
        each.create_stats()
        if each.stats:  # type: ignore[attr-defined]
            stats.add(pstats.Stats(each))
    Path(target).write_text(json.dumps(gather(stats)), encoding="utf-8")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
