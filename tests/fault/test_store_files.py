"""P5, P12: the files beside a store, left behind closed or without room: reads answer, writers say why."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.somebody import NOBODY, Ended, give, run_as_somebody, run_commands

pytestmark = [
    pytest.mark.fault,
    pytest.mark.skipif(sys.platform == "win32", reason="modes and limits are POSIX's"),
]

STORE = ".memu/memu.sqlite3"
READS = [
    ["search", "pump repaired"],
    ["get", "pump.md"],
    ["get", "--entries"],
    ["workspace", "list"],
    ["db", "check"],
    ["sync", ".", "--dry-run"],
]
WRITES = [["sync", "."], ["forget", "pump.md"], ["forget", "--match", "pump", "--purge"]]
HEALTHY = [["sync", "."], ["status"], ["doctor"]]


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="memu-store-files-"))
    lay(made)
    yield made
    shutil.rmtree(made)


def lay(folder: Path) -> None:
    (folder / "pump.md").write_text("# Pump\n\nThe pump was repaired on 2 March 2024.\n", encoding="utf-8")
    give(folder)


def codes(ended: list[Ended]) -> list[int]:
    return [each.code for each in ended]


@pytest.mark.parametrize(
    ("reader", "writer"),
    [(READS[0], WRITES[0]), (READS[1], WRITES[1]), (["status"], WRITES[2]), (["doctor"], WRITES[0])],
)
def test_p5_a_moment_of_a_read_only_store_keeps_nobody_from_writing_later(
    folder: Path, reader: list[str], writer: list[str]
) -> None:
    run_commands(folder, ["sync", "."])
    (folder / STORE).chmod(0o444)
    assert codes(run_commands(folder, reader)) == [0]
    (folder / STORE).chmod(0o600)
    (folder / "valve.md").write_text("# Valve\n\nThe valve was sold.\n", encoding="utf-8")
    ended = run_commands(folder, writer, *HEALTHY)
    assert codes(ended) == [0] * 4, ended


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_p5_anothers_closed_file_beside_the_store_is_named_by_all_who_are_asked(folder: Path) -> None:
    run_commands(folder, ["sync", "."])
    (folder / STORE).chmod(0o444)
    run_commands(folder, ["search", "pump"])
    (folder / STORE).chmod(0o600)
    beside = folder / f"{STORE}-shm"
    os.chown(beside, 0, 0)
    beside.chmod(0o444)
    for ended in run_commands(folder, *WRITES):
        assert (ended.code, str(beside) in ended.err) == (4, True), ended
    search, status, doctor = run_commands(folder, ["search", "pump"], ["status", "--json"], ["doctor"])
    (one,) = json.loads(status.out)["workspaces"]
    assert (search.code, status.code, one["ok"], doctor.code) == (0, 1, False, 1)
    assert str(beside) in one["blocked"]
    assert str(beside) in doctor.out
    os.chown(beside, NOBODY, NOBODY)
    assert codes(run_commands(folder, *HEALTHY)) == [0, 0, 0]


@contextmanager
def tiny_disk(size: str) -> Iterator[Path]:
    """A folder on a disk of its own, to be synced."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a file system")
    place = Path(tempfile.mkdtemp(prefix="memu-tiny-disk-"))
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=False)
    if made.returncode != 0:
        place.rmdir()
        pytest.skip("no file system may be mounted here")
    try:
        (place / "work").mkdir()
        lay(place / "work")
        yield place / "work"
    finally:
        subprocess.run(["umount", place], check=True)
        place.rmdir()


def fill(folder: Path) -> Path:
    """Leave no room on its disk."""
    filler = folder.with_name("filler")
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            return filler
    raise AssertionError("it has no end")


def leave_a_log(folder: Path) -> None:
    """As a process that was killed leaves it, and without the index, as a machine that was."""
    code = (
        f"import os, sqlite3; c = sqlite3.connect('{STORE}'); c.execute('UPDATE workspace SET name = name');"
        "c.execute('CREATE TABLE x (y)'); c.execute('DROP TABLE x'); c.commit(); os._exit(0)"
    )
    run_as_somebody(folder, code)
    assert (folder / f"{STORE}-wal").stat().st_size > 0
    (folder / f"{STORE}-shm").unlink()


def check_reads_and_writes(folder: Path, *, says: str, largest_file: int = 0) -> None:
    for ended in run_commands(folder, *READS, largest_file=largest_file):
        assert ended.code == 0, ended
        assert ended.out.strip() not in ("", "Nothing found."), ended
    for ended in run_commands(folder, *WRITES, largest_file=largest_file):
        assert (ended.code, says in ended.err, "Errno" in ended.err) == (4, True, False), ended
        assert "Traceback" not in ended.err
    for ended in run_commands(folder, *WRITES[1:], largest_file=largest_file):
        assert "Nothing was forgotten." in ended.err, ended


@pytest.mark.parametrize("log", [False, True], ids=["at rest", "with a log"])
def test_p12_on_a_full_disk_reads_answer_and_all_say_that_it_is_full(log: bool) -> None:
    with tiny_disk("8m") as folder:
        run_commands(folder, ["sync", "."])
        if log:
            leave_a_log(folder)
        filler = fill(folder)
        check_reads_and_writes(folder, says="the disk is full")
        status, doctor = run_commands(folder, ["status", "--json"], ["doctor"])
        assert json.loads(status.out)["workspaces"][0]["blocked"] == "the disk is full"
        assert (status.code, doctor.code) == (1, 1)
        assert "the disk is full" in doctor.out
        filler.unlink()
        assert codes(run_commands(folder, *HEALTHY)) == [0, 0, 0]


@pytest.mark.parametrize("log", [False, True], ids=["at rest", "with a log"])
def test_p5_on_a_disk_mounted_read_only_nothing_says_that_all_is_well(log: bool) -> None:
    """P5, P12: as the system mounts a failing disk; reads answer, and a monitor hears that no sync can write."""
    with tiny_disk("8m") as folder:
        run_commands(folder, ["sync", "."])
        if log:
            leave_a_log(folder)
        remount(folder.parent, "ro")
        try:
            sync, status, doctor = run_commands(folder, ["sync", "."], ["status", "--json"], ["doctor"])
            (search,) = run_commands(folder, ["search", "pump repaired"])
        finally:
            remount(folder.parent, "rw")
        (one,) = json.loads(status.out)["workspaces"]
        assert codes([sync, status, doctor, search]) == [4, 1, 1, 0]
        assert (one["ok"], one["blocked"]) == (False, "its disk is mounted read-only")
        assert "its disk is mounted read-only" in doctor.out
        assert codes(run_commands(folder, *HEALTHY)) == [0, 0, 0]


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", place], check=True)


@pytest.mark.parametrize("log", [False, True], ids=["at rest", "with a log"])
def test_p12_where_no_file_may_grow_reads_answer_and_writers_blame_the_disk(folder: Path, log: bool) -> None:
    run_commands(folder, ["sync", "."])
    if log:
        leave_a_log(folder)
    check_reads_and_writes(folder, says="the disk", largest_file=1000)
    assert codes(run_commands(folder, *HEALTHY)) == [0, 0, 0]


@pytest.mark.parametrize("size", ["100k", "300k", "400k"])
def test_p5_after_a_first_sync_on_a_disk_too_small_nothing_says_that_all_is_well(size: str) -> None:
    with tiny_disk(size) as folder:
        synced, status = run_commands(folder, ["sync", "."], ["status"])
        assert (synced.code, "full" in synced.err) == (4, True), synced
        assert status.code != 0
