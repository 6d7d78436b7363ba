"""What was said later stands above what it replaces, which is marked and stays: in search and on pages."""

from __future__ import annotations

import json

import pytest
from support.stores import Bench, on_both

from memu import MemoryService

pytestmark = pytest.mark.e2e

OLD = "I use Obsidian for all my note-taking and research."
NEW = "Also we're switching from Obsidian to Notion because my assistant asked for it."
ASKED = "which tool for note-taking and research"


def _chat(*said: str) -> str:
    return json.dumps([{"role": "user", "content": text} for text in said], indent=1)


async def _ask(memu: MemoryService, **bounds: object) -> list[tuple[str, bool]]:
    result = await memu.retrieve_workspace(ASKED, **bounds)  # type: ignore[arg-type]
    return [(hit.text, hit.earlier) for hit in result.hits]


@on_both
@pytest.mark.parametrize("layer", ["entry", "resource"])
async def test_the_newer_statement_comes_first_and_the_older_is_marked(bench: Bench, layer: str) -> None:
    bench.write({"session_1.json": _chat(OLD, "The cat sleeps on my research notes.")})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        before = await _ask(memu, layers=[layer])
        assert before[0] == (OLD, False)
        bench.write({"session_2.json": _chat("It rained.", NEW)})
        await memu.memorize_workspace(bench.work)
        after = await _ask(memu, layers=[layer])
    assert after == [(NEW, False), (OLD, True), *before[1:]]


@on_both
async def test_a_page_marks_it_until_the_newer_statement_goes(bench: Bench) -> None:
    bench.write({"session_1.json": _chat(OLD)})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        alone = bench.trees()
        bench.write({"session_2.json": _chat(NEW)})
        await memu.memorize_workspace(bench.work)
        both = b"\n".join(bench.trees().values()).decode()
        assert f"- **Earlier** — {OLD}" in both
        assert f"- {NEW}" in both
        (bench.work / "session_2.json").unlink()
        await memu.memorize_workspace(bench.work)
    assert bench.trees() == alone


async def test_bounds_hold_for_what_was_said_later_too(bench: Bench) -> None:
    bench.write({"old/session_1.json": _chat(OLD), "new/session_2.json": _chat(NEW)})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        assert await _ask(memu, path="old/**", layers=["entry"]) == [(OLD, False)]
        # Two folders: which of the two is the later one nobody knows.
        assert await _ask(memu, layers=["entry"]) == [(OLD, False)]


async def test_how_many_there_were_is_found_in_words_of_its_own(bench: Bench) -> None:
    old, new = "Our trains serve 20 stations along the coast.", "The network grew from 20 to 50 stations."
    bench.write({"day_1.json": _chat(old), "day_2.json": _chat("It rained.", new)})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        hits = (await memu.retrieve_workspace("which coast do trains serve", layers=["entry"])).hits
    assert [(hit.text, hit.earlier) for hit in hits] == [(new, False), (old, True)]


ASSISTANT = {
    "role": "assistant",
    "content": "I just got promoted to chief of the harbour, and I know 900 ferries.",
}


def _talk(*said: str) -> str:
    return json.dumps([*({"role": "user", "content": text} for text in said), ASSISTANT], indent=1)


VALUES = {
    "What's my current role?": (
        "I'm a pilot at the harbour, which is a windy role.",
        "Also I just got promoted to Head of Pilots.",
    ),
    "How many ferries and buoys do we watch?": (
        "We watch 20 ferries and 8 buoys, how many is that!",
        "Now it is 50 ferries and 16 buoys.",
    ),
}


@on_both
@pytest.mark.parametrize("layer", ["entry", "resource"])
@pytest.mark.parametrize("question", VALUES)
async def test_the_last_value_that_was_told_comes_first_and_no_page_is_changed(
    bench: Bench, question: str, layer: str
) -> None:
    old, new = VALUES[question]
    bench.write({"day_1.json": _talk(old), "day_2.json": _talk("It rained.", new)})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        hits = (await memu.retrieve_workspace(question, layers=[layer])).hits
    told = [(hit.text, hit.earlier) for hit in hits if hit.text != ASSISTANT["content"]]
    assert told[0] == (new, False)
    assert [earlier for text, earlier in told if old.startswith(text[:20])][:1] == [True]
    assert b"**Earlier**" not in b"".join(bench.trees().values())


async def test_what_somebody_else_told_takes_nobodys_place(bench: Bench) -> None:
    old, new = VALUES["What's my current role?"]
    bench.write(
        {
            "day_1.json": _chat(old),
            "day_2.json": json.dumps([{"role": "assistant", "content": new}]),
        }
    )
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        hits = (await memu.retrieve_workspace("What's my current role?", layers=["resource"])).hits
    assert (hits[0].text, hits[0].earlier) == (old, False)


OTHERS = {
    "How many servers do we have in Frankfurt?": (
        ["We have 12 servers in Frankfurt.", "Now it is 18 servers in Frankfurt.", "We run 3 servers in the lab."],
        "18 servers",
    ),
    "How many engineers are in my team?": (
        ["My team has 8 engineers.", "At my old company we had 40 engineers in a team."],
        "8 engineers",
    ),
    "What's my current role?": (
        [
            "I got promoted to head nurse, a role that I like.",
            "I joined a chess club, and my role there is small.",
        ],
        "head nurse",
    ),
}


@pytest.mark.parametrize("question", OTHERS)
async def test_what_is_told_of_something_else_takes_no_place(bench: Bench, question: str) -> None:
    said, first = OTHERS[question]
    bench.write({f"day_{at}.json": _talk(text) for at, text in enumerate(said)})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        hits = (await memu.retrieve_workspace(question, layers=["entry"])).hits
    assert first in hits[0].text
    assert not hits[0].earlier
