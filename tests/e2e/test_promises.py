"""The promises of the store and its tree, held over whole syncs of real and invented folders."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.citations import check_tree
from support.postgres import Server
from support.rows import Place, dump_rows
from support.stores import Bench

from memu import MemoryService
from memu.errors import RootError
from memu.providers.fakes import FailingEncoder, HashingEncoder
from memu.tokens import index_terms

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
FOLDERS = {
    "example": ROOT / "examples" / "workspace",
    "documents": DATA / "documents",
    "chats": DATA / "chats" / "sessions",
    "readers": DATA / "readers",
}
# A sync may write its own record and, where a file was looked at again, its stat fields; nothing else.
FREE_TABLES = {"sync_run", "lock"}


def copy(name: str, place: Path) -> Path:
    return Path(shutil.copytree(FOLDERS[name], place / name))


@dataclass(frozen=True)
class Stores:
    """A store for each folder: in it, as it is by default, or a database of the server."""

    server: Server | None

    def open(self, folder: Path, **options: Any) -> MemoryService:
        db = None if self.server is None else self.server.named(str(folder))
        return MemoryService.open(db, folder=folder, **{"encoder": None, **options})

    def place(self, folder: Path) -> Place:
        return folder / ".memu" / "memu.sqlite3" if self.server is None else self.server.named(str(folder))

    def rows(self, folder: Path) -> dict[str, list[tuple[Any, ...]]]:
        return dump_rows(self.place(folder))


@pytest.fixture
def stores(store_server: Server | None) -> Stores:
    return Stores(store_server)


def exported(folder: Path) -> dict[str, tuple[bytes, int]]:
    tree = folder / ".memu" / "workspace-memory"
    files = (path for path in tree.rglob("*") if path.is_file())
    return {path.relative_to(tree).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


class Counting(HashingEncoder):
    """Counts what it is asked for."""

    texts = 0

    async def encode(self, texts: Any) -> Any:
        self.texts += len(texts)
        return await super().encode(texts)


@pytest.mark.parametrize("name", sorted(FOLDERS))
async def test_p4_every_block_leads_to_lines_that_hold_its_words(
    name: str, tmp_path: Path, stores: Stores
) -> None:
    folder = copy(name, tmp_path)
    async with stores.open(folder) as memu:
        report = await memu.memorize_workspace(folder)
    assert report.failed == ()
    blocks, broken = check_tree(folder / ".memu" / "workspace-memory")
    assert broken == []
    assert blocks > 3


@pytest.mark.parametrize("name", sorted(FOLDERS))
async def test_p5_every_file_is_a_source_or_listed_with_a_reason(
    name: str, tmp_path: Path, stores: Stores
) -> None:
    folder = copy(name, tmp_path)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    async with stores.open(folder) as memu:
        report = await memu.memorize_workspace(folder)
    listed = {problem.path: problem.reason for problem in (*report.skipped, *report.failed)}
    assert all(listed.values())
    stored = {row[3] for row in stores.rows(folder)["resource"]}
    covered = stored | listed.keys()
    assert {path for path in files if not any(path == one or path.startswith(one) for one in covered)} == set()


@pytest.mark.parametrize("name", sorted(FOLDERS))
async def test_p7_a_second_sync_costs_and_writes_nothing(name: str, tmp_path: Path, stores: Stores) -> None:
    folder, encoder = copy(name, tmp_path), Counting()
    async with stores.open(folder, encoder=encoder) as memu:
        first = await memu.memorize_workspace(folder)
        assert encoder.texts > 0
        assert first.vectors_missing == 0
        # Files just written lie in the racy window: this sync settles them.
        await memu.memorize_workspace(folder)
    rows, files, asked = stores.rows(folder), exported(folder), encoder.texts
    async with stores.open(folder, encoder=encoder) as memu:
        report = await memu.memorize_workspace(folder)
    assert report.unchanged == len(first.added)
    assert (report.added, report.modified, report.pages.created, report.usage.calls) == ((), (), (), 0)
    assert encoder.texts == asked
    assert exported(folder) == files
    again = stores.rows(folder)
    assert {table for table in rows if rows[table] != again[table]} <= FREE_TABLES


@pytest.mark.parametrize(("name", "gone"), [("documents", "crontab.md"), ("example", ""), ("chats", "")])
async def test_p4_what_only_a_deleted_source_said_is_gone_from_everything(
    name: str, gone: str, tmp_path: Path, stores: Stores
) -> None:
    folder = copy(name, tmp_path)
    tree = folder / ".memu" / "workspace-memory"
    gone = gone or min(
        (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in {".md", ".json"}),
    )
    async with stores.open(folder, encoder=HashingEncoder()) as memu:
        await memu.memorize_workspace(folder)
    words = own_words(folder, gone)
    assert len(words) > 5
    before = everything(stores.rows(folder), tree)
    assert any(word in before for word in words)
    (folder / gone).unlink()
    async with stores.open(folder, encoder=HashingEncoder()) as memu:
        report = await memu.memorize_workspace(folder)
        assert report.deleted == (gone,)
        after = everything(stores.rows(folder), tree)
        assert [word for word in words if word in after] == []
        # No row has any of them; that no search gives one is asked of some.
        for word in words[:: max(1, len(words) // 20)]:
            hits = (await memu.retrieve_workspace(word)).hits
            assert all(word not in hit.text.casefold() and hit.path != gone for hit in hits)


def own_words(folder: Path, gone: str) -> list[str]:
    """Words, as they are indexed and as they stand, that only this file has."""

    def words(paths: list[Path]) -> set[str]:
        texts = [path.read_text(encoding="utf-8", errors="replace") + " " + path.name for path in paths]
        plain = {word for text in texts for word in re.findall(r"[^\W\d_]{6,}", text.casefold())}
        return plain | {term for text in texts for term in index_terms(text, "en") if term.isalpha()}

    files = [path for path in folder.rglob("*") if path.is_file() and ".memu" not in path.parts]
    others = words([path for path in files if path != folder / gone])
    rest = " ".join(others)
    return sorted(word for word in words([folder / gone]) - others if len(word) > 6 and word not in rest)


def everything(rows: dict[str, list[tuple[Any, ...]]], tree: Path) -> str:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in tree.rglob("*") if path.is_file())
    return repr(rows).casefold() + pages.casefold()


async def test_p3_deleting_and_adding_again_ends_where_a_fresh_store_does(tmp_path: Path, stores: Stores) -> None:
    folder, out = copy("documents", tmp_path), tmp_path / "out"
    bench, other = (Bench(tmp_path, name, stores.server) for name in ("one", "two"))
    async with bench.open(out=out, encoder=None) as memu:
        await memu.memorize_workspace(folder)
        text = (folder / "crontab.md").read_bytes()
        (folder / "crontab.md").unlink()
        await memu.memorize_workspace(folder)
        (folder / "crontab.md").write_bytes(text)
        await memu.memorize_workspace(folder)
    async with other.open(encoder=None) as memu:
        await memu.memorize_workspace(folder)
    assert bench.comparable() == other.comparable()


async def test_f5_a_rename_keeps_ids_and_is_reported_as_a_move(tmp_path: Path, stores: Stores) -> None:
    folder = copy("documents", tmp_path)
    async with stores.open(folder) as memu:
        await memu.memorize_workspace(folder)
        before = {entry.id: entry.text for entry in await memu.list_entries() if entry.path == "crontab.md"}
        (folder / "deep").mkdir()
        (folder / "crontab.md").rename(folder / "deep" / "cron.md")
        report = await memu.memorize_workspace(folder)
        after = {entry.id: entry.text for entry in await memu.list_entries() if entry.path == "deep/cron.md"}
    assert report.moved == (("crontab.md", "deep/cron.md"),)
    assert (report.added, report.deleted) == ((), ())
    assert before
    assert before == after


async def test_f6_a_file_emptied_takes_its_memory_along(tmp_path: Path, stores: Stores) -> None:
    (tmp_path / "a.md").write_text("# Bridge\n\nThe bridge opens at noon on every market day.\n", encoding="utf-8")
    async with stores.open(tmp_path) as memu:
        await memu.memorize_workspace(tmp_path)
        assert len(await memu.list_entries()) == 1
        (tmp_path / "a.md").write_text("\n", encoding="utf-8")
        report = await memu.memorize_workspace(tmp_path)
        assert await memu.list_entries() == ()
        assert (await memu.retrieve_workspace("bridge")).hits == ()
    assert [(problem.path, problem.reason) for problem in report.skipped if problem.path == "a.md"] == [
        ("a.md", "empty")
    ]
    assert len(report.pages.removed) == 1


async def test_f9_copied_pages_and_an_output_folder_inside_are_never_read(tmp_path: Path, stores: Stores) -> None:
    folder, bench = copy("example", tmp_path), Bench(tmp_path, server=stores.server)
    for _ in range(3):
        async with bench.open(out=folder / "pages", encoder=None) as memu:
            report = await memu.memorize_workspace(folder)
            entries = await memu.list_entries()
        if not (folder / "copy").exists():
            first = len(entries)
            shutil.copytree(folder / "pages" / "workspace-memory", folder / "copy")
            (folder / "copy" / "skill").joinpath("x.md").unlink(missing_ok=True)
    assert len(entries) == first
    reasons = {problem.path: problem.reason for problem in report.skipped}
    assert reasons["pages/"] == "memu's own output"
    assert all(reason == "own export" for path, reason in reasons.items() if path.startswith("copy/"))
    assert sum(path.startswith("copy/") for path in reasons) > 4


async def test_p5_a_missing_or_emptied_root_deletes_nothing(tmp_path: Path, stores: Stores) -> None:
    folder = copy("documents", tmp_path)
    async with Bench(tmp_path, server=stores.server).open(encoder=None) as memu:
        await memu.memorize_workspace(folder)
        count = len(await memu.list_entries())
        folder.rename(tmp_path / "away")
        with pytest.raises(RootError, match="no such folder"):
            await memu.memorize_workspace(folder)
        folder.mkdir()
        with pytest.raises(RootError, match="--allow-empty"):
            await memu.memorize_workspace(folder)
        assert len(await memu.list_entries()) == count
        report = await memu.memorize_workspace(folder, allow_empty=True)
        assert len(report.deleted) > 5
        assert await memu.list_entries() == ()


async def test_p12_an_encoder_that_fails_costs_no_file_and_no_word(tmp_path: Path, stores: Stores) -> None:
    folder = copy("documents", tmp_path)
    async with stores.open(folder, encoder=FailingEncoder()) as memu:
        report = await memu.memorize_workspace(folder)
        assert report.ok
        assert report.degraded
        assert report.vectors_missing > 0
        result = await memu.retrieve_workspace("provisioned EC2 databases")
        assert result.hits
        assert result.degraded
    async with stores.open(folder, encoder=HashingEncoder(name="failing")) as memu:
        healed = await memu.memorize_workspace(folder)
        assert healed.vectors_missing == 0


async def test_f44_secrets_reach_neither_rows_nor_pages(tmp_path: Path, stores: Stores) -> None:
    key = "sk-" + "proj-" + "a1B2c3D4" * 6
    (tmp_path / "ops.md").write_text(
        f"# Operations\n\nThe key of the gateway is {key} and it is rotated each quarter.\n\n"
        "The mirror is at https://bob:" + "hunter22secret" + "@mirror.example.org/repo and answers slowly.\n",
        encoding="utf-8",
    )
    async with stores.open(tmp_path) as memu:
        report = await memu.memorize_workspace(tmp_path)
        assert sum(report.redactions.values()) >= 2
        found = (await memu.retrieve_workspace("key of the gateway")).hits
        assert found
        assert all(key not in hit.text for hit in found)
        listed = await memu.get("ops.md")
        assert key not in listed.text
        assert "[redacted:" in listed.text
    assert not [name for name, rows in stores.rows(tmp_path).items() if key in repr(rows)]
    stored = b"".join(path.read_bytes() for path in (tmp_path / ".memu").rglob("*") if path.is_file())
    assert key.encode() not in stored
    assert b"hunter22secret" not in stored


async def test_p6_no_scope_sees_another(tmp_path: Path, stores: Stores) -> None:
    folder = copy("chats", tmp_path)
    users = sorted(path.name for path in folder.iterdir())
    bench = Bench(tmp_path, server=stores.server)
    async with bench.open(encoder=HashingEncoder()) as memu:
        for user in users:
            await memu.memorize_workspace(folder / user, user={"user_id": user})
        shown = {user: {each.text for each in await memu.list_entries(user={"user_id": user})} for user in users}
        assert all(shown.values())
        assert await memu.list_entries() == ()
        for user in users:
            own = "".join(path.read_text(encoding="utf-8") for path in (folder / user).iterdir())
            for question in ("my job and my team", "what do I like to eat"):
                hits = (await memu.retrieve_workspace(question, where={"user_id": user})).hits
                entries = [hit for hit in hits if hit.layer == "entry"]
                assert all(hit.text.split(": ")[-1][:30] in own for hit in entries)
        assert (await memu.retrieve_workspace("my job and my team")).hits == ()
        everyone = await memu.retrieve_workspace("my job and my team", across=True, max_hits=50)
        assert len({hit.text for hit in everyone.hits}) > 3
    assert len([path for path in bench.out.iterdir() if path.is_dir()]) == len(users)
