"""Documents in a folder, from the file to the pages: places in citations, edits, deletions, a late extra."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from support.office import make_book, make_pdf

from memu import MemoryService, Settings, Workflow
from memu.errors import NotFound
from memu.ingest.office.forms import MISSING
from memu.memorize.file_steps import Read
from memu.retrieve.source_text import OPENED

pytestmark = pytest.mark.e2e

DATA = Path(__file__).parents[1] / "data" / "office"
PLAN = ["We decided to moor the ferry at pier 4.", "The heron Ludwig guards the fish crates at night."]


def open_memu(folder: Path, **options: Any) -> MemoryService:
    return MemoryService.open(folder=folder, **{"encoder": None, **options})


def tree_of(folder: Path) -> dict[str, str]:
    root = folder / ".memu" / "workspace-memory"
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


async def sync(folder: Path, **options: Any) -> Any:
    async with open_memu(folder, **options) as memu:
        return await memu.memorize_workspace(folder)


def skipped(report: Any) -> dict[str, str]:
    return {each.path: each.reason for each in report.skipped if not each.path.startswith(".memu")}


def without_libraries(workflow: Workflow[Any]) -> Workflow[Any]:
    return workflow.replacing("read", Read(10_000_000, find=lambda name: None))


async def test_p4_pages_cite_the_page_of_a_document_and_get_shows_it(tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_bytes(make_pdf(PLAN))
    async with open_memu(tmp_path) as memu:
        report = await memu.memorize_workspace(tmp_path)
        assert (report.added, skipped(report), report.failed) == (("plan.pdf",), {}, ())
        [hit, *_] = (await memu.retrieve_workspace("who guards the fish crates")).hits
        assert (hit.path, hit.place, hit.lines) == ("plan.pdf", "page 2", None)
        for reference in ("plan.pdf#page 2", "plan.pdf#page-2", "plan.pdf#Page_2"):
            shown = await memu.get(reference)
            assert (shown.text, shown.place) == (PLAN[1], "page 2")
        whole = await memu.get("plan.pdf")
        assert whole.text == "\n\n".join(PLAN)
        assert whole.notice is not None
        with pytest.raises(NotFound):
            await memu.get("plan.pdf#page-3")
    pages = "".join(path.read_text() for path in (tmp_path / ".memu" / "workspace-memory" / "memory").glob("*.md"))
    assert "[plan.pdf page 1](../../../plan.pdf)" in pages


async def test_p3_after_edits_and_deletions_the_tree_is_that_of_a_fresh_store(tmp_path: Path) -> None:
    folder, fresh = tmp_path / "folder", tmp_path / "fresh" / "folder"
    folder.mkdir()
    (folder / "plan.pdf").write_bytes(make_pdf(PLAN))
    (folder / "book.epub").write_bytes(make_book(["<p>The lighthouse is painted every second spring.</p>"]))
    (folder / "sheet.xlsx").write_bytes((DATA / "test.xlsx").read_bytes())
    (folder / "notes.md").write_text("# Notes\n\nThe harbour opens at six.\n")
    await sync(folder)
    (folder / "plan.pdf").write_bytes(make_pdf(["We decided to moor the ferry at pier 9.", "", PLAN[1]]))
    (folder / "book.epub").unlink()
    (folder / "sheet.xlsx").rename(folder / "numbers.xlsx")
    report = await sync(folder)
    assert (report.modified, report.deleted, report.moved) == (
        ("plan.pdf",),
        ("book.epub",),
        (("sheet.xlsx", "numbers.xlsx"),),
    )
    told = "".join(path.read_text() for path in (folder / ".memu" / "workspace-memory").rglob("*.md"))
    assert "pier 9" in told
    assert "pier 4" not in told
    assert "lighthouse" not in told
    fresh.mkdir(parents=True)
    for path in folder.iterdir():
        if path.is_file():
            (fresh / path.name).write_bytes(path.read_bytes())
    await sync(fresh)
    assert tree_of(folder) == tree_of(fresh)


async def test_p5_without_the_extra_a_document_waits_and_is_read_once_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_bytes(make_pdf(PLAN))
    (tmp_path / "notes.md").write_text("# Notes\n\nThe harbour opens at six.\n")
    report = await sync(tmp_path, workflows={"memorize": without_libraries})
    assert skipped(report) == {"plan.pdf": MISSING}
    assert report.ok
    async with open_memu(tmp_path) as memu:
        planned = await memu.plan_workspace(tmp_path)
        assert planned.retried == ("plan.pdf",)
        report = await memu.memorize_workspace(tmp_path)
        assert skipped(report) == {}
        assert (await memu.get("plan.pdf#page-1")).text == PLAN[0]


async def test_p7_an_unchanged_document_is_not_opened_and_keeps_its_memory_without_the_extra(
    tmp_path: Path,
) -> None:
    (tmp_path / "plan.pdf").write_bytes(make_pdf(PLAN))
    await sync(tmp_path)
    before = tree_of(tmp_path)
    report = await sync(tmp_path, workflows={"memorize": without_libraries})
    assert (report.unchanged, skipped(report), tree_of(tmp_path)) == (1, {}, before)


async def test_a_thorough_examination_of_documents_finds_nothing(tmp_path: Path) -> None:
    for path in DATA.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    async with open_memu(tmp_path) as memu:
        report = await memu.memorize_workspace(tmp_path)
        assert (len(report.added), skipped(report)) == (5, {})
        assert (await memu.examine(thorough=True)).findings == ()


async def test_p4_forgetting_what_a_page_said_leaves_the_other_pages(tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_bytes(make_pdf(PLAN))
    async with open_memu(tmp_path) as memu:
        await memu.memorize_workspace(tmp_path)
        [entry] = [each for each in await memu.list_entries() if "heron" in each.text]
        await memu.forget(entry.id)
        await memu.memorize_workspace(tmp_path)
        shown = [each.text for each in await memu.list_entries()]
        assert shown == [PLAN[0]]
        hits = (await memu.retrieve_workspace("heron Ludwig fish crates")).hits
        assert not any("heron" in hit.text for hit in hits)


async def test_p11_a_copied_tree_holds_no_document_whatever_its_bytes_look_like(tmp_path: Path) -> None:
    # A sender's line in front makes its bytes look like text.
    (tmp_path / "plan.pdf").write_bytes(b"sent by mail\n" + make_pdf(PLAN))
    (tmp_path / "notes.md").write_text("# Notes\n\nThe harbour opens at six.\n")
    await sync(tmp_path, settings=Settings.load(resources="copy", encoder="none"))
    tree = tmp_path / ".memu" / "workspace-memory"
    files = {path.name: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert b"harbour opens" in files["notes.md"]
    assert not [name for name, data in files.items() if b"%PDF-" in data]
    async with open_memu(tmp_path) as memu:
        shown = await memu.get("plan.pdf")
        assert (shown.text, shown.notice) == ("\n\n".join(PLAN), OPENED)
