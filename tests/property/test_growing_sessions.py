"""P3 for logs that agents write: grown, cut or edited between syncs, a store ends as if it read them once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.agent_logs import logs
from support.stores import Bench, on_both

DATA = Path(__file__).parents[1] / "data" / "sessions"
REAL = (DATA / "rollout_part.jsonl").read_text("utf-8").split("\n")
LOG = "logs/agent.jsonl"


async def sync(bench: Bench, *texts: str) -> None:
    async with bench.open() as memu:
        for text in texts:
            bench.write({LOG: text, "notes.md": "# Notes\n\nDeploys go out on Tuesdays.\n"})
            await memu.memorize_workspace(bench.work)


async def check(bench: Bench, *texts: str) -> None:
    await sync(bench, *texts)
    stepwise, trees = bench.comparable(), bench.trees()
    bench.remove()
    await sync(bench, texts[-1])
    assert bench.comparable() == stepwise
    assert bench.trees() == trees


@on_both
async def test_p3_a_real_log_that_grows_turn_by_turn_is_stored_like_the_whole(bench: Bench) -> None:
    await check(bench, *("\n".join(REAL[:cut]) for cut in (3, 10, 33, 34, len(REAL))))


@st.composite
def histories(draw: st.DrawFn) -> list[str]:
    """A log as it lies in the folder at several moments: grown, cut (in a line too), a line of it edited."""
    lines = draw(logs())
    texts: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        cut = draw(st.integers(1, len(lines)))
        text = "\n".join(lines[:cut]) + draw(st.sampled_from(["", "\n", "\n" + lines[-1][:40]]))
        if draw(st.booleans()):
            text = text.replace("begin", draw(st.sampled_from(["start", "begin it"])), 1)
        texts.append(text)
    return [*texts, "\n".join(lines) + "\n"]


@pytest.mark.parametrize("bench", ["sqlite"], indirect=True)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=histories())
async def test_p3_any_log_that_grew_or_changed_is_stored_like_the_last(bench: Bench, texts: list[str]) -> None:
    if bench.store.exists():
        bench.remove()
    await check(bench, *texts)


@pytest.mark.parametrize("bench", ["sqlite"], indirect=True)
async def test_of_a_log_that_grew_only_what_is_new_is_indexed(bench: Bench) -> None:
    """What stands keeps its passage, and with it its words and its vector."""
    cut = "\n".join(REAL[:40]) + "\n"
    await sync(bench, cut)
    before = set(bench.read("SELECT id, header, text FROM passage WHERE resource_id IS NOT NULL"))
    await sync(bench, cut, "\n".join(REAL))
    after = set(bench.read("SELECT id, header, text FROM passage WHERE resource_id IS NOT NULL"))
    assert len(before) > 5
    # The card of the turn that goes on is another now.
    assert len(before - after) == 1
