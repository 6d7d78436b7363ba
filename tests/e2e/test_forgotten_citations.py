"""P4: what is left of a paragraph after forgetting cites its own lines, in the entry and on the page."""

from __future__ import annotations

import re

import pytest
from support.stores import Bench, on_both

pytestmark = pytest.mark.e2e

SAID = [
    "More one is said here about goats.",
    "More two is said here about ships.",
    "More three is said here about rafts.",
]


@on_both
@pytest.mark.parametrize("gone", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], ids=str)
async def test_p4_a_line_that_was_forgotten_is_cited_by_no_other(bench: Bench, gone: tuple[int, ...]) -> None:
    bench.write({"a.md": f"# Notes\n\n{chr(10).join(SAID)}\n"})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        for at in gone:
            await memu.forget(match=SAID[at].removesuffix("."))
        entries = await memu.list_entries()
        assert entries
        for each in entries:
            line = 3 + SAID.index(each.text)
            assert each.lines is not None
            assert (each.lines.start, each.lines.end) == (line, line)
    pages = b"".join(data for path, data in bench.trees().items() if "/memory/" in path).decode()
    cited = sorted(re.findall(r"\(.*a\.md#([L0-9-]+)\)", pages))
    assert cited == sorted(f"L{each.lines.start}" for each in entries if each.lines)
