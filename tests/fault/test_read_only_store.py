"""P12: a store that may be read but not written answers searches, and refuses to be written in words."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.warm_start import run_memu

from memu import MemoryService

pytestmark = pytest.mark.fault

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A synced folder that everybody may reach, closed again for whoever the reader is."""
    place = Path(tempfile.mkdtemp(prefix="memu-read-only-"))
    place.chmod(0o755)
    (place / "pump.md").write_text("# Pump\n\nThe pump was repaired on 2 March 2024.\n", encoding="utf-8")
    yield place
    for path in (place, *place.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(place)


def close(folder: Path, mode: int) -> None:
    """Take the right to write the files, and the folders, from everybody."""
    for path in folder.rglob("*"):
        path.chmod(mode if path.is_dir() else 0o444)


def run_as_reader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Root may write whatever the modes say.
    user = NOBODY if os.geteuid() == 0 else None
    return run_memu(*arguments, cwd=folder, environment={"MEMU_ENCODER": "none", "MEMU_CONFIG": ""}, user=user)


@pytest.mark.parametrize("mode", [0o555, 0o777], ids=["closed folder", "open folder"])
@pytest.mark.parametrize("log", [False, True], ids=["at rest", "with a log"])
async def test_p12_a_store_that_may_only_be_read_answers(folder: Path, mode: int, log: bool) -> None:
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        await memu.memorize_workspace(folder)
    with closing(sqlite3.connect(folder / ".memu" / "memu.sqlite3")) as writer:
        if log:
            # An open connection keeps the log and its index beside the file.
            writer.execute("UPDATE workspace SET assigned = assigned")
            writer.commit()
            assert (folder / ".memu" / "memu.sqlite3-wal").exists()
        close(folder, mode)
        for command in (["search", "pump repaired"], ["get", "pump.md"], ["get", "--entries"], ["status"]):
            ended = run_as_reader(folder, *command)
            assert ended.returncode == 0, ended.stderr
            assert ended.stdout.strip() not in ("", "Nothing found."), command
        refused = run_as_reader(folder, "forget", "pump.md")
        assert refused.returncode in (2, 4)
        assert "Traceback" not in refused.stderr
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        assert [entry.text for entry in await memu.list_entries()] == ["The pump was repaired on 2 March 2024."]
