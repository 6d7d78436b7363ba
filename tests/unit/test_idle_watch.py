"""P2: a sync that did something, or leaves something to be done, leaves no mark for the next one to trust."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memu.idle import IdleWatch, confirmed_at, read_mark
from memu.records import ExportReport, FileProblem, PageChanges, SyncReport, Usage

pytestmark = pytest.mark.unit

PROBLEM = FileProblem(path="a.md", reason="it cannot be read")
LEFT: dict[str, object] = {
    "added": ("a.md",),
    "modified": ("a.md",),
    "moved": (("a.md", "b.md"),),
    "deleted": ("a.md",),
    "failed": (PROBLEM,),
    "resumed": True,
    "waiting": ("a.md",),
    "unplaced": 1,
    "pages": PageChanges(changed=("memory/A",)),
    "unpatched": (PROBLEM,),
    "stopped": "the cap of 3 calls was reached",
    "usage": Usage(calls=1),
    "vectors_missing": 1,
    "degraded": "the encoder does not answer",
}
TOLD = {
    "workspace",
    "unchanged",
    "skipped",
    "dropped",
    "damaged",
    "by_step",
    "redactions",
    "extractor",
    "encoder",
    "export",
}
"""What a sync with nothing to do says as well."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".memu" / "notes-memory").mkdir(parents=True)
    (tmp_path / "a.md").write_text("# A\n")
    os.utime(tmp_path / "a.md", (1_600_000_000, 1_600_000_000))
    (tmp_path / ".memu" / "memu.sqlite3").touch()
    # Longer than the tick that the time of a change may lie behind.
    time.sleep(0.15)
    return tmp_path


def _report(folder: Path) -> SyncReport:
    return SyncReport(workspace="notes", export=ExportReport(tree=str(folder / ".memu" / "notes-memory")))


def test_every_field_of_a_report_is_known() -> None:
    assert LEFT.keys() | TOLD == set(SyncReport.__dataclass_fields__)


def test_p7_a_sync_with_nothing_to_do_leaves_a_mark(folder: Path) -> None:
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    assert IdleWatch(folder, {}, {}).stands()
    assert not IdleWatch(folder, {}, {"wait": True}).stands()


def test_p6_the_mark_of_one_scope_says_nothing_of_another(folder: Path) -> None:
    store = folder / ".memu" / "memu.sqlite3"
    IdleWatch(folder, {"user_id": "ann"}, {}).keep(_report(folder), None)
    assert not IdleWatch(folder, {"user_id": "bob"}, {}).stands()
    assert confirmed_at(folder, store, {"user_id": "ann"}) is not None
    assert confirmed_at(folder, store, {"user_id": "bob"}) is None
    assert confirmed_at(folder, folder / "elsewhere.sqlite3", {"user_id": "ann"}) is None


@pytest.mark.parametrize("field", LEFT)
def test_p2_anything_done_or_left_takes_the_mark_away(folder: Path, field: str) -> None:
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    assert read_mark(folder) is not None
    IdleWatch(folder, {}, {}).keep(replace(_report(folder), **{field: LEFT[field]}), None)
    assert read_mark(folder) is None


@pytest.mark.parametrize(
    "export", [None, ExportReport(tree="x", written=("A.md",)), ExportReport(tree="x", removed=("A.md",))]
)
def test_p10_a_sync_that_published_leaves_none(folder: Path, export: ExportReport | None) -> None:
    IdleWatch(folder, {}, {}).keep(replace(_report(folder), export=export), None)
    assert read_mark(folder) is None


def test_p7_a_write_during_the_sync_is_seen_by_the_next_look(folder: Path) -> None:
    watch = IdleWatch(folder, {}, {})
    (folder / "b.md").write_text("# B\n")
    watch.keep(_report(folder), None)
    assert not IdleWatch(folder, {}, {}).stands()


DURING: dict[str, Callable[[Path], object]] = {
    "a settings file": lambda folder: (folder / "memu.toml").write_text('untrusted = ["*"]\n'),
    "a page": lambda folder: (folder / ".memu" / "notes-memory" / "MEMORY.md").write_text("mine\n"),
    "what keeps the store out of git": lambda folder: (folder / ".memu" / ".gitignore").write_text("\n"),
    "a log of another process": lambda folder: (folder / ".memu" / "memu.sqlite3-wal").touch(),
}


@pytest.mark.parametrize("change", DURING.values(), ids=DURING)
def test_p2_what_changes_while_a_sync_runs_leaves_no_mark(folder: Path, change: Callable[[Path], object]) -> None:
    watch = IdleWatch(folder, {}, {})
    change(folder)
    watch.keep(_report(folder), None)
    assert read_mark(folder) is None


def test_p3_a_write_to_the_store_after_the_sync_leaves_no_mark(folder: Path) -> None:
    watch = IdleWatch(folder, {}, {})
    soon = time.time() + 60
    os.utime(folder / ".memu" / "memu.sqlite3", (soon, soon))
    watch.keep(_report(folder), None)
    assert read_mark(folder) is None


SINCE: dict[str, Callable[[Path], object]] = {
    "the store's rights": lambda folder: (folder / ".memu" / "memu.sqlite3").chmod(0o400),
    "the folder's rights": lambda folder: (folder / ".memu").chmod(0o700),
    "the store written": lambda folder: (folder / ".memu" / "memu.sqlite3").write_bytes(b"x"),
    "the store's log": lambda folder: (folder / ".memu" / "memu.sqlite3-wal").touch(),
    "the store as it was before": lambda folder: os.utime(folder / ".memu" / "memu.sqlite3", (9, 9)),
    "what keeps it out of git": lambda folder: (folder / ".memu" / ".gitignore").touch(),
    "a folder in the tree": lambda folder: (folder / ".memu" / "notes-memory" / "mine").mkdir(),
}


@pytest.mark.parametrize("change", SINCE.values(), ids=SINCE)
def test_p3_what_changed_since_takes_a_whole_sync(folder: Path, change: Callable[[Path], object]) -> None:
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    assert IdleWatch(folder, {}, {}).stands()
    change(folder)
    assert not IdleWatch(folder, {}, {}).stands()


def test_p3_the_same_folder_at_another_place_takes_a_whole_sync(folder: Path, tmp_path_factory: Any) -> None:
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    moved = tmp_path_factory.mktemp("elsewhere") / "notes"
    folder.rename(moved)
    folder.symlink_to(moved)
    assert not IdleWatch(folder, {}, {}).stands()
    folder.unlink()


@pytest.mark.parametrize("name", ["MEMU_OUT", "memu_db", "XDG_CONFIG_HOME", "HOME"])
def test_p3_another_environment_takes_a_whole_sync(folder: Path, name: str, monkeypatch: Any) -> None:
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    monkeypatch.setenv(name, str(folder / "elsewhere"))
    assert not IdleWatch(folder, {}, {}).stands()


def test_p11_a_key_is_in_no_digest(folder: Path, monkeypatch: Any) -> None:
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    monkeypatch.setenv("MEMU_CHAT_API_KEY", "sk-0123456789")
    assert IdleWatch(folder, {}, {}).stands()


def test_p3_another_directory_takes_a_whole_sync(folder: Path, monkeypatch: Any) -> None:
    """What is named by a relative path lies elsewhere then."""
    IdleWatch(folder, {}, {}).keep(_report(folder), None)
    monkeypatch.chdir(folder)
    assert not IdleWatch(folder, {}, {}).stands()


def test_p12_a_mark_that_cannot_be_written_fails_no_sync(folder: Path) -> None:
    (folder / ".memu" / "idle.json").mkdir()
    watch = IdleWatch(folder, {}, {})
    assert not watch.stands()
    watch.keep(_report(folder), None)
    assert read_mark(folder) is None
