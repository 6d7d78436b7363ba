"""The pages of ``examples/llm`` are what a sync makes of the bundled workspace and the replies beside them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memu import MemoryService, SyncReport
from memu.providers.fakes import ScriptedChatModel
from memu.providers.protocols import ChatMessage

pytestmark = pytest.mark.e2e

EXAMPLES = Path(__file__).parents[2] / "examples"
TREE = "workspace-memory"


class Recorded:
    """Answers each prompt with the reply that stands for it; what stands for none is a KeyError."""

    def __init__(self) -> None:
        self.replies: dict[str, Any] = json.loads((EXAMPLES / "llm" / "replies.json").read_text(encoding="utf-8"))
        self.used: set[tuple[str, str]] = set()

    def __call__(self, messages: Sequence[ChatMessage]) -> str:
        told = messages[1].content
        if named := re.match(r"Source: (\S+)", told):
            return self._say("extract", named[1])
        if named := re.match(r"Page: (.+)", told):
            # A page that is asked for again is told what was wrong: its next reply answers that.
            return self._say("fold", named[1], len(messages) // 2 - 1)
        return self._say("overview", "skill" if "Roll back a release:" in told else "memory")

    def _say(self, step: str, name: str, turn: int = 0) -> str:
        self.used.add((step, name))
        reply = self.replies[step][name]
        return json.dumps(reply[turn] if isinstance(reply, list) else reply)

    @property
    def named(self) -> set[tuple[str, str]]:
        return {(step, name) for step, replies in self.replies.items() for name in replies}


async def replay(folder: Path, model: Recorded) -> SyncReport:
    """Sync a copy of the workspace; the tree lies beside it as it does in ``examples``."""
    shutil.copytree(EXAMPLES / "workspace", folder / "workspace")
    options: dict[str, Any] = {"out": folder / "llm", "encoder": None, "models": ScriptedChatModel(usual=model)}
    async with MemoryService.open("sqlite://", **options) as memu:
        return await memu.memorize_workspace(folder / "workspace", synthesize=True)


def read_tree(tree: Path) -> dict[str, bytes]:
    files = (path for path in tree.rglob("*.md") if path.is_file())
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}


async def test_the_golden_pages_are_what_the_replies_give(tmp_path: Path) -> None:
    model = Recorded()
    report = await replay(tmp_path, model)
    assert (report.failed, report.unpatched, dict(report.dropped)) == ((), (), {})
    assert model.used == model.named
    assert read_tree(tmp_path / "llm" / TREE) == read_tree(EXAMPLES / "llm" / TREE)


def test_their_links_lead_to_the_bundled_workspace() -> None:
    tree = EXAMPLES / "llm" / TREE
    links = [
        (path.parent / target.partition("#")[0]).resolve()
        for path in tree.rglob("*.md")
        for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8"))
    ]
    assert len(links) > 40
    assert [link for link in links if not link.exists()] == []
