"""Commands run by somebody who is not root: root may read and write whatever the modes of files say."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.warm_start import run_python

__all__ = ["NOBODY", "Ended", "give", "run_as_somebody", "run_commands"]

NOBODY = 65534
_COMMANDS = """
import contextlib, io, json, sys
from memu.cli.app import run
if sys.argv[1] != "0":
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
ended = []
for command in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(command)
    ended.append([command, code, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""


@dataclass(frozen=True)
class Ended:
    """How one command ended."""

    command: list[str]
    code: int
    out: str
    err: str


def give(folder: Path) -> None:
    """Let that somebody own the folder and what is in it."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)


def run_as_somebody(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python code with these arguments, in the folder."""
    user = NOBODY if os.geteuid() == 0 else None
    environment = {"MEMU_ENCODER": "none", "MEMU_CONFIG": ""}
    return run_python(code, *arguments, cwd=folder, environment=environment, user=user)


def run_commands(folder: Path, *commands: Sequence[str], largest_file: int = 0) -> list[Ended]:
    """memu's commands one after another, in one process. ``largest_file``: bytes, 0 for no limit."""
    wanted = json.dumps([list(command) for command in commands])
    ended = run_as_somebody(folder, _COMMANDS, str(largest_file), wanted)
    assert ended.returncode == 0, ended.stderr
    return [Ended(*each) for each in json.loads(ended.stdout)]
