"""P7, F13: a sync of an unchanged folder opens none of its files; what a sync may open is counted from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

COUNT = int(os.environ.get("MEMU_TEST_FILES", "200"))
PROGRAM = """
import asyncio, json, os, sys
from memu import MemoryService

folder = os.path.realpath(sys.argv[1])
opened = []

def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if path.startswith(folder + os.sep):
            opened.append(os.path.relpath(path, folder))

async def sync(count):
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        report = await memu.memorize_workspace(folder)
        if count:
            sys.addaudithook(hook)
            report = await memu.memorize_workspace(folder)
        return report

asyncio.run(sync(False))
report = asyncio.run(sync(True))
print(json.dumps({"opened": sorted(set(opened)), "unchanged": report.unchanged}))
"""


def test_p7_nothing_is_opened_but_ignore_files_and_memus_own(tmp_path: Path) -> None:
    old = 1_600_000_000
    for number in range(COUNT):
        path = tmp_path / f"room-{number % 7}" / f"{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Item {number}\n\nThe item with the number {number} is kept in a drawer.\n")
        os.utime(path, (old, old))
    (tmp_path / ".gitignore").write_text("*.bak\n")
    (tmp_path / "memu.toml").write_text('ignore = ["drafts/"]\n')
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={**os.environ, "MEMU_CONFIG": ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=200 + COUNT,
    )
    found = json.loads(ended.stdout)
    assert found["unchanged"] == COUNT
    strange = [path for path in found["opened"] if not path.startswith(".memu")]
    assert set(strange) <= {".gitignore", "memu.toml"}
