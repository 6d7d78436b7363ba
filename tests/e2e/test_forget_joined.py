"""F46: a statement that stands in two places of a page one after the other is a statement too, now and later."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.stores import Bench

from memu import MemoryService

pytestmark = pytest.mark.e2e

SECRET = "We decided that the quartz shipment leaves on Friday morning."
FRONT, BACK = "We decided that the quartz shipment", "leaves on Friday morning."
SHAPES = {
    "item.md": f"# Items\n\nBoats are always kept dry.\n\n- {FRONT}\n  - {BACK}\n",
    "second.md": f"# Seconds\n\n- {FRONT}\n  - We agreed that it is all blue.\n  - {BACK}\n",
    "steps.md": f"# Steps\n\n## How to ship\n\n1. {FRONT}\n   1. {BACK}\n2. Take the boat out.\n",
    "heading.md": f"# Headings\n\n## {FRONT}\n\n{BACK}\n\n## Boats\n\nBoats are always kept dry.\n",
    "titled.md": f"# {FRONT}\n\n{BACK}\n\nBoats are always kept dry.\n",
    "lead.md": f"# Leads\n\n{FRONT}:\n\n- {BACK}\n- Boats are always kept dry.\n",
    "apart.md": f"# Apart\n\n{FRONT}\n\n{BACK} Boats are always kept dry.\n",
    "three.md": "# Three\n\n- We decided that\n  - the quartz shipment\n    - leaves on Friday morning.\n",
    "page.html": f"<html><body><h1>Page</h1><ul><li>{FRONT}<ul><li>{BACK}</li></ul></li></ul></body></html>",
    "talk.vtt": f"WEBVTT\n\n00:01.000 --> 00:04.000\n<v Bob>{FRONT}\n\n00:04.000 --> 00:09.000\n<v Bob>{BACK}\n",
    "talk.srt": f"1\n00:00:01,000 --> 00:00:04,000\n{FRONT}\n\n2\n00:00:04,000 --> 00:00:09,000\n{BACK}\n",
    "turns.txt": f"Ann: Hello.\nBob: {FRONT}\nBob: {BACK}\nAnn: Good.\nBob: Bye.\n",
    "plan.org": f"* Plan\n- {FRONT}\n  - {BACK}\n",
    "plan.rst": f"Plan\n====\n\n- {FRONT}\n\n  - {BACK}\n",
}


async def shown(memu: MemoryService) -> str:
    found = await memu.retrieve_workspace("when does the quartz shipment leave on Friday morning")
    return " ".join(f"{hit.title} {hit.heading} {hit.text}" for hit in found.hits).casefold()


@pytest.mark.parametrize("later", [True, False], ids=["written later", "stored before"])
@pytest.mark.parametrize("way", ["match", "entry"])
async def test_f46_what_two_blocks_say_together_goes_and_stays_away(way: str, later: bool, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": f"# T\n\n{SECRET} Ropes are coiled clockwise.\n", **({} if later else SHAPES)})
    async with bench.open(encoder=None) as memu:
        assert (await memu.memorize_workspace(bench.work)).failed == ()
        entry = next(one.id for one in await memu.list_entries() if one.text == SECRET)
        receipt = await memu.forget(
            **({"match": "quartz shipment leaves"} if way == "match" else {"reference": entry})
        )
        assert receipt.left == ()
        bench.write(SHAPES)
        assert (await memu.memorize_workspace(bench.work)).failed == ()
        # Half of it may be left, where something else stood between the halves; never both.
        for one in await memu.list_entries():
            assert "friday" not in one.text.casefold() or one.path == "second.md"
        joined = [row for row in bench.holding("quartz") if "friday" in row.casefold()]
        assert [row for row in joined if "second.md" not in row] == []
        assert bench.holding("quartz shipment** — leaves") == []
        assert "quartz shipment leaves" not in await shown(memu)
        outcome = bench.outcome()
    assert outcome == (await bench.fresh(encoder=None)).outcome()
