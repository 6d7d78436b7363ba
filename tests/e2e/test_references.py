"""References that name nothing are an error that says how one looks, whatever was forgotten; parts of a source."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from support.stores import Bench

from memu import NotFound
from memu.cli.app import run

pytestmark = pytest.mark.e2e

DATA = Path(__file__).parents[1] / "data"
SESSION = "logs/daaain_representative.jsonl"
NOTES = (
    "# Deploys\n\nDeploys go out on Tuesdays at nine.\nThe gateway is left alone on Fridays.\nWe sail in May.\n"
)
POSTMARK = "From ann@boat.example Mon Mar  4 10:00:00 2024\n"
MAIL = f"{POSTMARK}From: Ann <a@b.example>\nTo: c@d.example\nSubject: {{}}\n\nThe crane comes on {{}} morning.\n\n"
TALKS = [
    {
        "title": title,
        "create_time": 1_700_000_000,
        "current_node": "b",
        "conversation_id": number,
        "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "author": {"role": "user"},
                    "create_time": 1_700_000_000,
                    "content": {"content_type": "text", "parts": [f"We always sail on {title}."]},
                },
            },
        },
    }
    for title, number in (
        ("Monday", "6f3a2b1c-0000-4000-8000-000000000001"),
        ("Friday", "7f3a2b1c-0000-4000-8000-2"),
    )
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    files = {
        "deploys.md": NOTES,
        "inbox.mbox": MAIL.format("Crane", "Friday") + MAIL.format("Boat", "Monday"),
        "conversations.json": json.dumps(TALKS),
    }
    made.write(files)
    for path in (SESSION.replace("logs", "sessions"), "office/test.pdf", "office/test.docx"):
        place = made.work / path.replace("sessions", "logs")
        place.parent.mkdir(exist_ok=True)
        shutil.copy(DATA / path, place)
    return made


NAMELESS = [
    *(f"{SESSION}#{part}" for part in ("turn--1", "turn-١", "turn-", "turn-0", "-1", "١", "turn-x")),
    *(f"office/test.pdf#{part}" for part in ("page--1", "page-", "page-١", "page-x", "page_-1", "page-0")),
    *(f"inbox.mbox#{part}" for part in ("message-x", "message--1", "message-", "message-3")),
    *(f"conversations.json#{part}" for part in ("conversation-", "conversation--6f3a2b1c", "conversation-6f3")),
    *(f"deploys.md#{part}" for part in ("L", "L-1", "L١", "L1-", "l5--l2")),
]


async def test_what_names_no_part_of_a_source_is_told_how_a_reference_looks(bench: Bench) -> None:
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        for reference in NAMELESS:
            with pytest.raises(NotFound, match="#page-3 for a document's page, #turn-3 for a session's turn"):
                await memu.get(reference)
        for reference in (f"{SESSION}#turn-1", "office/test.pdf#page-1", "inbox.mbox#message-2"):
            assert (await memu.get(reference)).text
        assert "Monday" in (await memu.get("conversations.json#conversation-6f3a2b1c")).text


LINES = ["L5-L2", "L0", "L0-L2", "L3-2", "L99"]
NO_LINES = "lines, counted from 1; it has no L"


async def test_lines_that_no_file_has_are_an_error_whatever_was_forgotten(bench: Bench) -> None:
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        for lines in LINES:
            for path in ("deploys.md", "inbox.mbox", SESSION):
                with pytest.raises(NotFound, match=NO_LINES):
                    await memu.get(f"{path}#{lines}")
        for lines in LINES[:-1]:
            with pytest.raises(NotFound, match=NO_LINES):
                await memu.get(f"office/test.docx#{lines}")
        await memu.forget(match="Deploys go out on Tuesdays at nine.")
        for lines in LINES:
            with pytest.raises(NotFound, match=NO_LINES):
                await memu.get(f"deploys.md#{lines}")
        assert "Fridays" in (await memu.get("deploys.md#L1-L9")).text


PARTS = [
    "deploys.md#L3",
    "deploys.md#L3-L4",
    f"{SESSION}#turn-1",
    "office/test.pdf#page-1",
    "inbox.mbox#message-1",
]


async def test_a_part_of_a_source_is_forgotten_by_its_words_and_the_error_says_so(bench: Bench) -> None:
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        for reference in PARTS:
            for given in (reference, f"{bench.work}/{reference}"):
                with pytest.raises(NotFound, match=r"is a part of a source.*--match.*--entries"):
                    await memu.forget(given, dry_run=given == reference)
            with pytest.raises(NotFound, match="Nothing is called"):
                await memu.forget(f"no-{reference}")
            assert (await memu.get(reference)).text


async def sync(bench: Bench) -> None:
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)


def test_the_command_line_ends_as_for_whatever_is_not_found(bench: Bench) -> None:
    asyncio.run(sync(bench))
    asked = {
        "get": ("gone.md", "deploys.md#L5-L2", f"{SESSION}#turn--1"),
        "forget": ("gone.md", "deploys.md#L3"),
    }
    codes = {run([verb, each, "--db", bench.url]) for verb, references in asked.items() for each in references}
    assert codes == {2}


def test_a_path_from_here_names_a_file_of_the_folder(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["sync", str(bench.work), "--db", bench.url, "--quiet"]) == 0
    (bench.work / "deep").mkdir()
    monkeypatch.chdir(bench.work / "deep")
    assert run(["forget", "../deploys.md", "--dry-run", "--db", bench.url]) == 0
    assert run(["forget", "./deploys.md", "--dry-run", "--db", bench.url]) == 2


def test_a_working_directory_that_is_gone_is_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = bench.base / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run(["status"]) == 4
    assert "working directory is not there any more" in capsys.readouterr().err
