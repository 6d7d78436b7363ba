"""Bounds, least scores and explanations as apps and people ask for them. P5: what cannot be kept is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memu import ConfigurationError, MemoryService, NotFound
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """Two workspaces of one scope that say the same thing."""
    store = f"sqlite:///{tmp_path / 'memory.sqlite3'}"
    async with MemoryService.open(store, encoder=None) as memu:
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "deploy.md").write_text(f"# Deploys\n\n- Team {name} deploys on Tuesdays.\n", "utf-8")
            (folder / "deploy.txt").write_text(f"Team {name} deploys on Tuesdays, in plain text.\n", "utf-8")
            await memu.memorize_workspace(folder, name=name)
    return store


async def test_a_workspace_is_named_by_name_or_root_and_belongs_to_one_scope(url: str, tmp_path: Path) -> None:
    async with MemoryService.open(url, encoder=None) as memu:
        for reference in ("two", str(tmp_path / "two")):
            hits = (await memu.retrieve_workspace("team deploys", workspace=reference, layers=["resource"])).hits
            assert hits
            assert all("Team two" in hit.text for hit in hits)
        with pytest.raises(NotFound, match="No workspace 'three'"):
            await memu.retrieve_workspace("team", workspace="three")
        with pytest.raises(ConfigurationError, match="belongs to one scope"):
            await memu.retrieve_workspace("team", where={"user_id__in": ["a", "b"]}, workspace="two")


async def test_the_least_score_is_one_of_the_scale(url: str) -> None:
    async with MemoryService.open(url, encoder=None) as memu:
        for wrong in (-0.1, 1.1, float("nan")):
            with pytest.raises(ConfigurationError, match="scores are from 0 to 1"):
                await memu.retrieve_workspace("team", min_score=wrong)
        assert not (await memu.retrieve_workspace("team", min_score=1.0)).hits


def test_the_blocking_twin_takes_the_same(url: str) -> None:
    with BlockingService.open(url, encoder=None) as memu:
        result = memu.retrieve_workspace("deploys", path="*.txt", changed_since="2020-01-01", explain=True)
    assert {hit.path for hit in result.hits} == {"deploy.txt"}
    assert result.explanation
    assert result.explanation["filters"]["path_glob"] == "*.txt"


def test_the_command_line_bounds_and_explains(url: str, memu: Any) -> None:
    ended = memu("search", "deploys", "--db", url, "--path", "*.txt", "--explain")
    assert ended.code == 0
    assert "score 0." in ended.out
    assert "path_glob *.txt" in ended.out
    assert "deploy.md" not in ended.out
    told = json.loads(memu("search", "deploys", "--db", url, "--type", "event", "--explain", "--json").out)
    assert told["explanation"]["filters"]["memory_types"] == ["event"]
    refused = memu("search", "deploys", "--db", url, "--since", "soon")
    assert refused.code == 2
    assert "'soon' is no date" in refused.err
    assert memu("search", "deploys", "--db", url, "--layer", "file", "--path", "*.txt").code == 2
