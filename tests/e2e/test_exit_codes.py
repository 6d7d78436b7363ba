"""DESIGN §8: one rule of exit codes for all: a store missing, empty or damaged, a scope without memory."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memu import MemoryService

pytestmark = pytest.mark.e2e

COMMANDS = {
    "status": ["status"],
    "doctor": ["doctor"],
    "search": ["search", "pump"],
    "list": ["get", "--entries"],
    "get": ["get", "a.md"],
    "recall": ["recall"],
    "export": ["export"],
    "forget": ["forget", "a.md"],
    "workspaces": ["workspace", "list"],
    "remove": ["workspace", "remove", "x", "--yes"],
}
# A scope without memory: lists are empty, what is named is not there, and a monitor is told that no sync has come.
OF_NOBODY = {"status": 1, "doctor": 1, "search": 0, "list": 0, "workspaces": 0}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("codes")
    (place / "work").mkdir()
    for number in range(40):
        text = f"# Pump {number}\n\nThe pump {number} was repaired by {number * 7} people on a Monday.\n"
        (place / "work" / f"{number}.md").write_text(text, encoding="utf-8")

    async def sync() -> None:
        async with MemoryService.open(f"sqlite:///{place / 'store.sqlite3'}", encoder=None) as memu:
            await memu.memorize_workspace(place / "work")

    asyncio.run(sync())
    return place


def _remove(store: Path) -> None:
    store.unlink()


def _empty(store: Path) -> None:
    store.write_bytes(b"")


def _garble(store: Path) -> None:
    """All but the first pages, which hold the schema, and the last."""
    size = store.stat().st_size
    with store.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(size - 3 * 4096))


@pytest.mark.parametrize("harm", [_remove, _empty, _garble])
@pytest.mark.parametrize("name", [*COMMANDS, "check"])
def test_a_store_that_is_missing_empty_or_damaged_is_unavailable_to_every_command(
    harm: Callable[[Path], None], name: str, kept: Path, tmp_path: Path, memu
) -> None:
    store = Path(shutil.copy(kept / "store.sqlite3", tmp_path))
    harm(store)
    result = memu(*COMMANDS.get(name, ["db", "check"]), "--db", f"sqlite:///{store}")
    assert (result.code, result.out) == (4, ""), result
    assert "sqlite+pysqlite" not in result.err
    assert harm is not _remove or not store.exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_scope_without_memory_is_told_of_alike(name: str, kept: Path, tmp_path: Path, memu) -> None:
    db = f"sqlite:///{kept / 'store.sqlite3'}"
    result = memu(*COMMANDS[name], "--db", db, "--user", "user_id=nobody", "--out", str(tmp_path / "out"))
    assert result.code == OF_NOBODY.get(name, 2), result
    assert name == "doctor" or result.err, result


def test_no_message_names_the_driver(kept: Path, memu) -> None:
    db = f"sqlite:///{kept / 'store.sqlite3'}"
    for command in (["db", "current"], ["db", "check"], ["db", "upgrade"]):
        assert memu(*command, "--db", db).out.startswith(f"{db}: ")
    assert json.loads(memu("db", "current", "--json", "--db", db).out)["store"] == db
