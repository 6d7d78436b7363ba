"""Which process this is, in terms by which another on the same host can tell whether it still lives."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["ProcessMark", "find_this_process", "is_gone"]

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")
_PROCESSES = Path("/proc")
# Of /proc/PID/stat, counted behind the name in brackets: state is field 3, the start time 22.
_STATE, _STARTED = 0, 19
_DEAD = ("Z", "X", "x")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMark:
    """``boot_id``: one run of one host, and there one numbering of processes (a container has its own).

    ``started`` tells the process from a later one that got its number; "" where the system does not say.
    """

    boot_id: str
    pid: int
    started: str


def find_this_process() -> ProcessMark:
    """The mark of the process that asks."""
    pid = os.getpid()
    return ProcessMark(boot_id=_find_boot(), pid=pid, started=_find_start(pid) or "")


def is_gone(mark: ProcessMark, processes: Path = _PROCESSES) -> bool:
    """Whether that process is known to be dead. Of another host's nothing is known."""
    if mark.boot_id != _find_boot():
        return False
    if not _is_there(mark.pid):
        return True
    if _NAMESPACE.exists() and not (processes / str(mark.pid)).exists():
        # It ended meanwhile; or such a host shows people only their own processes.
        return not _is_there(mark.pid)
    return bool(mark.started) and _find_start(mark.pid) != mark.started


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # Somebody else's.
        pass
    return True


@cache
def _find_boot() -> str:
    try:
        namespace = _NAMESPACE.readlink().name
        return f"{_BOOT_ID.read_text(encoding='ascii').strip()} {namespace}"[:64]
    except OSError:
        return socket.gethostname()[:64]


def _find_start(pid: int) -> str | None:
    """When the process of this number started, in whatever terms the system has; None if it is dead."""
    try:
        # The name may hold anything, brackets too.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return None if _NAMESPACE.exists() else _ask_ps(pid)
    except ProcessLookupError:
        # It ended between being opened and being read.
        return None
    return None if fields[_STATE] in _DEAD else fields[_STARTED]


def _ask_ps(pid: int) -> str | None:
    with suppress(OSError, subprocess.SubprocessError):
        asked = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
        return asked.stdout.strip() or None
    return None
