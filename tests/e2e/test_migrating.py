"""docs/migrating.md is run as it stands, from its first command to its last."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.legacy import copy_sqlite

pytestmark = pytest.mark.e2e

PAGE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
STEPS = re.findall(r"<!-- test: run -->\n```(bash|python)\n(.*?)```", PAGE, re.DOTALL)


def run_step(language: str, text: str, folder: Path) -> str:
    command = ["bash", "-euo", "pipefail", "-c", text] if language == "bash" else [sys.executable, "-c", text]
    # The `memu` of this installation, without an encoder: words alone answer, and each start is quick.
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": place, "MEMU_ENCODER": "none", "COLUMNS": "100"}
    ended = subprocess.run(
        command, cwd=folder, env=given, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert ended.returncode == 0, f"{text}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def test_the_page_is_true_step_by_step(tmp_path: Path) -> None:
    old = copy_sqlite(tmp_path)
    before = old.read_bytes()
    told = [run_step(language, text, tmp_path) for language, text in STEPS]
    first, read, again, python = told
    shown = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert shown[1] in first
    assert read.count("Rollback uses the blue stack.") >= 3
    assert "rollback uses the blue stack" in read
    assert "as they were: 24" in again
    assert "2 5 14" not in python
    assert "1 5 14" in python
    assert "skill/restore-backup" in python
    assert old.read_bytes() == before
    # Alice's tree and Bob's, neither with a word of the other's ids.
    trees = {tree.name: tree for tree in (tmp_path / "memory").iterdir() if tree.is_dir()}
    assert trees.keys() == {"user-id-alice", "user-id-bob"}
