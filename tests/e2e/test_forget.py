"""F46: what is forgotten is in no row, page or byte, and never comes back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.citations import check_tree
from support.postgres import Server
from support.stores import Bench

from memu import BusyError, ConfigurationError, MemoryService, NotFound, Scope
from memu.providers.fakes import FailingEncoder
from memu.tokens import text_key

pytestmark = pytest.mark.e2e

DATA = Path(__file__).parents[1] / "data"
SECRET = "The blue lantern is hidden under the bridge in Oslo."
WORDS = ("lantern", "oslo")
TELLING = {
    "bullet.md": f"# Treasure\n\n## Hiding places\n\n- {SECRET}\n- Maps are kept with the harbour master.\n",
    "paragraph.md": (
        "# Harbour\n\nThe harbour master decides who may enter. The blue lantern is hidden under\n"
        "the bridge in Oslo. Ships always report before noon.\n"
    ),
    "heading.md": f"# Index\n\n## {SECRET}\n\nThe keeper decided to paint every door green.\n",
    "quote.md": f"# Letters\n\n> {SECRET}\n\nLetters are always answered within a week.\n",
    "nested.md": f"# Plans\n\n- {SECRET}\n  - We agreed to fetch it in the spring before the thaw.\n",
    "fence.md": f"# Notes\n\nThe notes are kept as code.\n\n```text\nfirst line of it\n{SECRET}\nlast line\n```\n",
    "table.md": f"# Table\n\n| who | what |\n| --- | --- |\n| Ann | {SECRET} |\n| Bob | nothing at all |\n",
    "front.md": f'---\ntitle: Front\ndescription: "{SECRET}"\ntags: [ships]\n---\n\nShips are painted each May.\n',
    "titled.md": f"# {SECRET}\n\nWe decided to keep the boats in the shed.\n",
    "numbered.md": f"# Steps\n\n## How to fetch it\n\n1. {SECRET}\n2. Take the boat out.\n3. Row back home.\n",
    "page.html": f"<html><body><h1>Page</h1><p>{SECRET}</p><p>Boats must be dry.</p></body></html>",
    "chat.jsonl": "".join(
        json.dumps({"role": role, "content": text}) + "\n"
        for role, text in (
            ("user", f"Remember this: {SECRET} I always prefer short answers."),
            ("assistant", "Understood, I will keep that in mind."),
        )
    ),
    "meeting.txt": f"Ann: {SECRET}\nBob: We agreed to meet on Mondays at nine.\n",
    "log.csv": f'who,what\nAnn,"{SECRET}"\nBob,nothing at all\n',
}
OTHERS = {
    "deploys.md": "# Deploys\n\nDeploys go out on Tuesdays. The gateway is left alone on Fridays.\n",
    "restore.md": "# Restore\n\n## How to restore\n\n1. Stop the service.\n2. Copy the dump back.\n3. Start it.\n",
}


@pytest.fixture
def bench(tmp_path: Path, store_server: Server | None) -> Bench:
    made = Bench(tmp_path, server=store_server)
    made.write({"treasure.md": TELLING["bullet.md"], **OTHERS})
    return made


async def find_entry(memu: MemoryService, words: str = SECRET, **options: Any) -> str:
    """The entry that says these words alone, else the one that has them."""
    entries = sorted(await memu.list_entries(**options), key=lambda one: len(one.text))
    return next(one.id for one in entries if words in one.text)


async def search(memu: MemoryService, **options: Any) -> str:
    found = await memu.retrieve_workspace("where is the blue lantern hidden", **options)
    return " ".join(f"{hit.title} {hit.heading} {hit.text}" for hit in found.hits).casefold()


async def test_f46_a_statement_goes_from_every_kind_of_source(bench: Bench) -> None:
    """Rows equal those of a fresh store with the same tombstones (P3), and a further sync changes nothing."""
    bench.write(TELLING)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        assert all(any(name in place for place in bench.holding(SECRET, "lantern")) for name in TELLING)
        receipt = await memu.forget(await find_entry(memu))
        assert receipt.entries > 1
        assert set(receipt.sources) == {"treasure.md", *TELLING}
        assert receipt.unread == ()
        assert bench.holding(*WORDS) == []
        found = await search(memu)
        assert not any(word in found for word in WORDS)
        before = bench.outcome()
        report = await memu.memorize_workspace(bench.work)
        assert (report.added, report.modified, report.export.written) == ((), (), ())
    assert bench.outcome() == before
    assert bench.outcome() == (await bench.fresh()).outcome()
    assert replace(bench, name="fresh").holding(*WORDS) == []


@pytest.mark.parametrize("way", ["entry", "page", "match", "source"])
async def test_f46_each_way_leaves_nothing_behind_and_a_purge_no_byte(way: str, bench: Bench) -> None:
    async with bench.open() as memu:
        report = await memu.memorize_workspace(bench.work)
        texts = {name: (await memu.get(name)).text for name in report.pages.created}
        page = next(name for name, text in texts.items() if "lantern" in text)
        reference = {"entry": await find_entry(memu), "page": page, "match": None, "source": "treasure.md"}[way]
        receipt = await memu.forget(reference, match="LANTERN is hidden" if way == "match" else None, purge=True)
        in_file = bench.server is None
        assert (receipt.what, receipt.purged, receipt.vacuumed, receipt.texts) == (way, in_file, not in_file, ())
        assert page in (*receipt.pages.changed, *receipt.pages.removed)
        assert bench.holding(*WORDS) == []
        assert not any(word.encode() in bench.raw().lower() for word in WORDS)
        await memu.memorize_workspace(bench.work)
        assert bench.holding(*WORDS) == []
        assert not in_file or b"dump back" in bench.raw()
    assert bench.outcome() == (await bench.fresh()).outcome()


async def test_f46_a_scope_goes_whole_with_its_tree_and_no_other(bench: Bench) -> None:
    alice, bob = {"user_id": "alice"}, {"user_id": "bob"}
    async with bench.open() as memu:
        for user in (alice, bob):
            await memu.memorize_workspace(bench.work, user=user)
        mine = [path for path in bench.trees() if "alice" in path]
        hand = bench.out / Path(mine[0]).parts[0] / "memory" / "by-hand.md"
        hand.write_text("mine", encoding="utf-8")
        others = {path: data for path, data in bench.trees().items() if "bob" in path}
        receipt = await memu.forget(everything=True, user=alice, purge=True)
        assert receipt.what == "scope"
        assert set(receipt.removed) == {"treasure.md", *OTHERS}
        left = [path for path in bench.trees() if "alice" in path]
        assert left == [hand.relative_to(bench.out).as_posix()]
        assert {path: data for path, data in bench.trees().items() if "bob" in path} == others
        assert [row for row in bench.rows()["scope"] if Scope.of(bob).key not in row] == []
        assert "lantern" in await search(memu, where=bob)
        assert await search(memu, where=alice) == ""
        with pytest.raises(NotFound):
            await memu.forget(everything=True, user=alice)


async def test_the_whole_of_the_only_scope_leaves_no_row(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(await find_entry(memu))
        await memu.forget(everything=True)
    left = {table for table, rows in bench.rows().items() if rows}
    assert left <= {"alembic_version", "encoder", "lock"}
    assert bench.trees() == {}
    assert not any(bench.out.iterdir())


async def test_removing_the_only_workspace_leaves_no_row_of_it(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.remove_workspace(str(bench.work))
    left = {table for table, rows in bench.rows().items() if rows}
    assert left <= {"alembic_version", "encoder", "lock", "scope", "publication"}
    assert bench.holding(*WORDS) == []


@pytest.mark.parametrize(
    "later",
    [
        {"treasure.md": TELLING["bullet.md"] + "- Boats are always counted at dusk.\n"},
        {"moved/treasures.md": TELLING["bullet.md"]},
        {"again.md": f"# Again\n\nShe said it once more. {SECRET.upper()} We decided to be silent.\n"},
        {"list.md": "# List\n\n* **The blue lantern** is hidden under the bridge, in Oslo!\n* Boats stay dry.\n"},
        {name: text for name, text in TELLING.items() if name != "bullet.md"},
    ],
    ids=["edited elsewhere", "renamed", "second source", "other marks", "every kind"],
)
async def test_what_was_forgotten_never_comes_back(later: dict[str, str], bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(await find_entry(memu))
        if "moved/treasures.md" in later:
            (bench.work / "treasure.md").unlink()
        bench.write(later)
        report = await memu.memorize_workspace(bench.work)
        assert report.failed == ()
        assert bench.holding(*WORDS) == []
        assert {one.path for one in await memu.list_entries()} & set(later)
    assert bench.outcome() == (await bench.fresh()).outcome()


@pytest.mark.parametrize("label", ["Alice: ", "- Alice: ", "[10:02] Alice: ", "Alice： "])
async def test_what_was_forgotten_behind_a_label_stays_away_when_the_file_becomes_a_chat(
    label: str, bench: Bench
) -> None:
    """The same lines are read as a document while they are few, and as turns without their labels later."""
    said = f"{label}We ship on Friday.\nBob: Yes.\n{label}The frobnicator needs a new gasket.\n"
    bench.write({"chat.txt": said})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(match="frobnicator")
        assert bench.holding("frobnicator", "gasket") == []
        bench.write({"chat.txt": f"{said}{label}It is green.\nBob: It is.\n{label}Good.\n"})
        await memu.memorize_workspace(bench.work)
    assert bench.holding("frobnicator", "gasket") == []


async def test_what_an_older_memu_was_told_to_forget_stays_away(bench: Bench) -> None:
    """Before revision 0004 it was not noted how a statement begins: there it is looked for everywhere."""
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(match="blue lantern")
    bench.change("DELETE FROM tombstone WHERE key_hash LIKE ?", "run:%")
    # What that revision does to such a store.
    bench.change(
        "INSERT INTO tombstone (scope_id, key_hash, created_at)"
        " SELECT scope_id, ?, min(created_at) FROM tombstone GROUP BY scope_id",
        "run:any",
    )
    bench.write(TELLING)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        assert bench.holding(*WORDS) == []
        await memu.forget(match="Tuesdays")
        bench.write({"more.md": f"# More\n\n{SECRET} Deploys go out on Tuesdays.\n"})
        await memu.memorize_workspace(bench.work)
    assert bench.holding(*WORDS, "tuesdays") == []


async def test_a_new_folder_of_the_scope_does_not_bring_it_back_and_another_scope_keeps_it(bench: Bench) -> None:
    bench.write({"treasure.md": TELLING["bullet.md"]}, folder="second")
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(await find_entry(memu))
        await memu.memorize_workspace(bench.base / "second")
        assert bench.holding(*WORDS) == []
        await memu.memorize_workspace(bench.base / "second", user={"user_id": "carol"})
        await memu.forget(await find_entry(memu, "harbour master"))
        assert "lantern" in await search(memu, where={"user_id": "carol"})
        assert await find_entry(memu, "harbour master", user={"user_id": "carol"})


@pytest.mark.parametrize("loss", ["file", "folder", "unreadable"])
async def test_it_goes_when_the_source_cannot_be_read_any_more(loss: str, bench: Bench) -> None:
    bench.write({f"{name}": text for name, text in TELLING.items()})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        entry = await find_entry(memu)
        if loss == "folder":
            shutil.rmtree(bench.work)
        for name in (*TELLING, "treasure.md") if loss != "folder" else ():
            (bench.work / name).unlink()
            if loss == "unreadable":
                (bench.work / name).mkdir()
        receipt = await memu.forget(entry)
        assert {problem.path for problem in receipt.unread} == set(receipt.sources)
        assert bench.holding(*WORDS) == []


async def test_no_encoder_is_needed_and_the_next_sync_heals_the_vectors(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        entry = await find_entry(memu)
    async with bench.open(encoder=FailingEncoder(16)) as memu:
        await memu.forget(entry)
        assert bench.holding(*WORDS) == []
    async with bench.open() as memu:
        report = await memu.memorize_workspace(bench.work)
        assert report.vectors_missing == 0
    assert bench.outcome() == (await bench.fresh()).outcome()


async def test_a_dry_run_quotes_what_would_go_and_writes_nothing(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        before = bench.rows(), bench.trees()
        entry = await find_entry(memu)
        plan = await memu.forget(entry, dry_run=True, purge=True)
        assert (plan.texts, plan.sources, plan.purged) == ((SECRET,), ("treasure.md",), False)
        assert (await memu.forget(match="lantern", dry_run=True)).texts == (SECRET,)
        assert (await memu.forget("treasure.md", dry_run=True)).removed == ("treasure.md",)
        assert (await memu.forget(everything=True, dry_run=True)).entries > 2
        assert (bench.rows(), bench.trees()) == before
        done = await memu.forget(entry)
    assert (done.entries, done.sources, done.texts) == (plan.entries, plan.sources, ())
    assert SECRET not in json.dumps(done.to_dict())


async def test_a_forgotten_file_stays_away_and_what_others_say_stays(bench: Bench) -> None:
    bench.write({"second.md": f"# Second\n\n- {SECRET}\n- Ropes are always coiled clockwise.\n"})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        receipt = await memu.forget("treasure.md")
        assert (receipt.removed, receipt.stays) == (("treasure.md",), ("second.md#L3",))
        assert bench.holding("harbour") == []
        assert await find_entry(memu)
        (bench.work / "treasure.md").write_text("# Treasure\n\n- The harbour is always shut at night.\n")
        report = await memu.memorize_workspace(bench.work)
        assert ("treasure.md", "forgotten") in {(one.path, one.reason) for one in report.skipped}
        assert bench.holding("harbour") == []
    assert bench.outcome() == (await bench.fresh()).outcome()


async def test_a_forgotten_file_does_not_come_back_under_another_name_until_it_is_undone(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget("treasure.md")
        (bench.work / "treasure.md").rename(bench.work / "other.md")
        report = await memu.memorize_workspace(bench.work)
        assert ("other.md", "forgotten") in {(one.path, one.reason) for one in report.skipped}
        assert bench.holding(*WORDS) == []
        assert bench.outcome() == (await bench.fresh()).outcome()
        assert (await memu.forget(undo="other.md")).sources == ("other.md",)
        assert (await memu.memorize_workspace(bench.work)).ok
        assert await find_entry(memu)
        with pytest.raises(NotFound):
            await memu.forget(undo="other.md")


async def test_a_copy_that_stays_keeps_what_the_forgotten_file_said(bench: Bench) -> None:
    bench.write({"copy.md": TELLING["bullet.md"]})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        receipt = await memu.forget(str(bench.work / "treasure.md"))
        assert receipt.removed == ("treasure.md",)
        assert {one.split("#")[0] for one in receipt.stays} == {"copy.md"}
        await memu.memorize_workspace(bench.work)
        assert (await memu.get(await find_entry(memu))).path == "copy.md"
    assert bench.outcome() == (await bench.fresh()).outcome()


async def test_get_and_copies_show_no_forgotten_word_though_the_file_has_it(bench: Bench) -> None:
    from memu import Settings

    settings = Settings.load(out=str(bench.out)).model_copy(update={"resources": "copy"})
    async with bench.open(settings=settings) as memu:
        await memu.memorize_workspace(bench.work)
        assert bench.holding(SECRET)
        await memu.forget(await find_entry(memu))
        assert bench.holding(*WORDS) == []
        assert "harbour" in (await memu.get("treasure.md#L1-L9")).text
        assert "lantern" not in (await memu.get("treasure.md")).text


async def test_a_hand_edited_page_is_left_and_named(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        path = next(path for path, data in bench.trees().items() if b"lantern" in data)
        edited = bench.out / path
        edited.write_text(edited.read_text(encoding="utf-8") + "\nmy own words\n", encoding="utf-8")
        receipt = await memu.forget(await find_entry(memu))
    assert [Path(one).resolve() for one in receipt.kept_files] == [edited.resolve()]


async def test_a_sync_that_runs_is_waited_for_or_named_busy(bench: Bench) -> None:
    async with bench.open() as memu, bench.open() as other:
        await memu.memorize_workspace(bench.work)
        entry = await find_entry(memu)
        name = f"the sync of {bench.work.resolve()} for {Scope.of()}"
        async with other._database.lock(name):
            with pytest.raises(BusyError):
                await memu.forget(entry)
            assert (await memu.forget(entry, dry_run=True)).entries == 1
        assert (await memu.forget(entry, wait=True)).entries == 1


@pytest.mark.parametrize(
    "options",
    [{}, {"match": "x", "everything": True}, {"match": "..."}, {"reference": "a", "undo": "b"}],
)
async def test_a_request_that_names_no_one_thing_is_refused(options: dict[str, Any], bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        with pytest.raises(ConfigurationError):
            await memu.forget(**options)
        with pytest.raises(NotFound):
            await memu.forget("memory/no such page")
        assert bench.holding(*WORDS)


@pytest.mark.parametrize(
    ("name", "store_server"),
    [("documents", "sqlite"), ("chats/sessions", "sqlite"), ("readers", "sqlite"), ("readers", "postgres")],
    indirect=["store_server"],
)
async def test_real_sources_are_cut_of_any_statement_and_equal_a_fresh_store(
    name: str, tmp_path: Path, store_server: Server | None
) -> None:
    bench = Bench(tmp_path, server=store_server)
    shutil.copytree(DATA / name, bench.work)
    said: list[str] = []
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        entries = sorted(await memu.list_entries(), key=lambda one: (one.path or "", one.text))
        for entry in entries[:: len(entries) // 4]:
            if (await memu.forget(match=entry.text)).entries:
                said.append(text_key(entry.text))
    rows = [text_key(" ".join(map(str, row))) for found in bench.rows().values() for row in found]
    assert len(said) > 3
    assert [key for key in said for row in rows if key in row] == []
    assert check_tree(bench.out / "workspace-memory")[1] == []
    assert bench.outcome() == (await bench.fresh(encoder=None)).outcome()
