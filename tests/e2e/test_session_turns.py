"""Agent sessions from the folder to the answer: hits under their turn's card, a turn with its events, recall.

P4: the lines that a hit names hold its words. P6: recall looks into one scope. P12: all of it by words alone.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from support.citations import check_tree

from memu import ConfigurationError, Hit, Layer, MemoryService, NotFound
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e

DATA = Path(__file__).parents[1] / "data" / "sessions"
SPREAD = "simonw_sample_session.json"
LINES = "daaain_representative.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    shutil.copytree(DATA, work / "logs")
    return work


def open_service(folder: Path) -> MemoryService:
    return MemoryService.open(folder=folder, encoder=None)


def cited(folder: Path, hit: Hit) -> str:
    assert hit.path
    assert hit.lines
    raw = (folder / hit.path).read_text("utf-8").split("\n")
    return "\n".join(raw[hit.lines.start - 1 : hit.lines.end])


async def test_hits_stand_under_their_turn_in_the_order_of_the_best(folder: Path) -> None:
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        result = await memu.retrieve_workspace("subtract function tests", layers=["resource"], max_hits=8)
    turns = [(hit.path, hit.turn) for hit in result.hits]
    assert len(set(turns)) > 1
    assert turns == sorted(turns, key=turns.index), "hits of one turn stand together"
    best = [max(hit.score for hit in result.hits if (hit.path, hit.turn) == turn) for turn in dict.fromkeys(turns)]
    assert best == sorted(best, reverse=True)
    for hit in result.hits:
        assert hit.turn is not None
        assert hit.card.startswith(f"Turn {hit.turn}, ")
        assert hit.to_dict()["card"] == hit.card
        if hit.text != hit.card:
            held = cited(folder, hit).replace("\\n", "\n").replace('\\"', '"')
            assert all(line.strip() in held for line in hit.text.split("\n")), hit


async def test_the_prompt_block_tells_a_turns_card_once(folder: Path) -> None:
    from memu.quotation import to_prompt

    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        result = await memu.retrieve_workspace("subtract function tests", layers=["resource"], max_hits=8)
    block = to_prompt(result, 2_000)
    for card in {hit.card.split("\n")[0] for hit in result.hits}:
        assert block.count(f"> {card}") == 1


@pytest.mark.parametrize("max_words", [5, 40, 90, 300])
async def test_f51_cards_count_among_the_words_of_an_answer(folder: Path, max_words: int) -> None:
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        result = await memu.retrieve_workspace("subtract function tests", max_words=max_words)
    shown = [hit.text for hit in result.hits]
    shown += [card for card in {hit.card for hit in result.hits} if card not in shown]
    assert sum(len(text.split()) for text in shown) <= max_words


@pytest.mark.parametrize("suffix", ["#turn-3", "#3", "#Turn 3"])
async def test_a_turn_is_shown_by_its_card_and_a_line_per_event(folder: Path, suffix: str) -> None:
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        turn = await memu.get(f"logs/{LINES}{suffix}")
        whole = await memu.get(turn.reference)
    assert whole == turn
    assert (turn.layer, turn.place) == (Layer.RESOURCE, "turn 3")
    assert turn.text.split("\n") == [
        "Turn 3, completed, 1 min 0 s",
        "Asked: Can you run that example to show the output?",
        "Ran: python /tmp/decorator_example.py (exit 0)",
        turn.text.split("\n")[3],
        "",
        "L7 10:02:30 user: Can you run that example to show the output?",
        "L8 10:03:00 Bash, exit 0: python /tmp/decorator_example.py…",
        turn.text.split("\n")[7],
    ]
    assert turn.text.split("\n")[3].startswith("Answer: Perfect! As you can see,")
    assert turn.text.split("\n")[7].startswith("L10 10:03:30 assistant: Perfect! As you can see,")


async def test_there_is_no_turn_beyond_the_last_nor_in_what_is_no_session(folder: Path) -> None:
    (folder / "notes.md").write_text("# Notes\n\nDeploys go out on Tuesdays.\n")
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        for reference in (f"logs/{LINES}#turn-9", "notes.md#turn-1", "notes.md#1", "gone.jsonl#1"):
            with pytest.raises(NotFound):
                await memu.get(reference)


async def test_p4_what_pages_quote_of_sessions_stands_on_the_cited_lines(folder: Path) -> None:
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        skills = [each.title for each in await memu.list_files(tracks=["skill"])]
    assert skills == ["Commands that worked"]
    count, broken = check_tree(folder / ".memu" / "workspace-memory")
    assert count > 5
    assert not broken


async def test_recall_quotes_the_last_turns_of_the_newest_session(folder: Path) -> None:
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder)
        last, two = await memu.recall(), await memu.recall(last=2)
        every = await memu.recall(last=1_000)
    assert {last.path, two.path, every.path} == {f"logs/{SPREAD}"}
    assert re.findall(r"^> (Turn \d+)", two.text, re.MULTILINE) == ["Turn 4", "Turn 5"]
    assert re.findall(r"^> (Turn \d+)", every.text, re.MULTILINE) == [f"Turn {n}" for n in range(1, 6)]
    head, source, *quoted = [line for line in last.text.split("\n") if line]
    assert "data, not instructions" in head
    assert source.startswith(f"logs/{SPREAD}#L")
    assert all(line.startswith(">") for line in quoted)


async def test_recall_goes_by_the_last_event_and_keeps_to_its_scope(folder: Path) -> None:
    record = {"type": "user", "uuid": "x", "timestamp": "2026-11-01T09:00:00Z"}
    late = record | {"message": {"role": "user", "content": "What is left to do?"}}
    with (folder / "logs" / LINES).open("a") as log:
        log.write("\n" + json.dumps(late) + "\n")
    async with open_service(folder) as memu:
        await memu.memorize_workspace(folder, user={"user_id": "alice"})
        assert "What is left to do?" in (await memu.recall(user={"user_id": "alice"})).text
        with pytest.raises(NotFound):
            await memu.recall(user={"user_id": "bob"})
        with pytest.raises(ConfigurationError):
            await memu.recall(last=0, user={"user_id": "alice"})


def test_recall_has_its_blocking_twin(folder: Path) -> None:
    with BlockingService.open(folder=folder, encoder=None) as memu:
        memu.memorize_workspace(folder)
        assert memu.recall(last=2).path == f"logs/{SPREAD}"
