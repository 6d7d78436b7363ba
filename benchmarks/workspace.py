"""What a whole process of memu costs on a workspace: the first sync, one with nothing to do, a cold search.

    python benchmarks/workspace.py                            # 1,000 files made here, words only
    python benchmarks/workspace.py --encoder auto --files 100
    python benchmarks/workspace.py --bench FOLDER             # files made by FOLDER/harness/wsgen.py
    python benchmarks/workspace.py --profile                  # and where the time goes, by module

Each figure is the median of several processes: CPU time (user and system), wall time and the most memory held. On
a machine that others use, only ratios hold: every round also times a fixed loop, a bare walk of the same tree
and an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from machine import own_environment

CHILD = Path(__file__).with_name("profiled.py")
QUERY = "why was the copper lantern moved near the harbor"
WALK = """
import os, sys
pending = [sys.argv[1]]
while pending:
    with os.scandir(pending.pop()) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".memu":
                    pending.append(entry.path)
            else:
                entry.stat(follow_symlinks=False)
"""
LOOP = "total = 0\nfor number in range(3_000_000): total += number"
NOUNS = re.findall(
    r"\w+",
    """amber anchor arrow autumn badge basin beacon birch bottle bridge brook bucket cabin candle canyon carpet
    cherry clay cliff cloud cobalt copper coral cotton creek crystal delta desert eagle ember engine falcon fern
    forest fossil garden garnet glacier granite harbor hazel honey island ivory jacket kettle ladder lantern""",
)
VERBS = ("moved", "painted", "stored", "checked", "measured", "carried", "found", "placed", "compared", "repaired")
FOLDERS = ("docs", "notes", "projects/alpha", "projects/beta", "chat", "agent")
TOPICS = ("Backups", "Hiring", "Invoices", "Kitchen", "Releases", "Running", "Search", "Travel")


@dataclass(frozen=True, slots=True)
class Cost:
    """One process: seconds of CPU and of wall time, and the most memory it held, in MB."""

    cpu: float
    wall: float
    memory: float


def write_workspace(root: Path, count: int, seed: int) -> None:
    """``count`` Markdown files of two to four KB, in folders, with topics that many of them share."""
    rng = random.Random(seed)
    for number in range(count):
        path = root / FOLDERS[number % len(FOLDERS)] / f"page-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        topic = rng.choice(TOPICS)
        lines = [f"# {topic} {rng.choice(NOUNS)} {rng.choice(NOUNS)} {number}", ""]
        for part in range(rng.randint(3, 5)):
            lines += [f"## {'Decision' if part == 1 else rng.choice(NOUNS).title()}", "", _paragraph(rng), ""]
        lines += [f"- {_sentence(rng)}" for _ in range(rng.randint(2, 6))]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _paragraph(rng: random.Random) -> str:
    return " ".join(_sentence(rng) for _ in range(rng.randint(6, 12)))


def _sentence(rng: random.Random) -> str:
    one, two, three, four = rng.choices(NOUNS, k=4)
    return f"The {one} {two} was {rng.choice(VERBS)} near the {three} {four} on day {rng.randint(1, 400)}."


def measure(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path) -> Cost:
    """Run a process to its end. It has to end well."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command], env=environment, cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Cost(used.ru_utime + used.ru_stime, wall, kilobytes / 1024)


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*map(_numbers, costs), strict=True)))


def _numbers(cost: Cost) -> tuple[float, float, float]:
    return cost.cpu, cost.wall, cost.memory


def measure_all(root: Path, environment: Mapping[str, str], rounds: int) -> dict[str, Cost]:
    """The median cost of each command. The first sync is the median of a third of the rounds: it is long."""
    python, memu = [sys.executable], [sys.executable, "-m", "memu"]
    quick = {
        "fixed loop": [*python, "-c", LOOP],
        "bare interpreter": [*python, "-c", "pass"],
        "bare walk": [*python, "-c", WALK, root],
        "import memu": [*python, "-c", "import memu"],
        "import sqlalchemy, pydantic": [*python, "-c", "import sqlalchemy, pydantic"],
        "memu --help": [*memu, "--help"],
        "no-op sync": [*memu, "sync", root, "--quiet"],
        "cold search": [*memu, "search", QUERY, "--json"],
    }
    first = []
    for _ in range(max(1, rounds // 3)):
        shutil.rmtree(root / ".memu", ignore_errors=True)
        first.append(measure([*memu, "sync", root, "--quiet"], environment, root))
    time.sleep(2.1)
    # Files so young may have changed within the clock's grain: the sync looks at their bytes once more.
    measure([*memu, "sync", root, "--quiet"], environment, root)
    taken: dict[str, list[Cost]] = {name: [] for name in quick}
    for _ in range(rounds):
        for name, command in quick.items():
            taken[name].append(measure(command, environment, root))
    changed = []
    page = next(path for path in sorted(root.rglob("*.md")) if ".memu" not in path.parts)
    for number in range(max(1, rounds // 3)):
        page.write_text(
            page.read_text(encoding="utf-8") + f"\nThe vault was opened on day {number}.\n", encoding="utf-8"
        )
        changed.append(measure([*memu, "sync", root, "--quiet"], environment, root))
    return {"first sync": median(first), "sync of one change": median(changed)} | {
        name: median(costs) for name, costs in taken.items()
    }


def print_costs(costs: Mapping[str, Cost], files: int) -> None:
    loop, walk, idle = costs["fixed loop"], costs["bare walk"], costs["bare interpreter"]
    print(f"{'':28} {'CPU s':>8} {'in loops':>9} {'wall s':>8} {'MB':>6}")
    for name, cost in costs.items():
        print(f"{name:28} {cost.cpu:8.3f} {cost.cpu / loop.cpu:9.2f} {cost.wall:8.3f} {cost.memory:6.0f}")
    work = costs["first sync"].cpu - costs["no-op sync"].cpu
    print(f"\nfirst sync: {files / work:.0f} files a second of CPU, what a no-op sync takes taken off")
    print(f"no-op sync: {costs['no-op sync'].cpu - walk.cpu:.2f} s of CPU above a bare walk of the tree")
    heavy = costs["import sqlalchemy, pydantic"].cpu - idle.cpu
    print(f"cold search: {heavy / costs['cold search'].cpu:.0%} of it is importing SQLAlchemy and pydantic")


def print_shares(root: Path, environment: Mapping[str, str]) -> None:
    """Profile each command once and print whose code the time was spent in."""
    shutil.rmtree(root / ".memu", ignore_errors=True)
    commands = {"first sync": ["sync", str(root), "--quiet"], "no-op sync": ["sync", str(root), "--quiet"]}
    for name, arguments in (commands | {"cold search": ["search", QUERY, "--json"]}).items():
        with tempfile.TemporaryDirectory() as place:
            told = Path(place) / "shares.json"
            measure([sys.executable, CHILD, told, *arguments], environment, root)
            shares: dict[str, float] = json.loads(told.read_text(encoding="utf-8"))
        total = sum(shares.values())
        own = sum(seconds for place_name, seconds in shares.items() if place_name.startswith("memu."))
        print(f"\n{name}, profiled: {own / total:.0%} of the CPU is spent in our own code")
        for place_name, seconds in sorted(shares.items(), key=lambda item: -item[1]):
            if seconds / total >= 0.01:
                print(f"  {seconds / total:5.1%}  {place_name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--encoder", default="none", help="as MEMU_ENCODER: none, auto, or an ONNX file")
    parser.add_argument("--bench", type=Path, help="a folder with harness/wsgen.py, to make the files")
    parser.add_argument("--profile", action="store_true", help="also profile each command once")
    chosen = parser.parse_args()
    environment = own_environment(MEMU_ENCODER=chosen.encoder)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "workspace"
        if chosen.bench:
            options = ["--n", str(chosen.files), "--seed", str(chosen.seed)]
            command = [sys.executable, "-m", "harness.wsgen", str(root), *options]
            subprocess.run(command, env={**environment, "PYTHONPATH": str(chosen.bench)}, check=True)
        else:
            write_workspace(root, chosen.files, chosen.seed)
        print(f"{chosen.files} files, encoder {chosen.encoder}, {os.cpu_count()} cores, {chosen.rounds} rounds")
        print_costs(measure_all(root, environment, chosen.rounds), chosen.files)
        if chosen.profile:
            print_shares(root, environment)


if __name__ == "__main__":
    main()
