"""One limit of a scope's length on every database (P6): nobody is known by more, whatever the database took."""

from __future__ import annotations

import random

import pytest
from support.stores import Bench, on_both

from memu import MemoryService, Scope, ScopeError
from memu.cli.app import run
from memu.scoping import LONGEST_KEY
from memu.storage.database import Database

pytestmark = pytest.mark.conformance

# Letters that no index can press together.
LETTERS = "".join(random.Random(7).choices([chr(code) for code in range(0x4E00, 0x9FFF)], k=20_000))
FRAME = len(Scope.of({"user_id": ""}).key.encode())
LONGEST = LETTERS[: (LONGEST_KEY - FRAME) // 3] + "x" * ((LONGEST_KEY - FRAME) % 3)
TOO_LONG = (LONGEST + "x", LETTERS, "a" * 20_000, "é" * 1_000)


@on_both
async def test_p6_the_longest_scope_is_kept_and_longer_ones_are_refused_in_words(bench: Bench) -> None:
    bench.write({"a.md": "# Attic\n\nThe lantern is hidden behind the boats.\n"})
    async with bench.open() as memu:
        longest = {"user_id": LONGEST}
        assert (await memu.memorize_workspace(bench.work, user=longest)).ok
        assert (await memu.retrieve_workspace("lantern", where=longest)).hits
        assert (await memu.export_memory_files(user=longest)).tree
        before = bench.rows()
        for value in TOO_LONG:
            user = {"user_id": value}
            for call in (
                memu.memorize_workspace(bench.work, user=user),
                memu.plan_workspace(bench.work, user=user),
                memu.retrieve_workspace("lantern", where=user),
                memu.retrieve_workspace("lantern", where={"user_id__in": ["ann", value]}),
                memu.get("a.md", user=user),
                memu.forget("a.md", user=user),
                memu.list_files(user=user),
            ):
                with pytest.raises(ScopeError, match=rf"takes [\d]+ bytes.*{LONGEST_KEY} at most"):
                    await call
        assert bench.rows() == before
        # A filter names nobody's memory by itself.
        assert not (await memu.retrieve_workspace("lantern", where={"user_id": LETTERS}, across=True)).hits


@on_both
async def test_a_longer_scope_that_is_stored_already_stays_usable(bench: Bench) -> None:
    # A server takes what it can press together.
    value = LETTERS if bench.server is None else "a" * 20_000
    user = {"user_id": value}
    with Database.open(bench.url) as database:
        database.write_now(lambda session: session.within(Scope.of(user)).workspaces.list())
    bench.write({"a.md": "# Attic\n\nThe lantern is hidden behind the boats.\n"})
    async with bench.open() as memu:
        await _go_through(memu, bench, user)


async def _go_through(memu: MemoryService, bench: Bench, user: dict[str, str]) -> None:
    assert (await memu.memorize_workspace(bench.work, user=user)).ok
    assert (await memu.retrieve_workspace("lantern", where=user)).hits
    assert (await memu.retrieve_workspace("lantern", where=user, across=True)).hits
    assert (await memu.export_memory_files(user=user)).tree
    assert (await memu.forget(everything=True, user=user)).entries
    with pytest.raises(ScopeError, match="at most"):
        await memu.list_files(user=user)


def test_the_command_line_refuses_it_too(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write({"a.md": "# Attic\n\nThe lantern is hidden.\n"})
    arguments = ["sync", str(bench.work), "--db", bench.url, "--out", str(bench.out), "--user"]
    assert run([*arguments, f"user_id={LETTERS}"]) == 2
    assert "Give shorter values" in capsys.readouterr().err
