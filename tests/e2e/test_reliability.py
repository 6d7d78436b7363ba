"""The demonstration in docs/reliability.md, run as it stands: kill, race, failure, delete, forget."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def blocks() -> list[list[tuple[str, list[str]]]]:
    """Each console block as commands with the lines that are to follow them."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        commands: list[tuple[str, list[str]]] = []
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
        found.append(commands)
    return found


@pytest.mark.skipif(shutil.which("bash") is None, reason="the demonstration is for a shell")
def test_what_the_page_shows_is_what_is_seen(tmp_path: Path) -> None:
    environment = {**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": "", "HOME": str(tmp_path)}
    prelude = f'memu() {{ "{sys.executable}" -m memu "$@"; }}\n'
    count = 0
    for commands in blocks():
        for command, expected in commands:
            # An exit code is asked for by `echo $?`; the job's number and the shell's own remarks are no output.
            ended = subprocess.run(
                ["bash", "-c", prelude + command],
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            seen = ended.stdout.splitlines()
            if "…" in expected:
                tail = expected[expected.index("…") + 1 :]
                assert seen[len(seen) - len(tail) :] == tail, (command, seen, ended.stderr)
            else:
                assert seen == expected, (command, ended.stderr)
            count += 1
    assert count > 15
