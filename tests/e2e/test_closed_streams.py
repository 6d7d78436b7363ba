"""P5: standard streams that a caller has closed change no exit code, and nothing is written in their place."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams"),
]

CLOSED = ["<&-", ">&- 2>&-", "<&- >&- 2>&-"]
COMMANDS = {
    "sync work": 0,
    "sync work --json": 0,
    "search pump --db sqlite:///work/.memu/memu.sqlite3": 0,
    "status --db sqlite:///work/.memu/memu.sqlite3": 0,
    "sync nowhere": 4,
    "nonsense": 2,
}


@pytest.mark.parametrize("streams", CLOSED)
def test_p5_closed_streams_change_no_exit_code(tmp_path: Path, streams: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.md").write_text("# A\n\nThe pump was repaired.\n", encoding="utf-8")
    for command, code in COMMANDS.items():
        ended = subprocess.run(
            ["/bin/sh", "-c", f"'{sys.executable}' -m memu {command} {streams}"],
            cwd=tmp_path,
            env={**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": ""},
            capture_output=True,
            check=False,
        )
        assert ended.returncode == code, (command, ended.stderr)
        assert b"Traceback" not in ended.stderr
    with closing(sqlite3.connect(tmp_path / "work" / ".memu" / "memu.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
