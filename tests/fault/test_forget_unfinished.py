"""P4, P5 for forgetting: an error after the removal says that it is done, and a sync does the rest."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.stores import Bench

from memu import Interceptor, Scope, StepEvent
from memu.errors import BusyError, StoreError, UnavailableError
from memu.memorize.aftermath import telling_what_stands

pytestmark = pytest.mark.fault

FILES = {
    "treasure.md": "# Treasure\n\n- The blue lantern is hidden in Oslo.\n- Maps are kept with the master.\n",
    "other.md": "# Other\n\nDeploys go out on Tuesdays after the stand-up.\n",
}


@dataclass
class Refusing(Interceptor):
    """Fails before a step, as a disk that is full by then would, or a tree that somebody else holds."""

    workflow: str
    error: Exception

    async def before(self, event: StepEvent) -> None:
        if event.workflow == self.workflow:
            raise self.error


@pytest.mark.parametrize(
    ("what", "at", "error"),
    [
        ("treasure.md", "assign", StoreError("The disk is full.")),
        ("treasure.md", "export", UnavailableError("The disk is full.")),
        ("lantern", "memorize", StoreError("The disk is full.")),
        ("lantern", "fold", StoreError("The disk is full.")),
        ("lantern", "export", BusyError("Somebody publishes.")),
        ("workspace", "fold", StoreError("The disk is full.")),
        ("workspace", "export", StoreError("The disk is full.")),
    ],
)
async def test_p5_a_removal_that_was_stored_is_said_to_be(
    what: str, at: str, error: Exception, tmp_path: Path
) -> None:
    bench = Bench(tmp_path / "base", server=None)
    bench.write(FILES)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
    said = str(error)
    async with bench.open(interceptors=[Refusing(at, error)]) as memu:
        removing = {
            "workspace": lambda: memu.remove_workspace(str(bench.work)),
            "lantern": lambda: memu.forget(match="lantern"),
        }
        with pytest.raises(type(error)) as caught:
            await removing.get(what, lambda: memu.forget(what))()
    assert str(caught.value).startswith(f"{said} The removal itself is stored")
    assert "Nothing was forgotten" not in str(caught.value)
    async with bench.open() as memu:
        assert not [each for each in await memu.list_entries() if "lantern" in each.text]
        if what != "workspace":
            await memu.memorize_workspace(bench.work)
            assert not [each for each in await memu.list_entries() if "lantern" in each.text]
            assert (await memu.examine()).ok


async def test_p5_what_else_was_stored_meanwhile_is_no_removal(tmp_path: Path) -> None:
    """Who forgets goes on with the pages that a sync left unfolded, also where nothing matches."""
    bench = Bench(tmp_path / "base", server=None)
    bench.write(FILES)
    async with bench.open(interceptors=[Refusing("fold", StoreError("The disk is full."))]) as memu:
        with pytest.raises(StoreError):
            await memu.memorize_workspace(bench.work)
    async with bench.open() as memu:

        def version() -> int:
            return memu._database.read_now(lambda session: session.within(Scope.of()).publications.scope_version())

        async def forget_nothing() -> None:
            async with telling_what_stands(memu._database, Scope.of()):
                await memu.forget(match="a word of no source")
                raise UnavailableError("no room.")

        before = version()
        with pytest.raises(UnavailableError, match=r"no room\. Nothing was forgotten\.$"):
            await forget_nothing()
        assert version() != before


async def test_p5_a_removal_that_failed_before_is_said_to_have_done_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "base", server=None)
    bench.write(FILES)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
    with closing(sqlite3.connect(bench.store)) as store:
        store.execute("CREATE TRIGGER full BEFORE DELETE ON resource BEGIN SELECT RAISE(ABORT, 'no room'); END")
    async with bench.open() as memu:
        for removing in (memu.forget("treasure.md"), memu.remove_workspace(str(bench.work))):
            with pytest.raises(StoreError, match=r"no room\. Nothing was forgotten\.$"):
                await removing
        assert [each for each in await memu.list_entries() if "lantern" in each.text]
