"""Parsers that threads share read a text by all of their rules, whichever thread comes first (P3)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memu.export import quotes
from memu.ingest.readers import markdown_blocks
from memu.memorize.fold import outline

pytestmark = pytest.mark.unit

MAKERS = {
    "read": markdown_blocks._make_parser,
    "folded": outline._parser,
    "exported": quotes._parser,
}
STEPS = "1. Stop the pump.\n2. Run the check.\n3. Open the valve.\n\n> A quote.\n\n- an item\n"


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("made", MAKERS)
def test_a_shared_parser_has_its_rules_before_anybody_has_it(made: str) -> None:
    maker = MAKERS[made]
    maker.cache_clear()
    parser = maker()
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        assert ruler.__cache__ is not None


def _count(text: str) -> int:
    return len(markdown_blocks.read_markdown_blocks(text, Counter())[0])


def _shape(text: str) -> int:
    return len(outline.read_outline(text.split("\n")))


@pytest.mark.parametrize("read", [_count, _shape])
def test_threads_that_come_first_together_read_alike(read: Callable[[str], int], hurried: None) -> None:
    wanted = read(STEPS)
    with ThreadPoolExecutor(8) as threads:
        for _ in range(60):
            MAKERS["read"].cache_clear()
            MAKERS["folded"].cache_clear()
            assert set(threads.map(read, [STEPS] * 8)) == {wanted}
