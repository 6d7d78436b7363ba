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
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NoReturn

__all__ = ["Started", "run_memu", "run_python", "start_memu"]

_SECONDS = 240
_ONE_AT_A_TIME = Lock()
_MESSAGE = 1 << 20
_MEMU = "from memu.cli import main\nmain()"
# The interpreter's own modules may lie where only root reads: what somebody else needs of them, beside memu's.
_OF_THE_INTERPRETER = ("colorsys", "email.parser", "importlib.readers", "resource", "rich.console", "rich.table")
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
        subprocess.TimeoutExpired: it ran for four minutes.
    """
    return run_python(_MEMU, *arguments, cwd=cwd, environment=environment, user=user)


def run_python(
    code: str, *arguments: str | Path, cwd: Path, environment: Mapping[str, str], user: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Python code with these arguments, where memu is imported already; else as ``run_memu``."""
    command = ["memu" if code == _MEMU else "-c", *map(str, arguments)]
    return _start_process(code, command, cwd, environment, user).finish()


def start_memu(*arguments: str | Path, cwd: Path, environment: Mapping[str, str]) -> Started:
    """``memu`` with these arguments, which goes on beside us."""
    return _start_process(_MEMU, ["memu", *map(str, arguments)], cwd, environment, None)


class Started:
    """A process under way. It has to be finished, killed or not."""

    def __init__(self, command: list[str], report: socket.socket, streams: Sequence[int]) -> None:
        self._command, self._report = command, report
        # Read while it runs, or it would wait for room to write. Pipes and no files: it may be forbidden any.
        self._readers = ThreadPoolExecutor(len(streams))
        self._told = [self._readers.submit(_read, end) for end in streams]
        self.pid = int.from_bytes(_receive(report, 8), "big")

    def kill(self) -> None:
        """End it at once, as a system without memory would. One that ended already is left alone."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def finish(self) -> subprocess.CompletedProcess[str]:
        """Wait until it ends.

        Raises:
            subprocess.TimeoutExpired: it ran for too long, and was killed.
        """
        try:
            code = int.from_bytes(_receive(self._report, 8), "big", signed=True)
        except TimeoutError:
            self.kill()
            _receive(self._report, 8)
            raise subprocess.TimeoutExpired(self._command, _SECONDS) from None
        finally:
            self._report.close()
            self._readers.shutdown()
        return subprocess.CompletedProcess(self._command, code, *(each.result() for each in self._told))


def _start_process(
    code: str, command: list[str], cwd: Path, environment: Mapping[str, str], user: int | None
) -> Started:
    wanted = json.dumps([code, command, str(cwd), dict(environment), user]).encode("ascii")
    ends = [os.pipe() for _ in range(2)]
    ours, theirs = socket.socketpair()
    ours.settimeout(_SECONDS)
    handed = [*(writing for _, writing in ends), theirs.fileno()]
    warm = _start()
    with _ONE_AT_A_TIME:
        socket.send_fds(warm, [len(wanted).to_bytes(8, "big")], handed)
        warm.sendall(wanted)
    # What we still hold would keep the readers waiting.
    theirs.close()
    for _, writing in ends:
        os.close(writing)
    return Started(command, ours, [reading for reading, _ in ends])


def _read(end: int) -> str:
    with os.fdopen(end, "rb") as stream:
        return stream.read().decode("utf-8")


@cache
def _start() -> socket.socket:
    ours, theirs = socket.socketpair()
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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        size, handed, _, _ = socket.recv_fds(connection, 8, 3)
        if not size:
            raise SystemExit(0)
        code, command, cwd, environment, user = json.loads(_receive(connection, int.from_bytes(size, "big")))
        # One process waits for each that runs, so that many may run at once.
        if os.fork() == 0:
            connection.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            *streams, report = handed
            pid = os.fork()
            if pid == 0:
                os.close(report)
                _become(command, cwd, environment, user, streams)
                return str(code)
            _report(pid, report, streams)
        for end in handed:
            os.close(end)


def _report(pid: int, report: int, streams: Sequence[int]) -> NoReturn:
    """Say the process's number, wait for its end and say its exit code."""
    for stream in streams:
        os.close(stream)
    os.write(report, pid.to_bytes(8, "big"))
    _, status = os.waitpid(pid, 0)
    os.write(report, os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))
    os._exit(0)


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

    for name in (*_PRELOADED, *_OF_THE_INTERPRETER):
        import_module(name)
    program = _serve(socket.socket(fileno=int(sys.argv[1])))
    # Not with what this module asks of the compiler.
    exec(compile(program, "<string>", "exec", dont_inherit=True), {"__name__": "__main__"})
