"""F46: a match forgets until nothing shown matches, whatever comes out at later readings, or says what is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.stores import Bench

from memu.ingest.document import Document
from memu.memorize.candidate import Candidate, Extraction
from memu.memorize.extractors.protocol import NO_CONTEXT, ExtractContext
from memu.records import LineSpan

pytestmark = pytest.mark.e2e

S = "We decided that the quartz shipment leaves on Friday morning."
NOTES = {
    "first.md": f"- [ ] TODO {S}\n",
    "to-do.md": f"# Lists\n\n- [ ] TODO {S}\n- Boats are always kept dry.\n- [ ] quartz\n",
    "heading.md": f"# All of quartz\n\n## Quartz\n\nBoats are dry. {S}\n\n### More quartz\n\nIt is blue.\n",
    "lead.md": "# Leads\n\nWe agreed on these for the quartz:\n\n- The crates are blue.\n- The lids are red.\n",
    "across.md": "# Across\n\nThe crates are all full of quartz\n\n- shipment of it is on Friday morning.\n",
    "much.md": "# Much\n\n"
    + "\n".join(f"- We decided that quartz crate {n} is number {n}." for n in range(40))
    + "\n",
    "code.py": f'# TODO {S}\n\n\ndef quartz():\n    """Ship the quartz crates at once."""\n    return "quartz"\n',
    "table.csv": "who,what\nAnn,quartz\nBob,the quartz shipment\n",
    "minutes.txt": f"Ann: {S}\nBob: Quartz?\nAnn: We decided that quartz is blue.\nBob: Bye.\nAnn: Bye.\n",
    "front.md": "---\ntitle: Quartz plans\ntags: [quartz]\ndescription: About quartz.\n---\n\nBoats are dry.\n",
    "page.html": f"<html><body><h1>Quartz</h1><p>{S}</p><ul><li>quartz<ul><li>is blue.</ul></ul></body></html>",
    "log.log": f"2024-01-01 10:00:00 INFO quartz\n2024-01-01 10:00:01 WARN {S}\n",
    "data.json": '{"quartz": {"is": "quartz and more"}, "boats": ["dry", "quartz"]}\n',
}


class Restless:
    """Words a source anew each time, so many times; what it says is never what it said before."""

    name = "restless"

    def __init__(self, times: int) -> None:
        self.times = times

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        del document, path, context
        self.times -= 1
        said = f"Crate number {self.times} holds quartz." if self.times >= 0 else "Boats are always kept dry."
        return Extraction(candidates=(Candidate(text=said, lines=LineSpan(3, 3)),))


@pytest.mark.parametrize("match", ["quartz", "Quartz shipment", "quartz crate", "the quartz", "morning."])
async def test_f46_nothing_shown_matches_any_more(match: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write(NOTES)
    async with bench.open(encoder=None) as memu:
        assert (await memu.memorize_workspace(bench.work)).failed == ()
        receipt = await memu.forget(match=match)
        assert (receipt.left, receipt.unread) == ((), ())
        again = await memu.forget(match=match)
        assert (again.entries, again.sources) == (0, ())
        if match == "quartz":
            assert bench.holding("quartz") == []
        outcome = bench.outcome()
        assert (await memu.memorize_workspace(bench.work)).failed == ()
        assert bench.outcome() == outcome
    assert outcome == (await bench.fresh(encoder=None)).outcome()


@pytest.mark.parametrize(("times", "left"), [(1, ()), (3, ()), (99, ("a.md#L3",))])
async def test_f46_what_comes_out_at_a_later_reading_goes_too_or_is_named(
    times: int, left: tuple[str, ...], tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    bench.write({"a.md": "# A\n\nThe crates are blue.\n"})
    async with bench.open(encoder=None, extractor=Restless(times)) as memu:
        await memu.memorize_workspace(bench.work)
        receipt = await memu.forget(match="quartz")
        assert [place for place in receipt.left if not place.startswith("memory/")] == list(left)
        assert receipt.entries == min(times, 5)
        assert bool(bench.holding("quartz")) == bool(left)


async def test_f46_a_plan_tells_pages_that_go_from_pages_that_change(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write(
        {
            "stones/a.md": f"# One\n\n{S}\n",
            "stones/c.md": "# Two\n\nWe decided that each shipment is insured for a year.\n",
            "boats/b.md": f"# Boats\n\n- {S}\n- We decided that boats are always kept dry.\n",
        }
    )
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        for named in ({"match": "shipment"}, {"reference": "boats/b.md"}):
            plan = await memu.forget(**named, dry_run=True)
            done = await memu.forget(**named)
            assert plan.pages == done.pages
            assert plan.pages.removed
