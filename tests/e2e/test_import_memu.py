"""The way in from memU: both kinds of its databases into both kinds of stores; twice, killed, changed and cut."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel
from sqlalchemy import select
from support.kills import KillAtStatement, KilledError, listening
from support.legacy import Legacy, copy_sqlite, load_postgres, run_sql
from support.postgres import Server

from memu import (
    IMPORTED,
    ConfigurationError,
    EncoderMismatch,
    ImportReport,
    LineSpan,
    MemoryService,
    MemoryType,
    NotFound,
    RootError,
    StoreError,
    Track,
)
from memu.cli.app import run
from memu.providers.fakes import HashingEncoder, ScriptedChatModel
from memu.storage.database import Database
from memu.storage.tables import metadata
from memu.storage.vectors import quantise
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e

ALICE, BOB, ANN = {"user_id": "alice"}, {"user_id": "bob"}, {"user_id": "ann"}
KILL_EVERY = 7 * int(os.environ.get("MEMU_TEST_CRASH_EVERY", "17"))


@pytest.fixture(params=["sqlite-later", "postgres-1.x"])
def legacy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database that memU wrote itself."""
    if request.param == "sqlite-later":
        yield f"sqlite:///{copy_sqlite(tmp_path)}"
        return
    server: Server = request.getfixturevalue("postgres")
    made = server.make(empty=True)
    load_postgres(made)
    yield made
    server.drop(made)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of ours."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite3'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


def open_memu(tmp_path: Path, db: str = "", **options: Any) -> MemoryService:
    given = {"out": tmp_path / "out", "encoder": HashingEncoder(8), **options}
    return MemoryService.open(db or f"sqlite:///{tmp_path / 'store.sqlite3'}", **given)


def memu_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.sqlite3'}"


def dump(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of a store of ours."""

    def work(session: Any) -> dict[str, list[tuple[Any, ...]]]:
        rows = session._connection.execute
        return {
            table.name: sorted((tuple(row) for row in rows(select(table))), key=repr)
            for table in metadata.sorted_tables
        }

    with Database.open(url) as database:
        return database.read_now(work)


def comparable(rows: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[str]]:
    """Texts, ids and links without what chance or the clock gave."""
    kept = {
        "resource": ("id", "path", "title", "content_hash", "state", "facts", "language"),
        "recall_entry": ("text", "memory_type", "track", "block", "shown", "line_start", "created_at"),
        "recall_file": ("id", "track", "name", "description", "content"),
        "recall_file_entry": ("file_id", "mark", "spelling"),
        "passage": ("header", "text", "length", "language"),
        "fold_queue": ("file_id",),
    }
    found: dict[str, list[str]] = {}
    for name, columns in kept.items():
        places = [list(metadata.tables[name].c.keys()).index(column) for column in columns]
        found[name] = sorted(repr([row[place] for place in places]) for row in rows[name])
    return found


async def test_both_databases_are_brought_over_and_the_two_users_stay_apart(
    legacy: str, store: str, tmp_path: Path
) -> None:
    later = legacy.startswith("sqlite")
    async with open_memu(tmp_path, store) as memu:
        report = await memu.import_memu(legacy)
        # Each user: five items; four categories, three of them with a description, two with a text; later a skill.
        assert (report.scopes, report.pages, report.sources) == ((2, 10, 24) if later else (2, 8, 20))
        assert (report.entries, report.links) == ((28, 32) if later else (20, 24))
        assert report.ok, report.unplaced
        assert report.notes == ()
        assert (report.vectors_kept, report.vectors_missing) == (0, 0)
        for user, other in ((ALICE, "bob"), (BOB, "alice")):
            await read_back(memu, user, later=later)
            assert other not in repr(await memu.list_entries(user=user))
        ids = {user["user_id"]: await all_ids(memu, user) for user in (ALICE, BOB)}
        assert not ids["alice"] & ids["bob"]
        for one in ids["bob"]:
            with pytest.raises(NotFound):
                await memu.get(one, user=ALICE)
        assert await memu.list_entries() == ()
        health = await memu.examine(across=True, thorough=True)
        assert health.ok, health.findings
        trees = {Path(tree).name: show_tree(Path(tree)) for tree in report.trees}
    assert set(trees) == {"user-id-alice", "user-id-bob"}
    assert trees["user-id-alice"]["memory/preferences.md"].count("window seats") == 1
    for name, tree in trees.items():
        others = ids["bob" if name.endswith("alice") else "alice"]
        assert not any(one in text for one in others for text in tree.values())
        check_links(tree)


async def read_back(memu: MemoryService, user: dict[str, str], *, later: bool) -> None:
    """What memU's rows say stands on pages, in entries and in sources, under memU's ids."""
    entries = {one.id: one for one in await memu.list_entries(user=user)}
    texts = {one.text for one in entries.values()}
    assert {"deploys go out on Tuesdays", "Kim flew to Lisbon in March", "项目使用 PostgreSQL 15"} <= texts
    flew = next(one for one in entries.values() if one.text.startswith("Kim flew"))
    assert (flew.memory_type, flew.page) == (MemoryType.EVENT, "memory/preferences")
    assert len(flew.id) == 36
    assert (await memu.get(flew.path or "", user=user)).text == "Kim flew to Lisbon in March"
    work = await memu.get("memory/work", user=user)
    assert len(work.id) == 36
    for text in (
        "How the team works",
        "Deploys go out on Tuesdays. Rollback uses the blue stack. 项目",
        "blue stack [^",
    ):
        assert text in work.text
    travel = await memu.get("memory/travel", user=user)
    assert "Trips [^" in travel.text
    assert "- Kim flew to Lisbon in March [^" in travel.text
    pages = {one.reference for one in await memu.list_files(user=user)}
    assert pages == {"memory/work", "memory/preferences", "memory/travel", "memory/skills"} | (
        {"skill/restore-backup"} if later else set()
    )
    if later:
        skill = (await memu.get("skill/restore-backup", user=user)).text
        assert skill.index("1. Stop the writer [^") < skill.index("2. `pg_restore -d app dump` [^")
        assert {one.track for one in await memu.list_files(user=user, tracks=["skill"])} == {Track.SKILL}
    sources = await memu.list_resources(user=user, workspace=IMPORTED)
    assert all((one.path or "").startswith("memu-import/") for one in sources)
    hits = (await memu.retrieve_workspace("where does Kim like to sit?", where=user)).hits
    assert any("window seats" in hit.text for hit in hits)


async def all_ids(memu: MemoryService, user: dict[str, str]) -> set[str]:
    lists = [
        await memu.list_files(user=user),
        await memu.list_entries(user=user),
        await memu.list_resources(user=user),
    ]
    return {one.id for listed in lists for one in listed}


def show_tree(tree: Path) -> dict[str, str]:
    return {
        path.relative_to(tree).as_posix(): path.read_text(encoding="utf-8")
        for path in tree.rglob("*")
        if path.is_file() and path.name != ".memu-export.json"
    }


def check_links(tree: dict[str, str]) -> None:
    """Every footnote leads to a line of a file in the tree, which says what the page says."""
    import posixpath
    import re
    from urllib.parse import unquote

    found = 0
    for name, text in tree.items():
        for mark, url, line in re.findall(r"\[\^(\w+)\]: \[[^\]]+\]\(([^)#]+)#L(\d+)\)", text):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(url)))
            said = tree[target].split("\n")[int(line) - 1]
            block = next(row for row in text.split("\n") if f"[^{mark}]" in row)
            assert re.sub(r"\W+", "", said).casefold()[-12:] in re.sub(r"\W+", "", block).casefold(), (name, block)
            found += 1
    assert found


async def test_a_second_run_reads_only_and_adds_nothing(legacy: str, store: str, tmp_path: Path) -> None:
    encoder = HashingEncoder(8)
    before = fingerprint(legacy, tmp_path)
    async with open_memu(tmp_path, store, encoder=encoder) as memu:
        first = await memu.import_memu(legacy)
        rows, asked = dump(store), len(encoder.asked)
        second = await memu.import_memu(legacy)
    assert dump(store) == rows
    assert len(encoder.asked) == asked
    assert second.unchanged == first.sources
    assert (second.pages, second.entries, second.sources, second.links, second.changed) == (0, 0, 0, 0, 0)
    assert fingerprint(legacy, tmp_path) == before


def fingerprint(url: str, folder: Path) -> Any:
    """The bytes of a database's file and what lies beside it; or all rows of a server's."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        return hashlib.sha256(path.read_bytes()).hexdigest(), sorted(folder.glob("memu-old*"))
    from support.postgres import run_sql as ask

    tables = ("resources", "memory_items", "memory_categories", "category_items")
    return [ask(url, f"SELECT * FROM {table} ORDER BY id") for table in tables]


def test_a_file_in_write_ahead_mode_gains_no_companions(tmp_path: Path) -> None:
    path = copy_sqlite(tmp_path)
    run_sql(path, "PRAGMA journal_mode = WAL")
    before = fingerprint(f"sqlite:///{path}", tmp_path)
    path.chmod(0o444)
    with BlockingService.open("sqlite://", encoder=None) as memu:
        assert memu.import_memu(f"sqlite:///{path}").entries == 28
    assert fingerprint(f"sqlite:///{path}", tmp_path) == before


async def test_a_killed_import_goes_on(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """P2: whichever statement it is killed at, the next run comes to the rows of an undisturbed one."""
    legacy = f"sqlite:///{copy_sqlite(tmp_path)}"
    wanted = tmp_path / "wanted"
    wanted.mkdir()
    async with open_memu(wanted) as memu:
        await memu.import_memu(legacy)
    expected = comparable(dump(f"sqlite:///{wanted / 'store.sqlite3'}"))
    # To make the tables takes longer than the import.
    made = tmp_path / "made.sqlite3"
    Database.open(f"sqlite:///{made}").close()
    kills, at = 0, 1
    while True:
        place = tmp_path / f"at-{at}"
        place.mkdir()
        shutil.copy(made, place / "store.sqlite3")
        async with open_memu(place) as memu:
            try:
                with listening(KillAtStatement(at)):
                    await memu.import_memu(legacy)
                break
            except KilledError:
                kills += 1
        async with open_memu(place) as memu:
            report = await memu.import_memu(legacy)
            assert (await memu.examine(across=True)).ok
        assert report.ok
        assert comparable(dump(f"sqlite:///{place / 'store.sqlite3'}")) == expected
        at += KILL_EVERY
    record_property("kills", kills)
    assert kills > 4


async def test_vectors_are_kept_where_their_encoder_is_named(legacy: str, store: str, tmp_path: Path) -> None:
    encoder = HashingEncoder(8, name="old-model")
    async with open_memu(tmp_path, store, encoder=encoder) as memu:
        report = await memu.import_memu(legacy, vectors_from="old-model")
    told = [text.split("\n")[-1] for batch in encoder.asked for text in batch]
    assert report.vectors_missing == 0
    # Of each item its entry and its source; of each description the same.
    assert report.vectors_kept >= 2 * 5 * 2
    assert not {"deploys go out on Tuesdays", "Trips", "Kim flew to Lisbon in March"} & set(told)
    assert any("How the team works" not in text for text in told)
    stored = vectors_of(store, "Kim flew to Lisbon in March")
    numbers = [0.7705, 0.5396, 0.8603, 0.2322, 0.5138, 0.9525, 0.5778, 0.4591]

    (row,) = quantise(["x"], np.array([numbers], dtype=np.float32), 8).rows
    assert row.vector in stored


def vectors_of(url: str, text: str) -> set[bytes]:
    passage, vector = metadata.tables["passage"], metadata.tables["passage_vector"]
    statement = (
        select(vector.c.vector)
        .join(passage, (passage.c.scope_id == vector.c.scope_id) & (passage.c.id == vector.c.passage_id))
        .where(passage.c.text == text)
    )
    with Database.open(url) as database:
        return database.read_now(lambda session: set(session._connection.execute(statement).scalars()))


async def test_f19_vectors_that_cannot_be_compared_are_counted_and_encoded_anew(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "Pumps")
    bad: list[Any] = [None, "", "nonsense", [], [1.0, 2.0], [0.0] * 8, [float("nan")] * 8, [None] * 8]
    for number, vector in enumerate([*bad, [0.5] * 8]):
        told = json.dumps(vector) if isinstance(vector, list) else vector
        made.item(f"i{number}", f"Pump {number} was repaired.", "c", embedding=told)
    encoder = HashingEncoder(8, name="old-model")
    async with open_memu(tmp_path, encoder=encoder) as memu:
        report = await memu.import_memu(made.url, vectors_from="old-model")
        assert report.vectors_missing == 0
        assert (await memu.examine(user=ANN)).ok
    assert report.vectors_kept == 2
    # Those that have numbers, but not such that can be compared: none, too few, noughts, no number.
    assert [note.reason for note in report.notes] == [
        "4 cannot be compared with the others; their texts are encoded anew"
    ]
    told = "\n".join(text for batch in encoder.asked for text in batch)
    assert all(f"Pump {number} was" in told for number in range(len(bad)))
    assert f"Pump {len(bad)} was" not in told


@pytest.mark.parametrize("encoder", [None, HashingEncoder(8, name="new-model")])
async def test_vectors_of_another_encoder_are_refused(tmp_path: Path, encoder: HashingEncoder | None) -> None:
    legacy = f"sqlite:///{copy_sqlite(tmp_path)}"
    async with open_memu(tmp_path, encoder=encoder) as memu:
        with pytest.raises(ConfigurationError, match="old-model"):
            await memu.import_memu(legacy, vectors_from="old-model")
        assert await memu.list_workspaces(user=ALICE) == ()


async def test_p9_a_store_of_another_encoder_refuses_the_import(tmp_path: Path) -> None:
    legacy = f"sqlite:///{copy_sqlite(tmp_path)}"
    async with open_memu(tmp_path, encoder=HashingEncoder(8, name="first")) as memu:
        await memu.import_memu(legacy, user=ALICE)
    async with open_memu(tmp_path, encoder=HashingEncoder(8, name="second")) as memu:
        with pytest.raises(EncoderMismatch):
            await memu.import_memu(legacy)


async def test_only_one_users_rows(tmp_path: Path) -> None:
    path = copy_sqlite(tmp_path)
    run_sql(path, "UPDATE memu_memory_items SET summary = '' WHERE user_id = 'bob'")
    async with open_memu(tmp_path) as memu:
        report = await memu.import_memu(f"sqlite:///{path}", user=ALICE)
        assert (report.scopes, report.ok) == (1, True)
        assert await memu.list_entries(user=BOB) == ()
        assert len(await memu.list_entries(user=ALICE)) == 14


async def test_what_changed_since_is_brought_over_by_another_run(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c1", "Pumps", "The pump is green.\n\nIt is loud.")
    made.category("c2", "Valves")
    made.item("i1", "The valve leaks.", "c1")
    made.item("i2", "The pump hums.", "c1")
    async with open_memu(tmp_path) as memu:
        first = await memu.import_memu(made.url)
        assert (first.sources, first.pages) == (3, 1)
        assert [(problem.path, problem.reason) for problem in first.unplaced] == [
            ("category c2", "'Valves' has neither text nor items")
        ]
        loud = next(one.id for one in await memu.list_entries(user=ANN) if one.text == "It is loud.")
        run_sql(made.path, "UPDATE category_items SET category_id = 'c2' WHERE item_id = 'i1'")
        run_sql(
            made.path,
            "UPDATE memory_categories SET summary = ? WHERE id = 'c1'",
            "The pump is red.\n\nIt is loud.",
        )
        made.item("i3", "The hose is new.", "c2")
        second = await memu.import_memu(made.url)
        assert (second.ok, second.changed, second.sources, second.unchanged) == (True, 2, 1, 1)
        entries = {one.id: (one.text, one.page) for one in await memu.list_entries(user=ANN)}
        assert entries["i1"] == ("The valve leaks.", "memory/Valves")
        assert entries[loud] == ("It is loud.", "memory/Pumps")
        assert {text for text, page in entries.values() if page == "memory/Pumps"} == {
            "The pump is red.",
            "It is loud.",
            "The pump hums.",
        }
        pumps = await memu.get("memory/Pumps", user=ANN)
        assert "green" not in pumps.text
        assert "valve" not in pumps.text
        assert (await memu.examine(user=ANN)).ok


async def test_what_cannot_be_placed_is_listed(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3", more=("track",))
    made.category("c1", "Pumps", "The pump is green.", track="diary")
    made.category("c2", "  ", "Nobody knows this.")
    made.category("c3", "Bob's", "Bob's valve.", user_id="bob")
    made.category("c4", "Empty", description=" ")
    made.item("i1", "  \n ", "c1")
    made.item("i2", "The valve leaks.", "c3", memory_type="hunch", extra={"when_used": "often", "none": None})
    made.item("i3", "The hose is new.", memory_type="tool")
    made.link("i9", "c1")
    made.resource("r1", "https://example.org/a/b.pdf", "A plan")
    made.item("i4", "Nobody's pump.", user_id="")
    async with open_memu(tmp_path) as memu:
        report = await memu.import_memu(made.url)
        assert not report.ok
        assert {(one.path, one.reason) for one in report.unplaced} == {
            ("category c2", "it has no name"),
            ("category c4", "'Empty' has neither text nor items"),
            ("item i1", "it has no text"),
            ("item i2", "its category c3 is another scope's, has no name or is gone"),
            ("link i9 c1", "its item is gone"),
            ("resource https://example.org/a/b.pdf", "no item was made of it (A plan)"),
            (
                "the rows of {'user_id': ''}",
                "The scope does not fit: user_id: String should have at least 1 character.",
            ),
        }
        assert {(one.path, one.reason) for one in report.notes} == {
            ("category c1", "its track 'diary' is not known; it is kept as memory"),
            ("item i2", "its type 'hunch' is not known; it is kept as knowledge"),
            ("items", "'when_used' of 1 items is not kept"),
        }
        entries = {one.id: one for one in await memu.list_entries(user=ANN)}
        # What memU filed nowhere is not lost.
        assert entries["i2"].page == entries["i3"].page == "memory/General"
        assert entries["i3"].memory_type is MemoryType.TOOL
        assert {one.text for one in await memu.list_entries(user=BOB)} == {"Bob's valve."}


async def test_every_form_of_block_keeps_it(tmp_path: Path) -> None:
    text = """# Restoring

First of all, breathe.
It takes an hour.

## On the server

1. Stop the writer.
   - Tell the others.
2. Run this:

```sh
pg_restore -d app dump
```

> Nobody panics.

| host | port |
| --- | --- |
| db1 | 5432 |
"""
    made = Legacy(tmp_path / "old.sqlite3", more=("track",))
    made.category("c", "restore", text, track="skill")
    made.item("i", "Two things:\n\n- The pump\n- The valve", "c", happened_at="2024-03-02 00:00:00")
    made.item("j", "word " * 700, "c")
    async with open_memu(tmp_path) as memu:
        report = await memu.import_memu(made.url)
        assert report.ok
        shown = (await memu.get("skill/restore", user=ANN)).text
        for block in (
            "breathe. It takes an hour. [^",
            "1. Stop the writer. [^",
            "- Tell the others. [^",
            "> Nobody panics. [^",
        ):
            assert block in shown
        assert "```sh\npg_restore -d app dump\n```\n[^" in shown
        assert "5432" in shown
        assert "### On the server" in shown
        entries = {one.id: one for one in await memu.list_entries(user=ANN)}
        # The first block of an item bears its id; a text longer than an entry may be is cut.
        assert entries["i"].text == "Two things:"
        assert {"The pump", "The valve"} <= {one.text for one in entries.values()}
        assert (entries["i"].time.isoformat() if entries["i"].time else "") == "2024-03-02T00:00:00+00:00"
        assert sum(one.text.count("word") for one in entries.values()) == 700
        step = next(one for one in entries.values() if one.text == "Stop the writer.")
        assert step.lines == LineSpan(8, 8)
        assert (await memu.get(f"{step.path}#L8", user=ANN)).text == "1. Stop the writer."
        assert (await memu.get(step.path or "", user=ANN)).text == text
        assert (await memu.examine(user=ANN)).ok


async def test_f44_secrets_reach_no_row_and_no_page(tmp_path: Path) -> None:
    key = "sk-" + "proj-" + "a1B2c3D4" * 6
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", f"Keys {key}", f"The key is {key}.", f"Holds {key}")
    made.resource("r", "notes.md", f"About {key}")
    made.item("i", f"Log in with {key} always.", "c", resource_id="r")
    async with open_memu(tmp_path) as memu:
        report = await memu.import_memu(made.url)
        (page,) = await memu.list_files(user=ANN)
    assert "redacted" in repr(dump(f"sqlite:///{tmp_path / 'store.sqlite3'}"))
    assert key not in repr(dump(f"sqlite:///{tmp_path / 'store.sqlite3'}"))
    assert key not in repr(show_tree(tmp_path / "out"))
    assert key not in repr(report)
    assert key not in repr(page)


async def test_a_folder_of_the_same_scope_shares_pages_and_takes_nothing_over(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "pumps", "The pump is green.")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("---\ncategory: Pumps\n---\n# Pump\n\nThe pump was repaired on 2 March 2024.\n")
    # The store lies in the folder, as it does for a folder that has moved.
    async with MemoryService.open(folder=folder, encoder=HashingEncoder(8)) as memu:
        first = await memu.import_memu(made.url, user=ANN)
        assert [Path(tree).name for tree in first.trees] == ["user-id-ann"]
        for _ in range(2):
            report = await memu.memorize_workspace(folder, user=ANN)
            assert report.ok
            assert report.deleted == ()
            shown = (await memu.get("memory/pumps", user=ANN)).text
            assert "The pump is green. [^" in shown
            assert "repaired" in shown
            assert (await memu.get("memory/pumps", user=ANN)).id == "c"
        tree = show_tree(folder / ".memu" / "user-id-ann")
        check_links({**tree, "../../a.md": (folder / "a.md").read_text()})
        assert (await memu.examine(user=ANN)).ok
        with pytest.raises(RootError, match="imported"):
            await memu.memorize_workspace(folder, user=ANN, name=IMPORTED)
        again = await memu.import_memu(made.url, user=ANN)
        assert (again.unchanged, again.sources) == (1, 0)
        await memu.remove_workspace(str(folder), user=ANN)
        assert "repaired" not in (await memu.get("memory/pumps", user=ANN)).text
        await memu.remove_workspace(IMPORTED, user=ANN)
        assert await memu.list_files(user=ANN) == ()
        assert not any("green" in text for text in show_tree(folder / ".memu" / "user-id-ann").values())


async def test_a_page_that_stands_already_keeps_its_id(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "PUMPS", "The pump is green.")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("---\ncategory: Pumps\n---\n# Pump\n\nThe pump was repaired on 2 March 2024.\n")
    async with open_memu(tmp_path) as memu:
        await memu.memorize_workspace(folder, user=ANN)
        (page,) = await memu.list_files(user=ANN)
        report = await memu.import_memu(made.url)
        assert [(one.path, one.reason) for one in report.notes] == [
            ("category c", "it joins the page memory/Pumps, which has an id of its own")
        ]
        (now,) = await memu.list_files(user=ANN)
        assert now.id == page.id


async def test_p4_what_was_forgotten_stays_forgotten(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "Pumps", "The quokka pump is green.\n\nThe wombat is loud and grey.", "All about numbats")
    made.item("i1", "The quokka pump is green", "c")
    made.item("i2", "The dingo valve leaks at night", "c")
    made.item("i3", "The bilby hose is quite new", "c")
    store = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    async with open_memu(tmp_path) as memu:
        await memu.import_memu(made.url)
        content = next(one for one in await memu.list_entries(user=ANN) if "wombat" in one.text)
        await memu.forget("i1", user=ANN)
        receipt = await memu.forget("memu-import/items/general/i2.md", user=ANN)
        assert receipt.removed
        for words in ("quokka", "dingo"):
            assert words not in repr(dump(store)).casefold(), words
            assert words not in repr(show_tree(tmp_path / "out")).casefold(), words
        # What is left of a text that was cut is shown and exported without what went.
        assert "wombat" in (await memu.get(content.path or "", user=ANN)).text
        assert "wombat" in repr(show_tree(tmp_path / "out"))
        assert (await memu.examine(user=ANN)).ok
        again = await memu.import_memu(made.url)
        assert "forgotten here" in repr(again.notes)
        for words in ("quokka", "dingo"):
            assert words not in repr(dump(store)).casefold(), words
        # Another edition of a text that holds what was forgotten is cut as it comes.
        run_sql(made.path, "UPDATE memory_categories SET summary = summary || ?", "\n\nThe emu is tall.")
        changed = await memu.import_memu(made.url)
        assert changed.changed == 1
        assert "quokka" not in repr(dump(store)).casefold()
        assert "The emu is tall. [^" in (await memu.get("memory/Pumps", user=ANN)).text
        assert (await memu.examine(user=ANN)).ok
        await memu.forget("memory/Pumps", user=ANN)
        assert await memu.list_files(user=ANN) == ()
        await memu.import_memu(made.url)
        assert await memu.list_files(user=ANN) == ()
        await memu.forget(everything=True, user=ANN)
        assert not dump(store)["resource"]


SAID = "The quokka pump is green and stands behind the boiler"
WAYS_TO_SAY_IT = {
    "as it is": f"{SAID}.",
    "in a sentence of others": f"Nobody knew it. {SAID}. The wombat is loud.",
    "in two lines": "The quokka pump is green\nand stands behind the boiler.",
    "in an item": f"- {SAID}\n- The wombat is loud.",
    "in bold": "The **quokka pump** is green and *stands* behind the boiler.",
    "behind a label": f"Alice: {SAID}.",
    "as a heading": f"# {SAID}\n\nIt is so.",
    "in a table": f"| pump |\n| --- |\n| {SAID} |",
    "in a fence": f"```\n{SAID}\n```",
}


@pytest.mark.parametrize("way", WAYS_TO_SAY_IT)
async def test_p4_what_a_scope_forgot_before_is_cut_from_what_is_brought_along(way: str, tmp_path: Path) -> None:
    """F46: whatever it is wrapped in, whichever row of the old database says it, and a page's name too."""
    said, folder = WAYS_TO_SAY_IT[way], tmp_path / "work"
    folder.mkdir()
    (folder / "pumps.md").write_text(f"# Pumps\n\n{SAID}.\n\nThe dingo valve leaks at night.\n")
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "Boilers", f"{said}\n\nThe emu gauge is new.", said)
    made.category("d", SAID, "The numbat hose is long.")
    made.item("i", said, "c")
    made.item("k", "The bilby hose is quite new", "d")
    async with open_memu(tmp_path) as memu:
        await memu.memorize_workspace(folder, user=ANN)
        await memu.forget(match="quokka pump is green", user=ANN)
        await memu.import_memu(made.url)
        stored = {table: rows for table, rows in dump(memu_url(tmp_path)).items() if table != "tombstone"}
        assert "emu gauge" in repr(stored)
        assert "bilby hose" in repr(stored)
        for words in ("quokka", "behind the boiler"):
            assert words not in repr(stored).casefold(), words
            assert words not in repr(show_tree(tmp_path / "out")).casefold(), words
        assert (await memu.examine(user=ANN)).ok
        assert (await memu.import_memu(made.url)).changed == 0


async def test_no_model_is_asked_about_what_is_imported(tmp_path: Path) -> None:
    model = ScriptedChatModel()
    async with open_memu(tmp_path, models=model) as memu:
        await memu.import_memu(f"sqlite:///{copy_sqlite(tmp_path)}")
        assert len(await memu.list_files(user=ALICE)) == 5
    assert model.asked == []


async def test_p6_rows_that_a_scope_here_cannot_name_are_refused(tmp_path: Path) -> None:
    made = Legacy(tmp_path / "old.sqlite3", scope=("user_id", "session_id"))
    made.category("c", "Pumps", "The pump is green.", user_id="ann", session_id="7")
    made.item("i", "The pump hums.", "c", user_id="ann", session_id="8")
    made.item("k", "Everybody's pump.")

    class Session(BaseModel):
        user_id: str | None = None
        session_id: int | None = None

    async with open_memu(tmp_path) as memu:
        with pytest.raises(ConfigurationError, match="session_id"):
            await memu.import_memu(made.url)
        assert await memu.list_workspaces(user=ANN) == ()
    async with open_memu(tmp_path, scope_model=Session) as memu:
        report = await memu.import_memu(made.url)
        assert report.scopes == 3
        assert "its category c is another scope's" in repr(report.unplaced)
        (entry,) = await memu.list_entries(user={"user_id": "ann", "session_id": 7})
        assert entry.text == "The pump is green."
        (other,) = await memu.list_entries()
        assert other.text == "Everybody's pump."


async def test_the_newest_names_of_tables_are_known(tmp_path: Path) -> None:
    names = {
        "memory_categories": "recall_files",
        "memory_items": "recall_entries",
        "category_items": "recall_file_entries",
    }
    made = Legacy(tmp_path / "old.sqlite3", ("user_id", "agent_id"), names, more=("track", "content"))
    made.category(
        "c", "restore", track="skill", content="1. Stop it.\n2. Start it.", user_id="ann", agent_id="bot"
    )
    made.item("i", "It takes an hour.", "c", user_id="ann", agent_id="bot")
    async with open_memu(tmp_path) as memu:
        assert (await memu.import_memu(made.url)).ok
        page = await memu.get("skill/restore", user={"user_id": "ann", "agent_id": "bot"})
        assert "1. Stop it. [^" in page.text
        assert "It takes an hour. [^" in page.text


@pytest.mark.parametrize(
    ("name", "error"), [("nothing.sqlite3", StoreError), ("empty.sqlite3", ConfigurationError)]
)
async def test_what_is_no_database_of_memus_is_refused(tmp_path: Path, name: str, error: type[Exception]) -> None:
    (tmp_path / "empty.sqlite3").touch()
    async with open_memu(tmp_path) as memu:
        with pytest.raises(error):
            await memu.import_memu(f"sqlite:///{tmp_path / name}")
    assert not (tmp_path / "nothing.sqlite3").exists()


def test_the_command_line_says_what_came_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Legacy(tmp_path / "old.sqlite3")
    made.category("c", "Pumps", "The pump is green.")
    made.item("i", " ", "c")
    arguments = ["db", "import-memu", made.url, "--db", f"sqlite:///{tmp_path / 'store.sqlite3'}"]
    assert run([*arguments, "--json", "--out", str(tmp_path / "out")]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["ok"], document["pages"]) == (1, False, 1)
    assert document["unplaced"] == [{"path": "item i", "reason": "it has no text"}]
    assert run([*arguments, "--user", "user_id=bob"]) == 2
    assert "has no rows of user_id=bob" in capsys.readouterr().err
    assert run(arguments) == 1
    told = capsys.readouterr()
    assert "as they were: 1" in told.out
    assert "not brought over: item i" in told.out
    # It was published before, and stands there anew; where it never was, the command that does it is named.
    assert str(tmp_path / "out") in told.out
    assert "memu export" not in told.err
    assert run([*arguments[:-1], f"sqlite:///{tmp_path / 'other.sqlite3'}"]) == 1
    assert "memu export" in capsys.readouterr().err


def test_the_blocking_twin_imports_too(tmp_path: Path) -> None:
    with BlockingService.open("sqlite://", encoder=None) as memu:
        report = memu.import_memu(f"sqlite:///{copy_sqlite(tmp_path)}", user=ALICE)
        assert isinstance(report, ImportReport)
        assert report.trees == ()
        assert report.to_dict()["scopes"] == 1
        assert len(memu.list_files(user=ALICE)) == 5
