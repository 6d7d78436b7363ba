"""P4: a forgotten file stays forgotten under any name, whatever copies of it there were; a copy stays as it is."""

from __future__ import annotations

import shutil
from itertools import product

import pytest
from support.stores import Bench, on_both

from memu import MemoryService

pytestmark = pytest.mark.e2e

OTHER = {"notes.md": "# Boats\n\nBoats are always kept dry at the harbour.\n"}
MOVES = [("s.md", "S.md"), ("s.md", "away.md"), ("s.md", "kept/s.md"), ("old/s.md", "new/s.md")]
# A copy of the forgotten file and what becomes of it. Of one that goes at the same moment from under the same
# name nobody can tell which of the two it was that moved.
COPIES = [(None, ""), *product(["copy.md", "backup/s.md"], ["gone before", "stays"]), ("copy.md", "gone at once")]
CASES = {
    f"case{number}": case
    for number, case in enumerate(product(MOVES, COPIES))
    if case != (("s.md", "away.md"), ("copy.md", "gone at once"))
}
RENAMES = {
    f"case{number}": case
    for number, case in enumerate(
        product(
            [("copy.md", "copy2.md"), ("copy.md", "kept/copy.md"), ("backup/s.md", "kept/s.md")],
            ["stays", "long gone", "moved too"],
        )
    )
}


def tell(case: str) -> str:
    """The same bytes for the files of a case, in each case others."""
    return f"# Pump {case}\n\nWe decided that the heliotrope pump {case} is to be sold in May.\n"


async def sync(bench: Bench, memu: MemoryService) -> tuple[set[str], set[str]]:
    """The paths of what is remembered of the pumps, and of what is passed over as forgotten."""
    report = await memu.memorize_workspace(bench.work)
    assert report.failed == ()
    paths = {str(each.path) for each in await memu.list_entries() if "heliotrope" in each.text}
    return paths, {each.path for each in report.skipped if each.reason == "forgotten"}


def move(bench: Bench, case: str, old: str, new: str) -> None:
    """Move a file, and its folder where that has another name."""
    source, target = bench.work / case / old, bench.work / case / new
    if "/" in old and "/" in new:
        source.parent.rename(target.parent)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


@on_both
async def test_p4_a_forgotten_file_that_is_moved_stays_forgotten(bench: Bench) -> None:
    files = {f"{case}/{old}": tell(case) for case, ((old, _), _) in CASES.items()}
    copies = {f"{case}/{copy}": fate for case, (_, (copy, fate)) in CASES.items() if copy}
    bench.write({**files, **{path: tell(path.split("/")[0]) for path in copies}, **OTHER})
    async with bench.open() as memu:
        await sync(bench, memu)
        for path in files:
            await memu.forget(path)
        assert await sync(bench, memu) == (set(copies), set(files))
        for gone in ("gone before", "gone at once"):
            for path in [path for path, fate in copies.items() if fate == gone]:
                (bench.work / path).unlink()
                del copies[path]
            if gone == "gone before":
                assert await sync(bench, memu) == (set(copies), set(files))
        for case, ((old, new), _) in CASES.items():
            move(bench, case, old, new)
        away = {f"{case}/{new}" for case, ((_, new), _) in CASES.items()}
        assert await sync(bench, memu) == (set(copies), away)
        assert await sync(bench, memu) == (set(copies), away)
    assert bench.outcome() == (await bench.fresh()).outcome()


@pytest.mark.parametrize("bench", ["sqlite"], indirect=True)
async def test_p4_a_copy_that_stayed_is_remembered_wherever_it_is_moved(bench: Bench) -> None:
    files = [(f"{case}/s.md", f"{case}/{copy}") for case, ((copy, _), _) in RENAMES.items()]
    bench.write({**{path: tell(path.split("/")[0]) for both in files for path in both}, **OTHER})
    async with bench.open() as memu:
        await sync(bench, memu)
        for path, _ in files:
            await memu.forget(path)
        for case in [case for case, (_, original) in RENAMES.items() if original == "long gone"]:
            (bench.work / case / "s.md").unlink()
        assert (await sync(bench, memu))[0] == {copy for _, copy in files}
        known = {each.id for each in await memu.list_entries()}
        away: set[str] = set()
        for case, ((copy, new), original) in RENAMES.items():
            move(bench, case, copy, new)
            if original == "moved too":
                move(bench, case, "s.md", "S.md")
            away |= {"stays": {f"{case}/s.md"}, "moved too": {f"{case}/S.md"}}.get(original, set())
        kept = {f"{case}/{new}" for case, ((_, new), _) in RENAMES.items()}
        assert await sync(bench, memu) == (kept, away)
        assert {each.id for each in await memu.list_entries()} == known
        # What is copied later is no copy that stayed.
        for path in kept:
            shutil.copy(bench.work / path, bench.work / path.split("/")[0] / "third.md")
        third = {f"{case}/third.md" for case in RENAMES}
        assert await sync(bench, memu) == (kept, away | third)
    assert bench.outcome() == (await bench.fresh()).outcome()
