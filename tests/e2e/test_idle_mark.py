"""P7: a quiet sync ends before it opens the store where nothing moved; P3: whatever moved leads to a whole one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e.conftest import Memu
from support.amounts import some

pytestmark = pytest.mark.e2e

OLD = 1_600_000_000
SYNC = ("sync", "notes", "--quiet")


@dataclass(frozen=True)
class Place:
    """A folder of notes whose last sync had nothing to do."""

    memu: Memu
    notes: Path

    @property
    def mark(self) -> Path:
        return self.notes / ".memu" / "idle.json"

    @property
    def tree(self) -> Path:
        return next((self.notes / ".memu").glob("*-memory"))

    def runs(self) -> int:
        with closing(sqlite3.connect(self.notes / ".memu" / "memu.sqlite3")) as store:
            (count,) = store.execute("SELECT count(*) FROM sync_run").fetchone()
            return int(count)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; each test takes a copy with the same times, and has it settle."""
    folder = tmp_path_factory.mktemp("settled")
    notes = folder / "notes"
    for name in ("bridge", "ferry", "inner/tunnel"):
        path = notes / f"{name}.md"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"# {name.title()}\n\nThe {name} was opened by the mayor in the spring of 1931.\n")
        os.utime(path, (OLD, OLD))
    (notes / "draft.tmp.md").write_text("# Draft\n\nThe draft of the ferry's timetable lies here for a while.\n")
    os.utime(notes / "draft.tmp.md", (OLD, OLD))
    (notes / ".gitignore").write_text("*.tmp.md\n")
    assert Memu(folder)(*SYNC).code == 0
    return folder


@pytest.fixture
def place(settled: Path, tmp_path: Path) -> Place:
    shutil.copytree(settled, tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.toml").touch()
    place = Place(Memu(tmp_path, {"MEMU_CONFIG": str(tmp_path / "config.toml")}), tmp_path / "notes")
    for _ in range(2):
        # The first finds the folder copied; the second finds nothing to do.
        assert place.memu(*SYNC).code == 0
        # Longer than the tick that the time of a change may lie behind.
        time.sleep(0.15)
    assert place.mark.exists()
    return place


def test_p7_the_next_quiet_sync_writes_nothing_to_the_store(place: Place) -> None:
    store = place.notes / ".memu" / "memu.sqlite3"
    before, runs = store.stat(), place.runs()
    for _ in range(2):
        ended = place.memu(*SYNC)
        assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert place.runs() == runs
    assert store.stat().st_mtime_ns == before.st_mtime_ns


def test_the_status_says_that_it_was_looked_at_again(place: Place) -> None:
    (before,) = json.loads(place.memu("status", "--json", folder=place.notes).out)["workspaces"]
    os.utime(place.mark, (OLD, OLD))
    assert place.memu(*SYNC).code == 0
    (after,) = json.loads(place.memu("status", "--json", folder=place.notes).out)["workspaces"]
    assert after["last_run"] == before["last_run"]
    assert after["confirmed_at"] > after["last_run"]["ended_at"]
    assert "nothing had moved" in place.memu("status", folder=place.notes).out


@pytest.mark.parametrize("options", [(), ("--json", "--quiet"), ("--retry-failed", "--quiet")], ids=str)
def test_who_wants_to_see_something_gets_a_whole_sync(place: Place, options: tuple[str, ...]) -> None:
    runs = place.runs()
    assert place.memu("sync", "notes", *options).code == 0
    assert place.runs() == runs + 1


def _write(name: str, text: str) -> Callable[[Place], None]:
    return lambda place: _keep_time(place.notes / name, text)


def _keep_time(path: Path, text: str) -> None:
    path.write_text(text)
    os.utime(path, (OLD, OLD))


def _swap_the_ferry(place: Place) -> None:
    path = place.notes / "ferry.md"
    _keep_time(path, path.read_text().replace("1931", "1913"))


def _rename(place: Place) -> None:
    (place.notes / "ferry.md").rename(place.notes / "boat.md")


def _move_folder(place: Place) -> None:
    (place.notes / "inner").rename(place.notes / "outer")


def _edit_page(place: Place) -> None:
    page = next(place.tree.glob("memory/*.md"))
    page.write_text(page.read_text() + "\nBy hand.\n")


def _mark_other(place: Place, **fields: object) -> None:
    place.mark.write_text(json.dumps({**json.loads(place.mark.read_text()), **fields}))


MOVED: dict[str, Callable[[Place], None]] = {
    "a new file": _write("pier.md", "# Pier\n\nThe pier was closed by the harbour office in 1950.\n"),
    "a file of the same size and time": _swap_the_ferry,
    "a file gone": lambda place: (place.notes / "ferry.md").unlink(),
    "a file renamed": _rename,
    "a folder renamed": _move_folder,
    "a file touched": lambda place: (place.notes / "ferry.md").touch(),
    "an ignore rule gone": lambda place: (place.notes / ".gitignore").unlink(),
    "an ignore rule new": lambda place: (place.notes / ".memuignore").write_text("ferry.md\n") and None,
    "another memu.toml": lambda place: (place.notes / "memu.toml").write_text('untrusted = ["*"]\n') and None,
    "a page edited": _edit_page,
    "a page gone": lambda place: next(place.tree.glob("memory/*.md")).unlink(),
    "a tree gone": lambda place: shutil.rmtree(place.tree),
    "the user's config file": lambda place: (
        (place.memu.folder / "config.toml").write_text("max_file_bytes = 9999\n") and None
    ),
    "a mark torn": lambda place: place.mark.write_text(place.mark.read_text()[:40]) and None,
    "a mark of another form": lambda place: place.mark.write_text("[1]") and None,
    "a mark of yesterday": lambda place: _mark_other(place, looked_ns=OLD * 10**9),
    "a mark of tomorrow": lambda place: _mark_other(place, looked_ns=9 * 10**18),
}


@pytest.mark.parametrize("move", some(MOVED.values()), ids=some(MOVED))
def test_p3_whatever_moved_leads_to_a_whole_sync(place: Place, move: Callable[[Place], None]) -> None:
    runs = place.runs()
    move(place)
    assert place.memu(*SYNC).code == 0
    assert place.runs() == runs + 1


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (("--user", "user_id=ann"), {}),
        (("--out", "elsewhere"), {}),
        (("--db", "sqlite:///notes/.memu/memu.sqlite3"), {}),
        ((), {"MEMU_MAX_FILE_BYTES": "5000"}),
        ((), {"MEMU_DB": "sqlite:///elsewhere.sqlite3"}),
    ],
    ids=str,
)
def test_p6_another_question_is_no_question_asked_before(
    place: Place, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    runs = place.runs()
    assert place.memu(*SYNC, *options, **environment).code == 0
    assert place.runs() == runs + 1 or (place.memu.folder / "elsewhere.sqlite3").exists()


def test_p1_what_another_command_wrote_is_seen(place: Place) -> None:
    assert place.memu("forget", "ferry.md", folder=place.notes).code == 0
    runs = place.runs()
    assert place.memu(*SYNC).code == 0
    assert place.runs() == runs + 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_p5_a_closed_folder_is_no_idle_one(place: Place) -> None:
    runs = place.runs()
    (place.notes / "inner").chmod(0)
    try:
        place.memu(*SYNC)
    finally:
        (place.notes / "inner").chmod(0o755)
    assert place.runs() == runs + 1


def test_p2_a_file_of_this_moment_leaves_no_mark(place: Place) -> None:
    young = place.notes / "young.md"
    young.write_text("# Young\n\nThis note was written in this very moment, by a fast hand.\n")
    # However long a sync takes here, it is younger than the look.
    os.utime(young, (time.time() + 600, time.time() + 600))
    for _ in range(2):
        assert place.memu(*SYNC).code == 0
    assert not place.mark.exists(), "it may change once more without a change of its time"


def test_p7_the_mark_costs_no_import_of_the_database() -> None:
    code = "import memu.cli.synchronize, sys; print([m for m in ('sqlalchemy', 'pydantic') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
