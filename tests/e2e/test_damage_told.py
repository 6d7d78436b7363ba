"""P5: of a damaged file the rest is read, and what had to be passed over is told by sync, get and list."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from memu import MemoryService
from memu.cli.damage import describe_damage
from memu.cli.report import describe_sync
from memu.records import SyncReport

pytestmark = pytest.mark.e2e

TURN = {"role": "user", "content": "The gate of the Heron pier is painted in green every spring."}
DAMAGED = {
    "cut.jsonl": ("\n".join([json.dumps(TURN)] * 4 + ['{"role": "us', json.dumps(TURN)]) + "\n").encode(),
    "mixed.md": "# Pier\n\nThe gate in Köln is green.\n".encode() + "The café is shut.\n".encode("latin-1"),
    "open.csv": b'name,age\nann,3\nbob,"4\n',
}


def write(folder: Path) -> None:
    for name, data in DAMAGED.items():
        (folder / name).write_bytes(data)
    (folder / "whole.md").write_text("# Pier\n\nThe gate of the pier is green.\n")
    with zipfile.ZipFile(folder / "slack.zip", "w") as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("channels.json", "[]")
        said = {"type": "message", "user": "U1", "ts": "1700000000.000100", "text": "The pier opens in May."}
        archive.writestr("general/2024-01-01.json", json.dumps([said]))
        archive.writestr("general/2024-01-02.json", '[{"type": "message", "te')


async def test_what_was_passed_over_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder)
    async with MemoryService.open(f"sqlite:///{tmp_path / 'm.sqlite3'}", encoder=None) as memu:
        report = await memu.memorize_workspace(folder)
        assert set(report.damaged) == {*DAMAGED, "slack.zip"}
        assert report.failed == ()
        assert report.ok
        assert report.to_dict()["damaged"] == {path: dict(counts) for path, counts in report.damaged.items()}
        lines = [text for text, _ in describe_sync(report)]
        assert all(any(path in line for line in lines) for path in report.damaged)
        for path, counts in report.damaged.items():
            assert (await memu.get(path)).damage == counts
        listed = {one.path: dict(one.damage) for one in await memu.list_resources()}
        assert listed == {"whole.md": {}, **{path: dict(counts) for path, counts in report.damaged.items()}}
        again = await memu.memorize_workspace(folder)
        assert again.damaged == {}


def test_a_report_without_damage_says_nothing_of_it() -> None:
    assert not any("damaged" in text for text, _ in describe_sync(SyncReport(workspace="notes")))


def test_every_count_has_words() -> None:
    assert (
        describe_damage({"bad_page": 1, "long_line": 2}) == "1 page that cannot be read, 2 lines that are too long"
    )
    assert describe_damage({"unheard_of": 2}) == "2 unheard of"
