"""P2: a sync that did something, or leaves something to be done, leaves no mark for the next one to trust."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

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
TOLD = {"workspace", "unchanged", "skipped", "dropped", "by_step", "redactions", "extractor", "encoder", "export"}
"""What a sync with nothing to do says as well."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".memu" / "notes-memory").mkdir(parents=True)
    (tmp_path / "a.md").write_text("# A\n")
    os.utime(tmp_path / "a.md", (1_600_000_000, 1_600_000_000))
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
