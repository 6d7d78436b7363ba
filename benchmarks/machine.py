"""What a figure was taken on, for the scripts here to print beside it."""

from __future__ import annotations

import os
import platform
import resource
import time
from pathlib import Path

__all__ = ["describe_machine", "own_environment", "peak_megabytes"]


def describe_machine() -> str:
    """Processor, cores, load, and the CPU time of a loop of three million additions, to compare machines by."""
    began, total = time.process_time(), 0
    for number in range(3_000_000):
        total += number
    loop = time.process_time() - began
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, loop {loop:.2f} s"


def peak_megabytes() -> float:
    """The most memory that this process had at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def own_environment(**more: str) -> dict[str, str]:
    """The environment of a measured process: no settings of the user, and modules compiled once, as installed."""
    left_out = ("MEMU_", "OPENAI_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, "MEMU_CONFIG": "", **more}
