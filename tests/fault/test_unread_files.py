"""P5: a file that cannot be read is counted once, as failed; plan and sync name the same ones."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.somebody import give, run_commands

pytestmark = [
    pytest.mark.fault,
    pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's"),
]

SYNC = ["sync", ".", "--json"]
PLAN = [*SYNC, "--dry-run"]


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="memu-unread-"))
    (made / "un").mkdir()
    for path in ("a.md", "b.md", "un/m.md"):
        (made / path).write_text(f"# Note {path}\n\nThe pump of {path} was repaired.\n", encoding="utf-8")
    give(made)
    run_commands(made, ["sync", "."])
    yield made
    (made / "un").chmod(0o755)
    shutil.rmtree(made)


def report(folder: Path, *commands: list[str]) -> list[dict[str, Any]]:
    return [json.loads(ended.out) for ended in run_commands(folder, *(commands or [SYNC]))]


def counts(told: dict[str, Any]) -> tuple[Any, ...]:
    return told["added"], told["modified"], [each["path"] for each in told["failed"]], told["unchanged"]


@pytest.mark.parametrize("edited", [True, False])
def test_p5_a_known_file_that_cannot_be_read_is_failed_alone_until_it_is_read_again(
    folder: Path, edited: bool
) -> None:
    note = folder / "un" / "m.md"
    if edited:
        note.write_text("# Note\n\nThe pump was sold.\n", encoding="utf-8")
        os.utime(note, (1_700_000_000, 1_700_000_000))
    note.chmod(0o000)
    # Read, tried again at once, then left to wait: each time it is the one that failed.
    for told in report(folder, SYNC, SYNC, SYNC, PLAN):
        assert counts(told) == ([], [], ["un/m.md"], 2)
    plan, told = report(folder, PLAN, SYNC)
    assert plan["failed"] == told["failed"]
    assert plan["retried"] == []
    note.chmod(0o644)
    plan, told, idle = report(folder, PLAN, SYNC, SYNC)
    assert counts(plan) == counts(told) == ([], ["un/m.md"], [], 2)
    assert counts(idle) == ([], [], [], 3)


def test_p5_a_new_file_that_cannot_be_read_is_added_when_it_is_read(folder: Path) -> None:
    note = folder / "new.md"
    note.write_text("# New\n\nThe valve was sold.\n", encoding="utf-8")
    give(folder)
    note.chmod(0o000)
    assert [counts(told) for told in report(folder, SYNC, SYNC)] == [([], [], ["new.md"], 3)] * 2
    note.chmod(0o644)
    assert counts(report(folder)[0]) == (["new.md"], [], [], 3)


def test_p5_a_plan_names_what_lies_in_a_folder_that_cannot_be_listed_as_the_sync_does(folder: Path) -> None:
    (folder / "un").chmod(0o000)
    plan, told, later = report(folder, PLAN, SYNC, PLAN)
    assert [each["path"] for each in told["failed"]] == ["un/", "un/m.md"]
    assert plan["failed"] == told["failed"] == later["failed"]
    assert plan["unchanged"] == told["unchanged"] == later["unchanged"] == 2


def edit(note: Path) -> Path:
    note.write_text("# Note\n\nThe pump was sold for a song.\n", encoding="utf-8")
    os.utime(note, (1_700_000_000, 1_700_000_000))
    return note


def rename(note: Path) -> Path:
    return note.rename(note.with_name("named.md"))


def replace(note: Path) -> Path:
    return edit(rename(note))


def add(note: Path) -> Path:
    return edit(note.with_name("new.md"))


@pytest.mark.parametrize("stands", [False, True], ids=["first seen", "standing as failed"])
@pytest.mark.parametrize("change", [edit, rename, replace, add])
def test_p5_a_plan_tries_to_open_what_the_sync_would_read(
    folder: Path, change: Callable[[Path], Path], stands: bool
) -> None:
    note = folder / "un" / "m.md"
    if stands:
        edit(note).chmod(0o000)
        report(folder, SYNC)
    note = change(note)
    give(folder)
    note.chmod(0o000)
    retried = ["--retry-failed"]
    planned, done, again, tried = run_commands(folder, PLAN, SYNC, [*PLAN, *retried], [*SYNC, *retried])
    for one, other in ((planned, done), (again, tried)):
        plan, told = json.loads(one.out), json.loads(other.out)
        assert (one.code, other.code) == (1, 1)
        assert f"un/{note.name}" in {each["path"] for each in plan["failed"]}
        for name in ("added", "modified", "moved", "deleted", "failed", "unchanged"):
            assert plan[name] == told[name], name
        assert plan["retried"] == []
        assert plan["encoder_texts"] == 0
