"""F53: the entries of docs/scheduling.md work as a scheduler would start them: with no environment at all."""

from __future__ import annotations

import asyncio
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memu import MemoryService
from memu.ingest.document import Document
from memu.memorize.candidate import Extraction
from memu.memorize.extractors.protocol import NO_CONTEXT, ExtractContext

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scheduling.md").read_text(encoding="utf-8")


def fenced(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def commands() -> dict[str, list[str]]:
    cron = fenced("cron")[0].split(maxsplit=5)[5]
    (systemd,) = re.findall(r"^ExecStart=(.*)$", fenced("ini")[0], re.MULTILINE)
    launchd = plistlib.loads(fenced("xml")[0].encode())["ProgramArguments"]
    return {"cron": shlex.split(cron), "systemd": shlex.split(systemd), "launchd": launchd}


def run_bare(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in an empty environment and another directory, as cron has it."""
    places = {"/opt/memu/.venv/bin/python": sys.executable, "/srv/notes": str(folder)}
    return subprocess.run(
        ["env", "-i", *(places.get(part, part) for part in command)],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    shutil.copy(ROOT / "examples" / "workspace" / "README.md", place / "README.md")
    return place


@pytest.mark.parametrize("scheduler", ["cron", "systemd", "launchd"])
def test_f53_each_entry_works_without_any_environment(scheduler: str, folder: Path) -> None:
    ended = run_bare(commands()[scheduler], folder)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    assert (folder / ".memu" / "workspace-memory" / "MEMORY.md").is_file()


def test_f53_the_windows_entry_names_the_same_command() -> None:
    assert "-m memu sync C:\\notes --quiet" in fenced("bat")[0]


class Slow:
    """An extractor that is still at work when the second tick comes."""

    name = "slow"

    def __init__(self, held: threading.Event, release: threading.Event) -> None:
        self.held, self.release = held, release

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        self.held.set()
        await asyncio.to_thread(self.release.wait, 60)
        return Extraction()


def test_f53_a_second_tick_ends_busy_and_leaves_nothing_running(folder: Path) -> None:
    held, release = threading.Event(), threading.Event()

    async def sync() -> None:
        async with MemoryService.open(folder=folder, encoder=None, extractor=Slow(held, release)) as memu:
            await memu.memorize_workspace(folder)

    thread = threading.Thread(target=lambda: asyncio.run(sync()))
    thread.start()
    assert held.wait(60)
    ended = run_bare(commands()["cron"], folder)
    assert thread.is_alive()
    release.set()
    thread.join(60)
    assert ended.returncode == 3, ended.stderr
    assert "busy" in ended.stderr
    assert run_bare(commands()["cron"], folder).returncode == 0
