"""ADR 4, P10: whatever is done in a copy of a folder that holds its store, the original stays as it is."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.amounts import crossed
from support.warm_start import run_memu

pytestmark = pytest.mark.e2e

FILES = {"pump.md": "The pump was repaired in March.", "valve.md": "The valve was sold."}


def memu(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": ""}
    return run_memu(*arguments, cwd=folder, environment=environment)


@pytest.fixture
def original(tmp_path: Path) -> Path:
    folder = tmp_path / "original"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    assert memu(folder, "sync", ".").returncode == 0
    return folder


@pytest.fixture
def copy(original: Path) -> Path:
    folder = shutil.copytree(original, original.with_name("copy"))
    (folder / "new.md").write_text("# New\n\nThe copy has a sentence of its own.\n", encoding="utf-8")
    return folder


def state(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, but for the store's, which a look may checkpoint."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".sqlite3" not in path.name
    }


def tree(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((folder / ".memu").rglob("*.md")))


VERBS = {
    "export": ["export"],
    "forget a match": ["forget", "--match", "pump"],
    "forget a source": ["forget", "pump.md"],
    "forget all": ["forget", "--all", "--yes"],
    "remove the workspace": ["workspace", "remove", "{root}", "--yes"],
    "doctor": ["doctor"],
}


@pytest.mark.parametrize(("verb", "synced"), crossed(VERBS, [True, False]))
def test_p10_a_verb_in_a_copy_touches_the_copy_alone(original: Path, copy: Path, verb: str, synced: bool) -> None:
    before = state(original)
    if synced:
        assert memu(copy, "sync", ".").returncode == 0
        assert "a sentence of its own" in tree(copy)
    root = copy if synced else original
    ended = memu(copy, *(part.format(root=root) for part in VERBS[verb]))
    assert ended.returncode in (0, 1), ended.stderr
    assert state(original) == before
    if "forget" in verb or "remove" in verb:
        assert "pump was repaired" not in tree(copy)
    assert memu(original, "sync", ".").returncode == 0
    assert state(original) == before


def test_what_doctor_advises_in_a_synced_copy_is_nothing(original: Path, copy: Path) -> None:
    memu(copy, "sync", ".")
    ended = memu(copy, "doctor", "--json")
    assert (ended.returncode, json.loads(ended.stdout)["findings"]) == (0, [])


def test_what_doctor_advises_in_a_copy_that_was_not_synced_leaves_the_original_alone(
    original: Path, copy: Path
) -> None:
    before = state(original)
    findings = json.loads(memu(copy, "doctor", "--json").stdout)["findings"]
    for finding in findings:
        for command in finding["remedy"].split("`")[1::2]:
            assert memu(copy, *shlex.split(command)[1:]).returncode == 0, command
    assert state(original) == before


def test_a_folder_that_moved_knows_nothing_more_of_where_it_was(original: Path) -> None:
    moved = original.rename(original.with_name("moved"))
    assert memu(moved, "sync", ".").returncode == 0
    assert memu(moved, "doctor").returncode == 0
    # Somebody makes another one there.
    original.mkdir()
    (original / "a.md").write_text("# A\n\nSomething else.\n", encoding="utf-8")
    assert memu(original, "sync", ".").returncode == 0
    before = state(original)
    assert memu(moved, "forget", "--all", "--yes").returncode == 0
    assert state(original) == before
