"""Locks told apart: held now, or left by a holder that was killed; looking never takes one away (P8)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memu.storage.lock import FileLocks, Locks, ProcessLocks

HOLD = """
import sys
from pathlib import Path
from memu.storage.lock import FileLocks
hold = FileLocks(Path(sys.argv[1])).try_hold("a sync")
assert hold is not None
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=["file", "process"])
def locks(request: pytest.FixtureRequest, tmp_path: Path) -> Locks:
    return FileLocks(tmp_path / "s [1].sqlite3") if request.param == "file" else ProcessLocks()


def test_held_is_told_from_free(locks: Locks) -> None:
    assert not locks.is_held("a sync")
    hold = locks.try_hold("a sync")
    assert hold is not None
    assert locks.is_held("a sync")
    assert not locks.is_held("another")
    assert locks.abandoned() == ()
    assert locks.try_hold("a sync") is None
    hold.release()
    assert not locks.is_held("a sync")
    assert locks.abandoned() == ()


def test_p8_a_killed_holders_lock_is_free_and_its_note_is_found(tmp_path: Path) -> None:
    locks = FileLocks(tmp_path / "s [1].sqlite3")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(locks.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    try:
        assert holder.stdout.readline() == "held\n"
        assert locks.is_held("a sync")
        assert locks.abandoned() == ()
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    assert not locks.is_held("a sync")
    [left] = locks.abandoned()
    assert left.file.endswith(".holder")
    assert f"process {holder.pid} since" in left.holder
    hold = locks.try_hold("a sync")
    assert hold is not None
    assert locks.abandoned() == ()
    hold.release()
    assert list(tmp_path.glob("*.holder")) == []
