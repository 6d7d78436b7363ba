"""Rows of memU's that are not as they should be: each is brought over as far as it can be, and told of (P5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.legacy import Legacy, load_postgres, run_sql
from support.postgres import Server
from support.postgres import run_sql as ask_server

from memu import ConfigurationError, ImportReport, MemoryService
from memu.providers.fakes import HashingEncoder

pytestmark = pytest.mark.e2e

ANN, ALICE = {"user_id": "ann"}, {"user_id": "alice"}
TIMES = ["infinity", "-infinity", "0044-03-15 12:00:00+00 BC", "12026-01-01 00:00:00+00"]
GARBAGE = ["yesterday", "2026-13-45", "", 1_700_000_000, b"\xff\xfe", "0001-01-01 00:00:00+14:00"]
# Python knows these, nanoseconds in 64 bits do not reach to them.
FAR = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00-14:00"]


class UnsizedEncoder(HashingEncoder):
    """One that knows its dimension, 8, only after its first call."""

    def __init__(self) -> None:
        super().__init__(8, name="old-model")
        self._known = self.identity
        self.identity = replace(self.identity, dimension=0)

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.identity = self._known
        return await super().encode(texts)


def open_memu(tmp_path: Path, db: str | None = None, **options: Any) -> MemoryService:
    given = {"out": tmp_path / "out", "encoder": HashingEncoder(8), **options}
    return MemoryService.open(db or f"sqlite:///{tmp_path / 'store.sqlite3'}", **given)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite3'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


async def import_twice(tmp_path: Path, url: str, store: str | None = None, **options: Any) -> ImportReport:
    """The first run's report; a second adds nothing, and the store is sound."""
    async with open_memu(tmp_path, store, **options) as memu:
        report = await memu.import_memu(url)
        again = await memu.import_memu(url)
        assert (again.pages, again.entries, again.sources, again.changed) == (0, 0, 0, 0)
        assert again.unplaced == report.unplaced
        assert (await memu.examine(across=True)).ok
    json.dumps(report.to_dict()).encode("utf-8")
    return report


async def test_a_time_that_is_none_costs_the_row_only_its_time(tmp_path: Path, store: str) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    odd = [*TIMES, *GARBAGE, *FAR]
    for number, time in enumerate(odd):
        made.category(f"c{number}", f"Pump {number}", f"Pump {number} is green.", created_at=time, updated_at=time)
        made.item(f"i{number}", f"Valve {number} leaks.", f"c{number}", created_at=time, happened_at=time)
    report = await import_twice(tmp_path, made.url, store)
    assert report.ok
    assert (report.pages, report.sources) == (len(odd), 2 * len(odd))
    refused = {number for number, time in enumerate(odd) if time and time not in FAR}
    assert {one.path for one in report.notes} == {
        f"{kind}{number}" for number in refused for kind in ("category c", "item i")
    }
    async with open_memu(tmp_path, store) as memu:
        times = {one.id: one.time for one in await memu.list_entries(user=ANN)}
        assert all((times[f"i{n}"] is None) == (n in refused or not time) for n, time in enumerate(odd))


async def test_a_time_without_end_on_a_server_costs_the_row_only_its_time(
    postgres: Server, tmp_path: Path
) -> None:
    old = postgres.make(empty=True)
    load_postgres(old)
    ids = [one for (one,) in ask_server(old, "SELECT id FROM memory_items ORDER BY user_id, id")]
    for each, time in zip(ids, TIMES, strict=False):
        ask_server(
            old, f"UPDATE memory_items SET created_at = '{time}', happened_at = '{time}' WHERE id = '{each}'"
        )
    ask_server(old, "UPDATE memory_items SET updated_at = 'infinity'")
    ask_server(old, "UPDATE memory_categories SET created_at = '-infinity', updated_at = 'infinity'")
    report = await import_twice(tmp_path, old)
    postgres.drop(old)
    # As many as without.
    assert (report.ok, report.scopes, report.pages, report.sources, report.entries) == (True, 2, 8, 20, 20)
    told = [(one.path, one.reason) for one in report.notes]
    assert all("is no time here; it is kept as one without" in reason for _, reason in told)
    assert sorted(path for path, _ in told if path.startswith("item")) == sorted(
        f"item {each}" for each in ids[: len(TIMES)] for _ in range(2)
    )
    assert len([path for path, _ in told if path.startswith("category")]) == 8


async def test_a_row_that_cannot_be_told_from_others_is_listed(tmp_path: Path) -> None:
    """No id, one that is no text, one twice; more of them than are read at once."""
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "Pumps", "The pump is green.")
    for number in range(205):
        made.item(f"i{number:03}", f"Valve {number} leaks.")
    made.item("i199", "The second of this id.")
    made.item("i199", "The third.")
    for odd in (None, None, "", b"\xffi"):
        made.item(odd, "Nobody's.")
    run_sql(made.path, "UPDATE memory_items SET id = CAST(id AS TEXT) WHERE typeof(id) = 'blob'")
    report = await import_twice(tmp_path, made.url, encoder=None)
    assert report.sources == 206
    assert {(one.path, one.reason) for one in report.unplaced} == {
        ("item i199", "other rows bear its id; the first was taken"),
        ("rows of kind item", "4 have no id, or one that is no text"),
    }


async def test_ids_that_are_numbers_are_each_kinds_own(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    for number in range(1, 4):
        made.category(number, f"Pump {number}", f"Pump {number} is green.")
        run_sql(
            made.path,
            "INSERT INTO memory_items (id, summary, memory_type, user_id) VALUES (?, ?, 'event', 'ann')",
            number,
            f"Valve {number} leaks.",
        )
        run_sql(made.path, "INSERT INTO category_items (id, item_id, category_id) VALUES (?, ?, ?)", *[number] * 3)
    report = await import_twice(tmp_path, made.url)
    assert (report.ok, report.pages, report.sources, report.entries) == (True, 3, 6, 6)
    async with open_memu(tmp_path) as memu:
        for number in range(1, 4):
            shown = (await memu.get(f"memory/Pump {number}", user=ANN)).text
            assert f"Pump {number} is green." in shown
            assert f"Valve {number} leaks." in shown


async def test_values_of_any_type_and_bytes_that_are_no_text_end_nothing(tmp_path: Path, store: str) -> None:
    made = Legacy(tmp_path / "old.sqlite3", more=("track",))
    made.category("c0", None, "Nobody's text.")
    made.category("c1", 7, 42, 3.5, track=9)
    made.category("c2", b"Pumps \xff", b"The pump \xfe is green.", "A\x00B")
    made.item("i0", b"Valve \xff leaks.", "c2", memory_type=b"\xff", resource_id="r")
    made.item("i1", "Valve \x00 one leaks.", "c2", extra="{'broken", memory_type=None)
    made.item("i2", "Valve two leaks.", "c2", extra="[" * 100_000, embedding="[" * 100_000)
    made.item("i3", "Valve three leaks.", "c0", user_id=b"\xffann")
    made.item("i4", "Valve four leaks.", user_id="a\x00nn")
    made.resource("r", b"https://example.org/\xff", b"The \xff plan")
    made.resource("r2", b"\xff", b"\xff")
    tables = {"memory_categories": ("name", "summary"), "memory_items": ("summary", "memory_type", "user_id")}
    tables["resources"] = ("url", "caption")
    for table, columns in tables.items():
        for column in columns:
            # Bytes as a text column holds them that somebody wrote past the driver.
            run_sql(
                made.path, f"UPDATE {table} SET {column} = CAST({column} AS TEXT) WHERE typeof({column}) = 'blob'"
            )
    report = await import_twice(tmp_path, made.url, store)
    unplaced = repr(report.unplaced)
    for told in ("'it has no name'", "the rows of", "resource \N{REPLACEMENT CHARACTER}"):
        assert told in unplaced
    assert len(report.unplaced) == 4
    notes = {(one.path, one.reason.split(";")[0]) for one in report.notes}
    assert {
        ("item i0", "no store holds 1 characters of it"),
        ("item i1", "no store holds 1 characters of it"),
        ("category c2", "no store holds 1 characters of it"),
        ("category c1", "its track '9' is not known"),
        ("items", "'extra' of 2 items is not kept"),
    } <= notes
    async with open_memu(tmp_path, store) as memu:
        texts = {one.text for one in await memu.list_entries(user=ANN)}
        assert {"Valve \N{REPLACEMENT CHARACTER} leaks.", "Valve two leaks.", "42"} <= texts


async def test_p9_one_odd_vector_does_not_decide_how_long_the_others_are(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    sizes = [2, 8, 8, 0, 8, 900, 8, 8]
    odd = [[1e300] * 8, [10**400] + [1] * 7, [True] * 3]
    for number, vector in enumerate([*([0.5] * size for size in sizes), *odd]):
        made.item(f"i{number:02}", f"Pump {number} was repaired.", embedding=json.dumps(vector))
    # It tells its size only when it is asked, as one over HTTP does.
    encoder = UnsizedEncoder()
    async with open_memu(tmp_path, encoder=encoder) as memu:
        report = await memu.import_memu(made.url, vectors_from="old-model")
        assert (report.vectors_kept, report.vectors_missing) == (2 * 5, 0)
        assert (await memu.examine(user=ANN)).ok


async def test_a_category_renamed_since_is_a_page_of_its_new_name(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "Pumps", "The pump is green.")
    made.item("i", "The pump hums.", "c")
    async with open_memu(tmp_path) as memu:
        await memu.import_memu(made.url)
        run_sql(made.path, "UPDATE memory_categories SET name = 'Valves'")
        report = await memu.import_memu(made.url)
        assert report.ok
        assert [page.reference for page in await memu.list_files(user=ANN)] == ["memory/Valves"]
        assert "The pump hums." in (await memu.get("memory/Valves", user=ANN)).text
        assert (await memu.import_memu(made.url)).changed == 0
        assert (await memu.examine(user=ANN)).ok


@pytest.mark.parametrize("missing", ["memory_items.id", "category_items.item_id", "category_items.category_id"])
async def test_tables_without_the_columns_that_tell_rows_apart_are_no_memus(tmp_path: Path, missing: str) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    table, column = missing.split(".")
    run_sql(made.path, f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
    async with open_memu(tmp_path) as memu:
        with pytest.raises(ConfigurationError, match="no database of memU"):
            await memu.import_memu(made.url)
