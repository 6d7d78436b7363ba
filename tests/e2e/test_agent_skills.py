"""An Agent Skill in a folder is listed by its own words, as its specification has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memu import MemoryService

pytestmark = pytest.mark.e2e

WORDS = "Rotates the keys of the billing service. Use when one of 3 keys leaked."
SKILL = f"""---
name: rotate-keys
description: {WORDS}
---

# Rotating keys

1. Tell the team.
2. Make a new key.
3. Drop the old key.
"""


def line_of(tree: Path, name: str) -> str:
    lines = (tree / "SKILL.md").read_text(encoding="utf-8").split("\n")
    (line,) = [line for line in lines if line.startswith(f"- [{name}](")]
    return line


async def test_a_skill_s_page_and_its_line_are_described_by_the_skill_itself(tmp_path: Path) -> None:
    path = tmp_path / "skills" / "rotate-keys" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL, encoding="utf-8")
    tree = tmp_path / ".memu" / "workspace-memory"
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        await memu.memorize_workspace(tmp_path)
        (page,) = list((tree / "skill").iterdir())
        head = page.read_text(encoding="utf-8").split("---")[1]
        assert f'description: "{WORDS}"' in head
        assert line_of(tree, "rotate-keys").endswith(f": {WORDS} (4 entries from 1 source)")
        # P4: words that the source no longer says describe nothing.
        path.write_text(SKILL.replace(f"description: {WORDS}\n", ""), encoding="utf-8")
        await memu.memorize_workspace(tmp_path)
        assert not any("billing" in each.read_text(encoding="utf-8") for each in tree.rglob("*.md"))


async def test_a_forgotten_description_describes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    path.write_text(SKILL, encoding="utf-8")
    tree = tmp_path / ".memu" / "workspace-memory"
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        await memu.memorize_workspace(tmp_path)
        assert WORDS in line_of(tree, "rotate-keys")
        await memu.forget(match="keys of the billing service")
        assert not any("billing" in each.read_text(encoding="utf-8") for each in tree.rglob("*.md"))


async def test_a_procedure_s_line_says_its_count_once(tmp_path: Path) -> None:
    text = SKILL.split("---\n")[2] + "\nWait for an hour then.\n"
    (tmp_path / "keys.md").write_text(text, encoding="utf-8")
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        await memu.memorize_workspace(tmp_path)
    line = line_of(tmp_path / ".memu" / "workspace-memory", "Rotating keys")
    assert line.count("source") == 1, line
    assert line.endswith("How to, 3 steps from 1 source: Rotating keys")
