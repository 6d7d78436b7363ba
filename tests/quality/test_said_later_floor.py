"""A floor on questions about what changed: the newest turn that holds the answer comes first (P12).

Relevant is a person's turn with at least half of the content words of what has to be remembered; the question's
own turn is left out, as nobody had asked yet.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from memu import MemoryService

pytestmark = pytest.mark.quality

DATA = Path(__file__).parents[1] / "data" / "chats"
_STOP = """
a an the and or of to in on at for with by from is are was were be been has have had it its this that as their his
her our my your they he she we i you not no do does did so but if then than
"""
STOP = frozenset(re.findall(r"\w+", _STOP))
LEAST_FIRST = 8


def words(text: str) -> frozenset[str]:
    found = re.findall(r"[a-z0-9]+|[^\x00-\x7f]", text.lower())
    return frozenset(w[:-1] if len(w) > 3 and w.endswith("s") else w for w in found if w not in STOP)


def newest_relevant(user: str, question: str, required: list[str]) -> str:
    facts = [words(fact) for fact in required]
    relevant = ""
    for path in sorted((DATA / "sessions" / user).glob("*.json")):
        for message in json.loads(path.read_text("utf-8"))["messages"]:
            said = message["content"]
            if message["role"] == "user" and said.strip() != question:
                relevant = said if any(2 * len(fact & words(said)) >= len(fact) for fact in facts) else relevant
    return relevant


async def first_entry(user: str, question: str, folder: Path) -> str:
    work = folder / user
    shutil.copytree(DATA / "sessions" / user, work)
    async with MemoryService.open(f"sqlite:///{folder / user}.sqlite3", encoder=None) as memu:
        await memu.memorize_workspace(work)
        result = await memu.retrieve_workspace(question, layers=["entry"])
    texts = [hit.text for hit in result.hits if hit.text.strip() != question]
    return texts[0] if texts else ""


async def test_the_newest_turn_that_tells_comes_first(tmp_path: Path) -> None:
    asked = json.loads((DATA / "contradictions.json").read_text("utf-8"))
    assert len(asked) == 8
    right = 0
    for each in asked:
        wanted = newest_relevant(each["user"], each["question"], each["required"])
        assert wanted
        first = await first_entry(each["user"], each["question"], tmp_path)
        right += bool(first) and first in wanted
    assert right >= LEAST_FIRST
