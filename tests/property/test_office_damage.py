"""P5: a damaged document is read as far as it goes, or has a reason; none raises, hangs or has no bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.office import make_book, make_open_document, make_pdf

from memu.ingest.document import Document
from memu.ingest.office.apart import Documents, Unread
from memu.ingest.office.forms import find_form

pytestmark = pytest.mark.property

EXAMPLES = int(os.environ.get("MEMU_TEST_EXAMPLES", "6"))
DATA = Path(__file__).parents[1] / "data" / "office"
WHOLE = {
    **{path.name: path.read_bytes() for path in sorted(DATA.iterdir())},
    "made.pdf": make_pdf(["One page", "Two pages"]),
    "made.epub": make_book(["<p>A page</p>"]),
    "made.ods": make_open_document("<office:spreadsheet/>"),
}
MOST_TEXT, SECONDS = 200_000, 60.0


@given(
    name=st.sampled_from(sorted(WHOLE)),
    cut=st.none() | st.floats(0, 1),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=40)), max_size=8),
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_document_is_read_or_has_a_reason(
    name: str, cut: float | None, changes: list[tuple[float, bytes]]
) -> None:
    whole = WHOLE[name]
    data = bytearray(whole if cut is None else whole[: int(cut * len(whole))])
    for at, new in changes:
        start = int(at * len(data))
        data[start : start + len(new)] = new
    form = find_form(name, bytes(data))
    assert form is not None
    told = Documents(most_text=MOST_TEXT, seconds=SECONDS).read(name, form, bytes(data))
    if isinstance(told, Unread):
        assert told.reason
        assert not told.passing
    else:
        assert isinstance(told, Document)
        assert all(block.place and block.lines is None for block in told.blocks)
        assert sum(len(block.text) for block in told.blocks) <= MOST_TEXT
