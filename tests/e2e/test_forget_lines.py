"""F44, P2: what stood on a line of its own is forgotten by that line, where no sign ends it."""

from __future__ import annotations

import pytest
from support.stores import Bench, on_both

pytestmark = pytest.mark.e2e

SAID = "The safe opens with four seven one one"
ROWS = {
    "first": f"{SAID}\ncall Alice about the locker\nbuy some rope\n",
    "middle": f"buy some rope\n{SAID}\ncall Alice about the locker\n",
    "last": f"call Alice about the locker\nbuy some rope\n{SAID}\n",
    "hard breaks": f"buy some rope  \n{SAID}  \ncall Alice about the locker\n",
    "an item": f"- buy some rope\n  {SAID}\n  call Alice about the locker\n",
    "a quote": f"> buy some rope\n> {SAID}\n> call Alice about the locker\n",
}
AROUND = ["Some {} here", "and {}", "{} then", "It says {} and {} too"]
WRAPS = ["**{}**", "*{}*", "_{}_", "__{}__", "~~{}~~", "`{}`", "***{}***", '"{}"', "({})", "[{}](x.md)"]


def is_left(bench: Bench) -> bool:
    trees = b"".join(bench.trees().values()).decode()
    return "seven one" in trees or "seven one" in str(bench.outcome())


@on_both
@pytest.mark.parametrize("suffix", ["md", "txt", "rst"])
async def test_a_line_stays_away_from_lines_around_it(bench: Bench, suffix: str) -> None:
    """In the same file once another line is edited, and in files that come later."""
    name = f"a.{suffix}"
    bench.write({name: f"# Notes\n\n{ROWS['middle']}"})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(match="four seven one one")
        assert not is_left(bench)
        bench.write({name: f"# Notes\n\n{ROWS['middle'].replace('locker', 'locker and the key')}"})
        await memu.memorize_workspace(bench.work)
        assert not is_left(bench)
        for at, row in enumerate(ROWS.values()):
            bench.write({f"later{at}.{suffix}": f"Other things stay as they are\n\n{row}"})
        await memu.memorize_workspace(bench.work)
        assert not is_left(bench)
        texts = [hit.text for hit in (await memu.retrieve_workspace("other things")).hits]
    assert any("Other things stay" in each for each in texts)


@on_both
async def test_a_line_that_stands_elsewhere_already_goes_with_it(bench: Bench) -> None:
    bench.write({"a.md": f"# Notes\n\n{SAID}.\n", **{f"{at}.md": row for at, row in enumerate(ROWS.values())}})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(match="four seven one one")
        assert not is_left(bench)
        await memu.memorize_workspace(bench.work)
        assert not is_left(bench)


async def test_markup_brings_its_full_stop_along(bench: Bench) -> None:
    said = f"{SAID}."
    bench.write({"a.md": f"# Notes\n\n{said}\n"})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        await memu.forget(match="four seven one one")
        wrapped = [wrap.format(said) for wrap in WRAPS]
        bench.write(
            {
                f"{at}.md": f"Hello, ferries.\n\n{text}\n"
                for at, text in enumerate(around.format(each, each) for each in wrapped for around in AROUND)
            }
        )
        await memu.memorize_workspace(bench.work)
        left = [hit.text for hit in (await memu.retrieve_workspace("seven one one", max_hits=50)).hits]
    assert [each for each in left if "seven one" in each] == []
    assert not is_left(bench)
