"""F46: a workspace goes with all that only it said, with dry run, purge and receipt as in any other forgetting."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.citations import check_tree
from support.postgres import Server
from support.stores import Bench

from memu import BusyError, ForgetReceipt, NotFound, Scope
from memu.cli.app import run
from memu.providers.fakes import FailingEncoder, HashingEncoder
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e

SHARED = "The gateway is always left alone on Fridays."
SECRET = "We decided to hide the blue lantern under the bridge."
FIRST = {"deploys.md": f"# Deploys\n\n- {SHARED}\n- Deploys go out on Tuesdays at nine.\n"}
SECOND = {
    "b/treasure.md": f"# Deploys\n\n- {SHARED}\n- {SECRET}\n",
    "plain.md": "# Plain\n\nBoats are always dry.\n",
}


@pytest.fixture
async def bench(tmp_path: Path, store_server: Server | None) -> Bench:
    made = Bench(tmp_path, server=store_server)
    made.write(FIRST)
    made.write(SECOND, folder="second")
    async with made.open() as memu:
        await memu.memorize_workspace(made.work)
        await memu.memorize_workspace(tmp_path / "second", name="second")
    return made


async def test_f46_a_workspace_goes_and_the_receipt_says_what_stays(bench: Bench) -> None:
    assert bench.holding("lantern")
    async with bench.open() as memu:
        before = bench.rows(), bench.trees()
        plan = await memu.remove_workspace("second", dry_run=True, purge=True)
        assert (bench.rows(), bench.trees()) == before
        assert (plan.what, plan.dry_run, plan.removed, plan.purged) == ("workspace", True, tuple(SECOND), False)
        assert SECRET in plan.texts
        assert plan.stays == ("deploys.md#L3",)
        done = await memu.remove_workspace("second", purge=True)
        assert (done.entries, done.removed, done.stays) == (plan.entries, plan.removed, plan.stays)
        is_file = bench.server is None
        assert (done.texts, done.purged, done.vacuumed) == ((), is_file, not is_file)
        assert plan.pages == done.pages
        assert [Path(tree).is_relative_to(bench.out) for tree in done.trees] == [True]
        assert bench.holding("lantern", "boats", "treasure") == []
        assert not any(word in bench.raw().lower() for word in (b"lantern", b"boats"))
        assert check_tree(bench.out / "workspace-memory")[1] == []
        # The other workspace stands as if it had always been alone, and nothing is forgotten for the future.
        assert bench.outcome() == (await bench.fresh()).outcome()
        await memu.memorize_workspace(bench.base / "second", name="second")
        assert bench.holding("lantern")


async def test_f46_without_an_encoder_and_beside_a_hand_edited_page(bench: Bench) -> None:
    path = next(path for path, data in bench.trees().items() if b"lantern" in data and path.startswith("w"))
    edited = bench.out / path
    edited.write_text(edited.read_text(encoding="utf-8") + "\nmy own words\n", encoding="utf-8")
    async with bench.open(encoder=FailingEncoder(16)) as memu:
        done = await memu.remove_workspace("second")
    assert [Path(one).resolve() for one in done.kept_files] == [edited.resolve()]
    edited.unlink()
    assert bench.holding("lantern") == []


async def test_f46_a_sync_that_runs_is_waited_for_or_named_busy(bench: Bench) -> None:
    async with bench.open() as memu, bench.open() as other:
        name = f"the sync of {(bench.base / 'second').resolve()} for {Scope.of()}"
        async with other._database.lock(name):
            with pytest.raises(BusyError):
                await memu.remove_workspace("second")
            assert (await memu.remove_workspace("second", dry_run=True)).dry_run
            waiting = asyncio.create_task(memu.remove_workspace("second", wait=True))
            await asyncio.sleep(0.2)
            assert not waiting.done()
        assert (await waiting).entries > 0
        with pytest.raises(NotFound):
            await memu.remove_workspace("second", dry_run=True)


async def test_f46_the_blocking_twin_and_the_command_say_the_same(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    def remove() -> tuple[ForgetReceipt, str, str, int]:
        with BlockingService.open(bench.url, out=bench.out, encoder=HashingEncoder(16)) as memu:
            plan = memu.remove_workspace("second", dry_run=True)
        common = ["--db", bench.url, "--out", str(bench.out)]
        asked = run(["workspace", "remove", "second", *common])
        assert run(["workspace", "remove", "second", "--dry-run", "--json", *common]) == 0
        dry = capsys.readouterr().out
        assert run(["workspace", "remove", "second", "--yes", "--purge", *common]) == 0
        return plan, dry, capsys.readouterr().out, asked

    plan, dry, done, asked = await asyncio.to_thread(remove)
    assert json.loads(dry) == json.loads(json.dumps(plan.to_dict()))
    assert asked == 2
    assert "forgot" in done
    assert "gone: b/treasure.md" in done
    assert ("the store was rewritten" if bench.server is None else "tables were vacuumed") in done
    assert "lantern" not in done
    assert b"lantern" not in bench.raw()
