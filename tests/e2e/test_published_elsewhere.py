"""FIELD: a store beside its folder, a tree elsewhere: doctor, status and export look where it was published."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("stored", ["beside", "inside"])
def test_a_tree_published_with_out_is_found_without(stored: str, tmp_path: Path, memu) -> None:
    folder, out = tmp_path / "notes", tmp_path / "out"
    folder.mkdir()
    (folder / "a.md").write_text("# Pump\n\nThe pump was repaired on Monday.\n", encoding="utf-8")
    store = tmp_path / "store.sqlite3" if stored == "beside" else folder / ".memu" / "memu.sqlite3"
    db = ["--db", f"sqlite:///{store}"] if stored == "beside" else []
    assert memu("sync", str(folder), *db, "--out", str(out)).code == 0
    db = ["--db", f"sqlite:///{store}"]
    assert memu("doctor", *db).code == 0
    (one,) = json.loads(memu("status", "--json", *db).out)["workspaces"]
    assert [(tree["tree"], tree["state"]) for tree in one["trees"]] == [(str(out / "workspace-memory"), "current")]
    if stored == "beside":
        (page,) = (out / "workspace-memory" / "memory").glob("*.md")
        page.unlink()
        assert "The file is gone" in memu("doctor", *db).out
        assert memu("export", *db).code == 0
        assert page.exists()
        assert not (folder / ".memu").exists()
    # Who names another place wants a tree there.
    asked = memu("doctor", *db, "--out", str(tmp_path / "other"))
    assert (asked.code, "never published" in asked.out) == (1, True)


def test_of_two_folders_that_of_which_no_tree_was_written_is_told(tmp_path: Path, memu) -> None:
    db = ["--db", f"sqlite:///{tmp_path / 'store.sqlite3'}"]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# Pump\n\nThe pump {name} was repaired.\n", encoding="utf-8")
        assert memu("sync", str(tmp_path / name), *db).code == 0
    lost = tmp_path / "two" / ".memu" / "workspace-memory"
    with closing(sqlite3.connect(tmp_path / "store.sqlite3")) as store, store:
        store.execute("DELETE FROM publication WHERE tree = ?", [str(lost)])
    told = memu("doctor", *db)
    assert (told.code, f"{lost}\n  It was never published" in told.out) == (1, True), told.out
