"""Listing pages, entries and sources through the SDK while the folder changes, and the two faces of each verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.stores import Bench, on_both, on_server_once

from memu import ConfigurationError, Layer, Listing, MemoryService, NotFound, State, Track
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e

USER = {"user_id": "alice"}
LISTS = ("list_files", "list_entries", "list_resources")
NOTE = """# {name} pump

The {name} pump was repaired on day {number}. We decided to keep the {name} pump.

## How to drain the {name} pump

1. Close the {name} valve.
2. Open the {name} drain.
3. Wait ten minutes.
"""
NAMES = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron")


def write_notes(folder: Path) -> None:
    folder.mkdir()
    for number, name in enumerate(NAMES):
        (folder / f"{name}.md").write_text(NOTE.format(name=name, number=number))


async def page_through(
    verb: Callable[..., Awaitable[tuple[Listing, ...]]],
    between: Callable[[int], Awaitable[None]],
    **options: Any,
) -> list[str]:
    seen: list[str] = []
    while piece := await verb(after=seen[-1] if seen else None, limit=3, **options):
        seen += [one.id for one in piece]
        await between(len(seen))
    return seen


@on_server_once("verb", LISTS)
async def test_deletes_while_paging_neither_skip_nor_repeat(verb: str, bench: Bench) -> None:
    folder = bench.work
    write_notes(folder)
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(folder, user=USER)
        list_them = getattr(memu, verb)
        before = [one.id for one in await list_them(user=USER)]
        assert len(before) >= len(NAMES)
        doomed = iter(NAMES)

        async def between(_count: int) -> None:
            name = next(doomed, None)
            if name is not None:
                (folder / f"{name}.md").unlink()
                await memu.memorize_workspace(folder, user=USER, allow_empty=True)

        seen = await page_through(list_them, between, user=USER)
        after = {one.id for one in await list_them(user=USER)}
        assert len(seen) == len(set(seen))
        # What came to be meanwhile may be met or not.
        assert after & set(before) <= set(seen)
        assert await list_them() == ()


@on_both
async def test_each_list_says_what_it_is_and_leads_to_the_thing(bench: Bench) -> None:
    folder = bench.work
    write_notes(folder)
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(folder)
        pages, entries, sources = [await getattr(memu, verb)() for verb in LISTS]
        assert {one.layer for one in pages} == {Layer.FILE}
        assert all(one.text and one.reference == f"{one.track}/{one.title}" for one in pages)
        assert {one.track for one in await memu.list_files(tracks=["skill"])} == {Track.SKILL}
        assert {one.track for one in await memu.list_entries(tracks=[Track.SKILL])} == {Track.SKILL}
        assert {one.page for one in entries} <= {one.reference for one in pages}
        assert {one.path for one in sources} >= {f"{name}.md" for name in NAMES}
        assert {one.state for one in sources if (one.path or "").endswith(".md")} == {State.DONE}
        assert await memu.list_resources(workspace=str(folder)) == sources
        for one in (pages[0], entries[0], next(one for one in sources if one.path == "amber.md")):
            found = await memu.get(one.id)
            assert (found.id, found.layer, found.title) == (one.id, one.layer, one.title)
            assert found.to_dict()["layer"] == one.layer
        with pytest.raises(NotFound, match="elsewhere"):
            await memu.list_resources(workspace="elsewhere")


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.parametrize("verb", LISTS)
async def test_a_list_of_less_than_one_is_refused(verb: str, limit: int) -> None:
    async with MemoryService.open("sqlite://", encoder=None) as memu:
        with pytest.raises(ConfigurationError, match="limit"):
            await getattr(memu, verb)(limit=limit)


async def test_an_unknown_track_is_refused() -> None:
    async with MemoryService.open("sqlite://", encoder=None) as memu:
        for verb in ("list_files", "list_entries"):
            with pytest.raises(ConfigurationError, match="tracks"):
                await getattr(memu, verb)(tracks=["diary"])


def test_the_blocking_twin_lists_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write_notes(folder)
    with BlockingService.open("sqlite://", out=tmp_path / "out", encoder=None) as memu:
        memu.memorize_workspace(folder)
        for verb in LISTS:
            all_of_them = getattr(memu, verb)()
            assert len(all_of_them) >= len(NAMES)
            assert getattr(memu, verb)(after=all_of_them[1].id, limit=2) == all_of_them[2:4]
        assert {one.track for one in memu.list_files(tracks=["memory"])} == {Track.MEMORY}
        assert memu.list_resources(workspace=str(folder))
