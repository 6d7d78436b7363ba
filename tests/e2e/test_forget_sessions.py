"""P4: what a session was told to forget stands in no card either, however short the card tells it."""

from __future__ import annotations

import json

import pytest
from support.stores import Bench, on_both

pytestmark = pytest.mark.e2e

SAID = (
    "Our gate code for the north entrance is 4711 and the guard on duty is called Ferdinand Oberhuber, who also "
    "keeps the keys of the cellar, the attic, the garage and of the boat house down at the lake near the mill, "
    "which we bought from his brother in May."
)


def log(*said: str) -> str:
    records = []
    for text in said:
        call = {"type": "tool_use", "id": text[:9], "name": "Bash", "input": {"command": "make door"}}
        result = {"type": "tool_result", "tool_use_id": text[:9], "content": "ok"}
        records += [
            {"type": "user", "message": {"role": "user", "content": text}},
            {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
            {"type": "user", "message": {"role": "user", "content": [result]}},
            {
                "type": "assistant",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
            },
        ]
    return "\n".join(map(json.dumps, records)) + "\n"


@on_both
@pytest.mark.parametrize("gone", [False, True], ids=["read again", "file gone"])
async def test_a_forgotten_statement_is_in_no_card_label_or_line(bench: Bench, gone: bool) -> None:
    bench.write(
        {"s.jsonl": log(SAID, "We paint the door green from now on."), "a.md": "# A\n\nDoors are green.\n"}
    )
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        assert bench.holding("Ferdinand", "north entrance")
        if gone:
            (bench.work / "s.jsonl").unlink()
            (bench.work / "s.jsonl").mkdir()
        await memu.forget(match="Ferdinand Oberhuber")
        assert bench.holding("Ferdinand", "north entrance", "4711") == []
        assert "green" in (await memu.get("s.jsonl#turn-2")).text
        assert "green" in (await memu.recall()).text
        found = await memu.retrieve_workspace("paint the door green", layers=["resource"])
    first = next(hit for hit in found.hits if hit.path == "s.jsonl")
    assert first.turn == 2
    assert first.card.startswith("Turn 2, completed")
