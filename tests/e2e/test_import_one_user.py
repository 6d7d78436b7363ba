"""What an import of one user says of the others, and what becomes of ids that a store cannot hold (P5, P6)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from support.legacy import Legacy
from support.stores import Bench, on_both

from memu import NotFound
from memu.cli.app import run

pytestmark = pytest.mark.e2e

ANN, BOB = {"user_id": "ann"}, {"user_id": "bob"}


def make_legacy(folder: Path) -> Legacy:
    """Ann's rows, and those of users whose scopes or rows have no place."""
    made = Legacy(folder / "old.sqlite3")
    made.category("c1", "Pumps", "The pump is green.", user_id="ann")
    made.item("i1", "The valve leaks.", "c1", user_id="ann")
    made.item("i2", "", user_id="bob")
    made.item("i3", "The gate is shut.", user_id="")
    made.item("i4", "The gate is open.", user_id="x" * 5000)
    return made


@on_both
async def test_a_user_whom_the_database_does_not_know_is_said_to_be_none_of_its(bench: Bench) -> None:
    made = make_legacy(bench.base)
    async with bench.open() as memu:
        before = bench.rows()
        for user in ({"user_id": "nobody"}, {"user_id": "ANN"}, {"agent_id": "ann"}, {}):
            with pytest.raises(NotFound, match="has no rows of"):
                await memu.import_memu(made.url, user=user)
        assert bench.rows() == before
        report = await memu.import_memu(made.url, user=ANN)
        assert (report.scopes, report.entries, report.unplaced, report.notes) == (1, 2, (), ())
        again = await memu.import_memu(made.url, user=ANN)
        assert (again.scopes, again.unchanged, again.ok) == (1, 2, True)
        # Whoever asks for all is told of all.
        every = await memu.import_memu(made.url)
        assert len(every.unplaced) == 3
        assert every.scopes == 2


def test_the_command_line_ends_with_two(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_legacy(bench.base)
    arguments = ["db", "import-memu", made.url, "--db", bench.url, "--out", str(bench.out), "--user"]
    assert run([*arguments, "user_id=nobody"]) == 2
    told = capsys.readouterr()
    assert "has no rows of user_id=nobody" in told.err
    assert not told.out
    assert run([*arguments, "user_id=ann"]) == 0
    assert "x" * 50 not in capsys.readouterr().out


@pytest.mark.parametrize("many", [1, 3, 7])
@on_both
async def test_p5_ids_that_a_store_cannot_hold_are_counted_and_shown(bench: Bench, many: int) -> None:
    made = Legacy(bench.base / "old.sqlite3")
    fits = made.category("c" * 64, "Pumps", "The pump is green.", user_id="ann")
    long = [
        made.category("k" * 64 + str(at), f"Gate {at}", f"Gate {at} is red.", user_id="ann") for at in range(many)
    ]
    for at in range(many):
        made.item("i" * 64 + str(at), f"Valve {at} leaks.", fits, user_id="ann" if at % 2 else "bob")
    async with bench.open() as memu:
        report = await memu.import_memu(made.url)
        notes = {each.path: each.reason for each in report.notes if each.path.startswith("ids of kind")}
        assert set(notes) == {"ids of kind category", "ids of kind item"}
        for kind, reason in notes.items():
            assert reason.startswith(f"{many} are longer than 64 characters"), kind
            assert ("and" in reason and f"{many - 3} more" in reason) == (many > 3)
        for each in long[:3]:
            digest = hashlib.sha256(each.encode()).hexdigest()
            assert digest in notes["ids of kind category"]
            assert (await memu.get(digest, user=ANN)).title.startswith("Gate")
        assert (await memu.get(fits, user=ANN)).title == "Pumps"
        # It is told of again, for nothing else leads from the old ids to the new.
        again = await memu.import_memu(made.url)
        assert [each for each in again.notes if each.path.startswith("ids of kind")]
        assert (again.entries, again.changed) == (0, 0)
