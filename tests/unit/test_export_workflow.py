"""The export of a store: rows in, a tree out, and nothing at all when nothing changed."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memu.errors import BusyError, ConfigurationError, NotFound
from memu.export.disk import FileStat, LocalDisk
from memu.export.exporter import Exporter, _lock_name, tree_of
from memu.export.manifest import MANIFEST
from memu.export.state import ExportState
from memu.export.workflow import export_workflow
from memu.records import (
    EMPTY_SCOPE,
    ExportReport,
    Kind,
    LineSpan,
    MemoryType,
    RecallEntry,
    Resource,
    Scope,
    State,
    Track,
)
from memu.storage.database import Database
from memu.storage.publications import Publication
from memu.storage.repository import Repository
from memu.workflow import Interceptor, StepEvent

pytestmark = pytest.mark.unit

ALICE, BOB = Scope.of({"user_id": "alice"}), Scope.of({"user_id": "bob"})
CONTENT = "- {text} [^aaaaa]"


class WatchedDisk(LocalDisk):
    """The real disk, but for waiting; it notes what it is asked to open or change."""

    def __init__(self) -> None:
        self.touched: list[str] = []

    def read(self, path: Path) -> bytes:
        self.touched.append(f"read {path.name}")
        return super().read(path)

    def create(self, path: Path, data: bytes) -> None:
        self.touched.append(f"create {path.name}")
        with path.open("xb") as file:
            file.write(data)

    def remove(self, path: Path) -> None:
        self.touched.append(f"remove {path.name}")
        super().remove(path)

    def settle(self, folder: Path) -> None:
        pass


def store_page(repository: Repository, root: Path, name: str, text: str) -> None:
    """A source ``a.md`` that says ``text``, and the page that quotes it."""
    workspace = repository.workspaces.find(root=str(root)) or repository.workspaces.add(name=None, root=str(root))
    resource = repository.resources.save(
        Resource(id="", workspace_id=workspace.id, path="a.md", kind=Kind.DOCUMENT, title="A", state=State.DONE)
    )
    entry = RecallEntry(
        id="",
        resource_id=resource.id,
        ordinal=0,
        memory_type=MemoryType.KNOWLEDGE,
        track=Track.MEMORY,
        text=text,
        text_key=text,
        lines=LineSpan(3, 3),
    )
    ids = repository.entries.replace(resource.id, [entry])
    page = repository.pages.ensure(Track.MEMORY, name)
    repository.pages.link(page.id, ids)
    repository.pages.set_marks(page.id, dict.fromkeys(ids, "aaaaa"))
    stored = repository.pages.get(page.id)
    assert stored
    changed = type(stored)(
        id=stored.id,
        track=stored.track,
        folded_name=stored.folded_name,
        name=stored.name,
        description=f"about {name}",
        content=CONTENT.format(text=text),
    )
    assert repository.pages.save(changed, stored.version)


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = Database.open("sqlite://")
    yield database
    database.close()


@pytest.fixture
def disk() -> WatchedDisk:
    return WatchedDisk()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "somebodys-notes"
    root.mkdir()
    (root / "a.md").write_text("a\nb\nsaid\n")
    return root


def no_copy(root: Path, path: str) -> bytes | None:
    raise AssertionError("sources are linked")


def exporter(database: Database, disk: WatchedDisk, **more: object) -> Exporter:
    return Exporter(
        database=database,
        find_workflow=lambda: export_workflow(database, read_copy=no_copy, disk=disk),
        disk=disk,
        **more,  # type: ignore[arg-type]
    )


async def save(database: Database, root: Path, name: str, text: str, scope: Scope = EMPTY_SCOPE) -> None:
    await database.write(lambda session: store_page(session.within(scope), root, name, text))


async def test_rows_become_a_tree(database: Database, disk: WatchedDisk, root: Path) -> None:
    await save(database, root, "Plans", "said")
    report = await exporter(database, disk).export(EMPTY_SCOPE, root / ".memu")
    tree = root / ".memu/workspace-memory"
    assert report == ExportReport(tree=str(tree), written=("INDEX.md", "MEMORY.md", "SKILL.md", "memory/plans.md"))
    text = (tree / "memory/plans.md").read_text()
    assert "- said [^aaaaa]\n\n[^aaaaa]: [a.md L3](../../../a.md#L3)\n" in text
    assert (tree / "memory" / "../../../a.md").resolve() == (root / "a.md").resolve()
    assert not any(b"somebodys-notes" in each.read_bytes() for each in tree.rglob("*") if each.is_file())


async def test_p7_an_unchanged_export_opens_and_writes_nothing(
    database: Database, disk: WatchedDisk, root: Path
) -> None:
    await save(database, root, "Plans", "said")
    first = await exporter(database, disk).export(EMPTY_SCOPE, root / ".memu")
    disk.touched.clear()
    steps: list[str] = []

    class Watcher(Interceptor):
        async def before(self, event: StepEvent) -> None:
            steps.append(event.step)

    report = await exporter(database, disk, interceptors=[Watcher()]).export(EMPTY_SCOPE, root / ".memu")
    assert report == ExportReport(tree=first.tree, unchanged=len(first.written))
    assert (disk.touched, steps) == ([], [])


def edit(tree: Path) -> None:
    (tree / "memory/plans.md").write_text("mine")


def edit_by_rename(tree: Path) -> None:
    page = tree / "memory/plans.md"
    stat = page.stat()
    page.with_name("new").write_bytes(page.read_bytes()[::-1])
    os.utime(page.with_name("new"), ns=(stat.st_atime_ns, stat.st_mtime_ns))
    page.with_name("new").replace(page)


def delete_page(tree: Path) -> None:
    (tree / "memory/plans.md").unlink()


def delete_manifest(tree: Path) -> None:
    (tree / MANIFEST).unlink()


@pytest.mark.parametrize("change", [edit, edit_by_rename, delete_page, delete_manifest, shutil.rmtree])
async def test_any_change_of_the_tree_is_seen(
    database: Database, disk: WatchedDisk, root: Path, change: Callable[[Path], None]
) -> None:
    """P10 and F29 hold though an unchanged tree is skipped."""
    await save(database, root, "Plans", "said")
    export = exporter(database, disk)
    await export.export(EMPTY_SCOPE, root / ".memu")
    tree = tree_of(EMPTY_SCOPE, root / ".memu")
    change(tree)
    kept = await export.export(EMPTY_SCOPE, root / ".memu")
    beside = "memory/plans.memu.md" if kept.kept else "memory/plans.md"
    assert "said" in (tree / beside).read_text()
    assert kept.kept == (("memory/plans.md",) if change in (edit, edit_by_rename) else ())
    again = await export.export(EMPTY_SCOPE, root / ".memu")
    assert (again.kept, again.unchanged, again.written) == (kept.kept, 4, ())


async def test_a_change_of_rows_is_seen(database: Database, disk: WatchedDisk, root: Path) -> None:
    await save(database, root, "Plans", "said")
    export = exporter(database, disk)
    await export.export(EMPTY_SCOPE, root / ".memu")
    await save(database, root, "Plans", "said anew")
    report = await export.export(EMPTY_SCOPE, root / ".memu")
    assert report.written == ("memory/plans.md",)


async def test_f27_f43_two_users_get_two_trees(database: Database, disk: WatchedDisk, root: Path) -> None:
    export = exporter(database, disk)
    out = root / "out"
    for scope in (ALICE, BOB):
        await save(database, root, "Plans", f"said by {scope}", scope)
    first = await export.export(ALICE, out)
    before = {each: each.read_bytes() for each in (out / "user-id-alice").rglob("*.md")}
    second = await export.export(BOB, out)
    assert [Path(each.tree).name for each in (first, second)] == ["user-id-alice", "user-id-bob"]
    assert {each: each.read_bytes() for each in (out / "user-id-alice").rglob("*.md")} == before
    assert not any("alice" in each.read_text() for each in (out / "user-id-bob").rglob("*") if each.is_file())
    assert sorted(each.name for each in out.iterdir()) == ["user-id-alice", "user-id-bob"]


async def test_nothing_stored_is_no_tree(database: Database, disk: WatchedDisk, tmp_path: Path) -> None:
    """A misspelt user leaves no rows and no folder behind."""
    with pytest.raises(NotFound, match="user_id=alice"):
        await exporter(database, disk).export(ALICE, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert await database.read(lambda session: session.scopes()) == ()


async def test_p8_one_publishes_at_a_time(database: Database, disk: WatchedDisk, root: Path) -> None:
    await save(database, root, "Plans", "said")
    inside = asyncio.Event()
    leave = asyncio.Event()

    class Slow(Interceptor):
        async def before(self, event: StepEvent) -> None:
            if event.step == "publish":
                inside.set()
                await leave.wait()

    slow = asyncio.create_task(exporter(database, disk, interceptors=[Slow()]).export(EMPTY_SCOPE, root / ".memu"))
    await inside.wait()
    with pytest.raises(BusyError):
        await exporter(database, disk, wait_seconds=0).export(EMPTY_SCOPE, root / ".memu")
    waiting = asyncio.create_task(exporter(database, disk).export(EMPTY_SCOPE, root / ".memu"))
    disk.touched.clear()
    leave.set()
    assert len((await slow).written) == 4
    # What it came for stands by then: it opens nothing.
    assert (await waiting).written == ()
    assert not [each for each in disk.touched if each.startswith("read")]


async def test_p8_who_waits_for_a_tree_waits_as_long_as_others_publish_it(
    database: Database, disk: WatchedDisk, root: Path
) -> None:
    """Eight jobs may take longer together than one waits for another that does nothing."""
    await save(database, root, "Plans", "said")
    tree = tree_of(EMPTY_SCOPE, root / ".memu")
    async with database.lock(_lock_name(EMPTY_SCOPE, tree)):
        waiting = asyncio.create_task(
            exporter(database, disk, wait_seconds=0.4).export(EMPTY_SCOPE, root / ".memu")
        )
        for turn in range(5):
            other = Publication(tree=str(tree), version=0, fingerprint=f"another job's {turn}")
            await database.write(lambda session, other=other: session.within(EMPTY_SCOPE).publications.set(other))
            await asyncio.sleep(0.2)
        assert not waiting.done()
    assert len((await waiting).written) == 4


async def test_a_step_that_fails_frees_the_tree(database: Database, disk: WatchedDisk, root: Path) -> None:
    await save(database, root, "Plans", "said")

    async def fail(state: ExportState) -> ExportState:
        raise RuntimeError("no")

    export = exporter(database, disk)
    failing = export.find_workflow().replacing("publish", fail)
    broken = Exporter(database=database, find_workflow=lambda: failing, disk=disk)
    with suppress(RuntimeError):
        await broken.export(EMPTY_SCOPE, root / ".memu")
    assert len((await export.export(EMPTY_SCOPE, root / ".memu")).written) == 4


@pytest.mark.parametrize("as_given", ["memory/plans.md", "./memory/plans.md", "absolute"])
async def test_force_takes_paths_as_people_give_them(
    database: Database, disk: WatchedDisk, root: Path, as_given: str
) -> None:
    await save(database, root, "Plans", "said")
    export = exporter(database, disk)
    await export.export(EMPTY_SCOPE, root / ".memu")
    page = tree_of(EMPTY_SCOPE, root / ".memu") / "memory/plans.md"
    page.write_text("mine")
    await export.export(EMPTY_SCOPE, root / ".memu")
    assert page.read_text() == "mine"
    path = str(page) if as_given == "absolute" else as_given
    report = await export.export(EMPTY_SCOPE, root / ".memu", force=[path])
    assert (report.kept, report.removed) == ((), ("memory/plans.memu.md",))
    assert "said" in page.read_text()
    with pytest.raises(ConfigurationError):
        await export.export(EMPTY_SCOPE, root / ".memu", force=["memory/other.md"])


async def test_sources_are_copied_on_request(database: Database, disk: WatchedDisk, root: Path) -> None:
    await save(database, root, "Plans", "said")
    asked: list[tuple[Path, str]] = []

    def read_copy(root: Path, path: str) -> bytes | None:
        asked.append((root, path))
        return b"a\nb\n[redacted]\n"

    for resources, wanted in (("link", []), ("copy", [(root, "a.md")])):
        export = Exporter(
            database=database,
            find_workflow=lambda: export_workflow(database, read_copy=read_copy, disk=disk),
            disk=disk,
            resources=resources,  # type: ignore[arg-type]
        )
        await export.export(EMPTY_SCOPE, root / ".memu")
        assert asked == wanted
    tree = tree_of(EMPTY_SCOPE, root / ".memu")
    assert (tree / "sources/a.md").read_bytes() == b"a\nb\n[redacted]\n"
    assert "](../sources/a.md#L3)" in (tree / "memory/plans.md").read_text()


async def test_a_tree_reached_by_a_link_still_leads_to_its_sources(
    database: Database, disk: WatchedDisk, root: Path, tmp_path: Path
) -> None:
    """``..`` leads up from where the tree really lies."""
    real = tmp_path / "deep" / "er" / "real"
    real.mkdir(parents=True)
    (tmp_path / "out").symlink_to(real)
    await save(database, root, "Plans", "said")
    report = await exporter(database, disk).export(EMPTY_SCOPE, tmp_path / "out")
    assert report.tree == str(real / "workspace-memory")
    assert "](../../../../../somebodys-notes/a.md#L3)" in (real / "workspace-memory/memory/plans.md").read_text()


def test_the_watched_disk_sees_what_the_real_one_does(disk: WatchedDisk, tmp_path: Path) -> None:
    disk.create(tmp_path / "x", b"1")
    found = disk.stat(tmp_path / "x")
    assert isinstance(found, FileStat)
    assert (found.sort, found.size, disk.touched) == ("file", 1, ["create x"])
