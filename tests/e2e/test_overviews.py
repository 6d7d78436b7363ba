"""``synthesize``: a model's sentences above the lists of pages, cited, left out where they fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.rows import dump_rows

from memu import MemoryService
from memu.errors import ProviderError
from memu.providers.fakes import ScriptedChatModel
from memu.providers.protocols import ChatMessage

pytestmark = pytest.mark.e2e

FILES = {
    "a.md": "The ferry to Skagen leaves at 9 from pier 4.",
    "b.md": "The museum in Aarhus opens on Sundays.",
}
GOOD = '{"sentences": [{"text": "This is about the ferry to Skagen.", "cites": ["p2"]}]}'
LISTED = "## Pages"


class Colleague:
    """A model whose overview is said by the test; sources and pages it reads well."""

    def __init__(self, overview: str | ProviderError) -> None:
        self.overview = overview
        self.asked = 0

    def __call__(self, messages: Sequence[ChatMessage]) -> str | ProviderError:
        told = messages[-1].content
        if told.startswith("Source: "):
            text = told.split("1| ")[1].split("\n")[0]
            page = "Aarhus" if "Aarhus" in text else "Ferries"
            return json.dumps({"entries": [{"type": "knowledge", "text": text, "page": page, "lines": [1, 1]}]})
        if told.startswith("<pages>"):
            self.asked += 1
            return self.overview
        return '{"operations": []}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text + "\n")
    return place


def opening(folder: Path, page: str = "MEMORY.md") -> str:
    return (folder / ".memu" / "workspace-memory" / page).read_text().split("\n\n## ")[0].split("\n\n", 2)[-1]


async def test_it_stands_above_the_list_and_is_written_again_only_when_pages_change(
    folder: Path,
) -> None:
    colleague = Colleague(GOOD)
    async with MemoryService.open(folder=folder, encoder=None, models=ScriptedChatModel(usual=colleague)) as memu:
        await memu.memorize_workspace(folder)
        assert colleague.asked == 0
        assert "This is about" not in opening(folder)
        await memu.memorize_workspace(folder, synthesize=True)
        assert opening(folder).endswith("This is about the ferry to Skagen. ([Ferries](memory/ferries.md))")
        await memu.memorize_workspace(folder, synthesize=True)
        await memu.memorize_workspace(folder)
        assert colleague.asked == 1
        assert "This is about" in opening(folder)
        (folder / "b.md").write_text("The museum in Aarhus opens on Mondays.\n")
        await memu.memorize_workspace(folder, synthesize=True)
    assert colleague.asked == 2
    assert "This is about" in opening(folder)


@pytest.mark.parametrize(
    "reply",
    [
        ProviderError("down"),
        "I cannot do that.",
        '{"sentences": [{"text": "Anna Berg runs the ferry since 1987.", "cites": ["p2"]}]}',
        '{"sentences": [{"text": "This is about the ferry.", "cites": ["p9"]}]}',
        '{"sentences": [{"text": "This is about the ferry.", "cites": []}]}',
        '{"sentences": [{"text": "The ferry',
    ],
)
async def test_p5_one_that_fails_or_is_not_backed_is_left_out(reply: str | ProviderError, folder: Path) -> None:
    colleague = Colleague(reply)
    async with MemoryService.open(folder=folder, encoder=None, models=ScriptedChatModel(usual=colleague)) as memu:
        report = await memu.memorize_workspace(folder, synthesize=True)
        plain = opening(folder)
        colleague.overview = GOOD
        await memu.memorize_workspace(folder, synthesize=True)
    assert [problem.path for problem in report.unpatched] == ["MEMORY.md"]
    assert report.unpatched[0].reason
    assert not report.ok
    assert plain.startswith("> What is remembered")
    assert "\n" not in plain
    assert "This is about the ferry" in opening(folder)


async def test_p4_it_goes_with_what_it_rested_on_though_no_model_answers(folder: Path) -> None:
    colleague = Colleague(GOOD)
    async with MemoryService.open(folder=folder, encoder=None, models=ScriptedChatModel(usual=colleague)) as memu:
        await memu.memorize_workspace(folder, synthesize=True)
    (folder / "a.md").unlink()
    async with MemoryService.open(folder=folder, encoder=None, models=None) as memu:
        await memu.memorize_workspace(folder)
    assert "Skagen" not in str(dump_rows(folder / ".memu" / "memu.sqlite3"))
    assert "Skagen" not in "".join(each.read_text() for each in (folder / ".memu").rglob("*.md"))
