"""Which processes are known to be dead."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from memu.storage.process import ProcessMark, find_this_process, is_gone

pytestmark = pytest.mark.unit

MARK = """
import sys
from memu.storage.process import find_this_process
mark = find_this_process()
print(mark.boot_id, mark.pid, mark.started, sep="\\n", flush=True)
sys.stdin.read()
"""


def test_this_process_lives():
    me = find_this_process()
    assert me == find_this_process()
    assert me.started
    assert len(me.boot_id) <= 64
    assert not is_gone(me)


def test_a_process_is_gone_when_it_was_killed_even_if_nobody_looked_after_it():
    child = subprocess.Popen(
        [sys.executable, "-c", MARK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert child.stdout is not None
    boot, pid, started = (child.stdout.readline().rstrip("\n") for _ in range(3))
    mark = ProcessMark(boot_id=boot, pid=int(pid), started=started)
    assert boot == find_this_process().boot_id
    assert not is_gone(mark)
    child.kill()
    # Not waited for: its number still stands in the table of processes.
    child.stdout.read()
    for _ in range(1000):
        if is_gone(mark):
            break
    assert is_gone(mark)
    child.wait()
    assert is_gone(mark)
    child.stdin.close()
    child.stdout.close()


def test_of_another_host_nothing_is_known():
    assert not is_gone(ProcessMark(boot_id="another", pid=1, started="1"))


def test_a_number_that_another_process_got_is_not_it():
    assert is_gone(replace(find_this_process(), started="1"))


def test_where_the_system_does_not_say_when_it_started_the_number_has_to_do():
    assert not is_gone(replace(find_this_process(), started=""))
    assert is_gone(replace(find_this_process(), started="", pid=4_194_305))


def test_a_process_that_ends_while_it_is_looked_at_is_gone():
    """What is opened of a living process cannot be read when it has ended meanwhile."""
    for _ in range(40):
        child = subprocess.Popen(["sleep", "0.01"])
        mark = replace(find_this_process(), pid=child.pid, started="1")
        reaper = threading.Thread(target=child.wait)
        reaper.start()
        while reaper.is_alive():
            assert is_gone(mark)
        reaper.join()


def test_p8_a_process_that_the_system_hides_is_not_gone(tmp_path: Path):
    """Where people see only their own processes; another user's lock is not taken from under it."""
    assert not is_gone(replace(find_this_process(), started="1"), processes=tmp_path)
