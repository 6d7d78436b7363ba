"""Runs ``memu`` in processes of their own without importing it anew for each: one that has done so is forked.

Starting costs about a second of CPU, nearly all of it imports, and there are hundreds of starts. What runs is the
very entry point, in a process with its own folder, environment and streams, which ends like any other. Tests of
how a process starts, or of signals, start one themselves.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

__all__ = ["run_memu", "run_python"]

_SECONDS = 120
_MESSAGE = 1 << 20
_MEMU = "from memu.cli import main\nmain()"
_PRELOADED = (
    "memu.assembly",
    "memu.cli.app",
    "memu.cli.doctor",
    "memu.cli.forget",
    "memu.cli.get",
    "memu.cli.report",
    "memu.cli.search",
    "memu.cli.status",
    "memu.cli.synchronize",
    "memu.ingest.reader",
    "memu.memorize.assign.assignment",
    "memu.memorize.extractors.extractive",
    "memu.memorize.fold.render",
    "memu.memorize.workflows",
    "memu.retrieve.workflow",
    "memu.service",
    "memu.storage.database",
    "sqlalchemy.dialects.sqlite",
)


def run_memu(
    *arguments: str | Path, cwd: Path, environment: Mapping[str, str], user: int | None = None
) -> subprocess.CompletedProcess[str]:
    """``memu`` with these arguments, as ``subprocess.run`` would run it. ``user``: who runs it, if not we.

    Raises:
        subprocess.TimeoutExpired: it ran for two minutes.
    """
    return run_python(_MEMU, *arguments, cwd=cwd, environment=environment, user=user)


def run_python(
    code: str, *arguments: str | Path, cwd: Path, environment: Mapping[str, str], user: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Python code with these arguments, where memu is imported already; else as ``run_memu``."""
    command = ["memu" if code == _MEMU else "-c", *map(str, arguments)]
    wanted = json.dumps([code, command, str(cwd), dict(environment), user]).encode("ascii")
    # Pipes and no files: a process may be forbidden to write any.
    with ThreadPoolExecutor(2) as readers:
        ends = [os.pipe() for _ in range(2)]
        told = [readers.submit(_read, end) for end, _ in ends]
        ended = _ask(wanted, [end for _, end in ends], command)
    return subprocess.CompletedProcess(command, ended, *(each.result() for each in told))


def _read(end: int) -> str:
    with os.fdopen(end, "rb") as stream:
        return stream.read().decode("utf-8")


def _ask(wanted: bytes, streams: list[int], command: list[str]) -> int:
    ours = _start()
    socket.send_fds(ours, [len(wanted).to_bytes(8, "big")], streams)
    # What we still hold would keep the readers waiting.
    for stream in streams:
        os.close(stream)
    ours.sendall(wanted)
    pid = int.from_bytes(_receive(ours, 8), "big")
    try:
        return int.from_bytes(_receive(ours, 8), "big", signed=True)
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        _receive(ours, 8)
        raise subprocess.TimeoutExpired(command, _SECONDS) from None


@cache
def _start() -> socket.socket:
    ours, theirs = socket.socketpair()
    ours.settimeout(_SECONDS)
    warm = subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
    )
    theirs.close()
    atexit.register(_stop, ours, warm)
    return ours


def _stop(ours: socket.socket, warm: subprocess.Popen[bytes]) -> None:
    # It ends when nobody can ask any more.
    ours.close()
    warm.wait()


def _receive(connection: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = connection.recv(min(_MESSAGE, size - len(parts)))
        if not part:
            raise EOFError
        parts += part
    return parts


def _serve(connection: socket.socket) -> str:
    """Fork for each request. Returns in a child, with the code that it is to run, and in no other process."""
    while True:
        size, streams, _, _ = socket.recv_fds(connection, 8, 2)
        if not size:
            raise SystemExit(0)
        code, command, cwd, environment, user = json.loads(_receive(connection, int.from_bytes(size, "big")))
        pid = os.fork()
        if pid == 0:
            connection.close()
            _become(command, cwd, environment, user, streams)
            return str(code)
        for stream in streams:
            os.close(stream)
        connection.sendall(pid.to_bytes(8, "big"))
        _, status = os.waitpid(pid, 0)
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


def _become(
    command: Sequence[str], cwd: str, environment: Mapping[str, str], user: int | None, streams: Sequence[int]
) -> None:
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    sys.argv = list(command)


if __name__ == "__main__":
    from importlib import import_module

    for name in _PRELOADED:
        import_module(name)
    exec(_serve(socket.socket(fileno=int(sys.argv[1]))), {"__name__": "__main__"})
