#!/usr/bin/env python3
"""Set up memu in this checkout and show it, or run its tests. Standard library only.

    python3 start.py          sync the bundled example workspace, show its pages and two answered searches
    python3 start.py test     run the tests; what follows is handed to pytest
    python3 start.py setup    make the environment with the developers' tools, nothing more

The environment is `.venv` beside this file. It is made once and renewed when pyproject.toml changes. No
activation, root, key or server is needed; packages come from the index that pip is configured for.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
DEMO = ROOT / "demo"
OLDEST = (3, 11)
QUESTIONS = ("why is the job queue in Postgres and not in Redis", "how do I roll back a bad release")
HEAD_LINES = 25


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def main(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("demo", [])
    if command not in ("demo", "test", "setup") or (rest and command != "test"):
        print(__doc__)
        return 0 if command in ("-h", "--help", "help") else 2
    try:
        if sys.version_info[:2] < OLDEST:
            return run_with_newer_python(arguments)
        python = prepare("local" if command == "demo" else "dev")
        if command == "demo":
            return show(python)
        return run_tests(python, rest) if command == "test" else 0
    except SetupError as error:
        print(f"start.py: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(
            f"start.py: {' '.join(map(str, error.cmd))} ended with exit code {error.returncode}", file=sys.stderr
        )
        return int(error.returncode) or 1


def run_with_newer_python(arguments: list[str]) -> int:
    for minor in range(OLDEST[1], OLDEST[1] + 6):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            return subprocess.call([newer, str(Path(__file__).resolve()), *arguments])
    raise SetupError(
        f"memu needs Python {OLDEST[0]}.{OLDEST[1]} or newer and this is {sys.version.split()[0]}. "
        "Install a newer one and run this script with it."
    )


def prepare(extras: str) -> Path:
    """The environment's Python, with memu and these extras installed (editable)."""
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = make_environment(python)
    stamp = VENV / f".memu-{extras.replace(',', '-')}"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + sys.version.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return python
    say(f"Installing memu[{extras}] into {VENV} (once; about a minute) ...")
    subprocess.run([*pip, "install", "-qq", "--editable", f"{ROOT}[{extras}]"], check=True, cwd=ROOT)
    # Written last: an interrupted install is taken up again by the next run.
    stamp.write_text(wanted, encoding="ascii")
    return python


def make_environment(python: Path) -> list[str]:
    """Make `.venv` where none works yet, and give the command that runs pip for it."""
    own_pip = [str(python), "-m", "pip"]
    outer_pip = [sys.executable, "-m", "pip", "--python", str(python)]
    if works([str(python), "-c", "pass"]):
        return own_pip if works([*own_pip, "--version"]) else outer_pip
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        return own_pip
    # Some systems ship venv without ensurepip; the system's own pip can then serve the environment.
    if importlib.util.find_spec("venv") and works([*outer_pip[:3], "--version"]):
        subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV)], check=True)
        return outer_pip
    raise SetupError(
        f"{sys.executable} lacks the modules venv and ensurepip. Install your system's package for them "
        f"(on Debian and Ubuntu: python{OLDEST[0]}.{sys.version_info[1]}-venv), or use another Python."
    )


def works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def show(python: Path) -> int:
    """Sync a copy of the example workspace, then show the report, MEMORY.md and two answers."""
    shutil.copytree(ROOT / "examples" / "workspace", DEMO, dirs_exist_ok=True)
    memu(python, "sync", DEMO.name)
    page = DEMO / ".memu" / "workspace-memory" / "MEMORY.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    say(f"\n$ head -{HEAD_LINES} {page.relative_to(ROOT)}")
    print("\n".join(lines[:HEAD_LINES]), flush=True)
    for question in QUESTIONS:
        memu(python, "search", question, "--max-hits", "2", folder=DEMO)
    say(f"\nThe pages lie in {page.parent.relative_to(ROOT)}. Now your own: {memu_command()} sync FOLDER")
    return 0


def memu(python: Path, *arguments: str, folder: Path = ROOT) -> None:
    place = "" if folder == ROOT else f"{folder.name} "
    say(f"\n{place}$ memu " + " ".join(f'"{part}"' if " " in part else part for part in arguments))
    # The show must not reach for a store, a key or a config file that the user has set up for real work.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMU_")}
    command = [str(python), "-m", "memu", *arguments]
    subprocess.run(command, check=True, cwd=folder, env={**environment, "MEMU_CONFIG": ""})


def memu_command() -> str:
    return str(Path(".venv") / ("Scripts/memu" if os.name == "nt" else "bin/memu"))


def run_tests(python: Path, arguments: list[str]) -> int:
    # A worker that is done takes over tests that wait for another: the slowest lie side by side in their files.
    chosen = arguments or ["-n", "auto", "--dist", "worksteal"]
    return subprocess.call([str(python), "-m", "pytest", *chosen], cwd=ROOT)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
