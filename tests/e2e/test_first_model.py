"""A store made without a model, and then there is one: its files are read anew, once, and never the other way."""

from __future__ import annotations

from pathlib import Path

import pytest

from memu import MemoryService
from memu.providers.fakes import ScriptedChatModel

FILES = {
    "a.md": "The ferry to Skagen leaves at 9 from pier 4 on every day of the week.\n",
    "b.md": "The museum in Aarhus opens on Sundays and is closed in all of January.\n",
    "c.py": "def main() -> None:\n    return None\n",
}
pytestmark = pytest.mark.e2e

ENTRY = '{"entries": [{"type": "knowledge", "text": "It is so.", "page": "Things", "lines": [1, 1]}]}'


async def test_files_read_without_a_model_are_read_by_the_first_one_once(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    model = ScriptedChatModel(usual=lambda messages: ENTRY if "<source>" in messages[-1].content else "[]")
    async with MemoryService.open(folder=tmp_path, encoder=None, models=None) as memu:
        await memu.memorize_workspace(tmp_path)
    async with MemoryService.open(folder=tmp_path, encoder=None, models=model) as memu:
        plan = await memu.plan_workspace(tmp_path)
        capped = await memu.memorize_workspace(tmp_path, max_calls=1)
        first = len(model.asked)
        report = await memu.memorize_workspace(tmp_path)
        read = len(model.asked)
        again = await memu.memorize_workspace(tmp_path)
        entries = await memu.list_entries()
    assert plan.retried == ("a.md", "b.md", "c.py")
    assert plan.model_calls >= 2
    assert (len(capped.waiting), first) == (1, 1)
    assert report.waiting == ()
    assert (again.usage.calls, len(model.asked)) == (0, read)
    assert {entry.path for entry in entries if entry.text == "It is so."} == {"a.md", "b.md"}


async def test_without_the_model_what_it_made_stays(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(FILES["a.md"])
    model = ScriptedChatModel(usual=lambda messages: ENTRY if "<source>" in messages[-1].content else "[]")
    async with MemoryService.open(folder=tmp_path, encoder=None, models=model) as memu:
        await memu.memorize_workspace(tmp_path)
    async with MemoryService.open(folder=tmp_path, encoder=None, models=None) as memu:
        report = await memu.memorize_workspace(tmp_path)
        entries = await memu.list_entries()
    assert report.unchanged == 1
    assert [entry.text for entry in entries] == ["It is so."]
