"""P4: what an export was told to forget stands in no heading of the replies to it, however short."""

from __future__ import annotations

import json

import pytest
from support.stores import Bench, on_both

pytestmark = pytest.mark.e2e

SAID = (
    "Our gate code for the north entrance is 4711 and the guard on duty is called Ferdinand Oberhuber, who also "
    "keeps the keys of the cellar."
)
REPLY = "We paint the door green from now on, I think."


def telegram() -> str:
    messages = [
        {"id": 1, "type": "message", "date_unixtime": "1700000000", "from": "Orla", "text": SAID},
        {
            "id": 2,
            "type": "message",
            "date_unixtime": "1700000060",
            "from": "Tom",
            "text": REPLY,
            "reply_to_message_id": 1,
        },
    ]
    return json.dumps({"name": "Boat club", "type": "private_group", "id": 4242, "messages": messages}, indent=1)


def slack() -> str:
    return json.dumps(
        [
            {"type": "message", "user": "U1", "text": SAID, "ts": "1700000000.000100"},
            {
                "type": "message",
                "user": "U2",
                "text": REPLY,
                "ts": "1700000060.000100",
                "thread_ts": "1700000000.000100",
            },
        ]
    )


@on_both
@pytest.mark.parametrize(
    ("path", "text"), [("result.json", telegram()), ("ops/2023-11-14.json", slack())], ids=["telegram", "slack"]
)
@pytest.mark.parametrize("gone", [False, True], ids=["read again", "file gone"])
async def test_a_forgotten_message_stands_in_no_heading_of_its_replies(
    bench: Bench, path: str, text: str, gone: bool
) -> None:
    bench.write({path: text, "a.md": "# A\n\nDoors are green.\n"})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        assert bench.holding("Ferdinand", "north entrance")
        if gone:
            (bench.work / path).unlink()
            (bench.work / path).mkdir()
        await memu.forget(match="Ferdinand Oberhuber")
        assert bench.holding("Ferdinand", "north entrance", "4711") == []
        found = await memu.retrieve_workspace("paint the door green", layers=["resource"])
        assert found.hits[0].text == REPLY
        if not gone:
            await memu.memorize_workspace(bench.work)
            assert bench.holding("Ferdinand", "north entrance", "4711") == []
