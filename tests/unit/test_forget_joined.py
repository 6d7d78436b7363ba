"""F46: what several texts say only together is found where they follow one another or stand before one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.candidate import Candidate
from memu.memorize.forget.cutting import cut_document, sift
from memu.memorize.forget.forgotten import MARK, Forgotten, statement_keys
from memu.memorize.forget.joined import cut_row
from memu.memorize.forget.scissors import Scissors
from memu.records import LineSpan
from memu.tokens import text_key

pytestmark = pytest.mark.unit

SALT = "5a" * 32
SECRET = "We decided that the quartz shipment leaves on Friday morning."
FRONT, BACK = "We decided that the quartz shipment", "leaves on Friday morning."


def told(*statements: str) -> Forgotten:
    keys = {key for statement in statements for key in statement_keys(statement)}
    return Forgotten(SALT, Forgotten(SALT).tombstones(keys))


@pytest.mark.parametrize("at", ["label", "section", "page_hint"])
@pytest.mark.parametrize("before", ["", "Plans > ", "Plans > More: "])
def test_a_text_goes_that_is_forgotten_only_with_what_stands_in_front_of_it(at: str, before: str) -> None:
    """A page shows both on one line."""
    made = Candidate(text=BACK, lines=LineSpan(6, 6), **{at: before + FRONT})
    assert sift([made], told(SECRET)) == ()
    (kept,) = sift([Candidate(text=f"{BACK} Bob knows.", lines=None, label=FRONT)], told(SECRET))
    assert kept.text == "Bob knows."
    assert sift([made], told("Bob knows."))[0].text == BACK


@pytest.mark.parametrize(
    "text",
    [
        "- {0}\n  - {1}\n",
        "- {0}:\n  1. {1}\n",
        "## {0}\n\n{1}\n",
        "{0}\n\n- {1}\n- Boats are dry.\n",
        "{0}:\n\n> {1}\n",
        "Boats are dry.\n\n{0}\n\n{1}\n\nBoats are wet.\n",
        "- We decided that\n  - the quartz shipment\n    - leaves on Friday morning.\n",
    ],
)
@pytest.mark.parametrize("statement", [SECRET, f"**{SECRET}**"])
def test_blocks_that_follow_one_another_are_read_as_one(text: str, statement: str) -> None:
    source = Source(path="a.md", text="# T\n\n" + text.format(FRONT, BACK))
    cut = cut_document(find_reader(source).read(source), "a.md", told(statement))
    said = text_key(" ".join(block.text for block in cut.blocks))
    assert "quartz" not in said
    assert "friday" not in said
    assert not any("quartz" in (block.parent or "") for block in cut.blocks)


@pytest.mark.parametrize(
    "texts",
    [
        (FRONT, "and the boats, too,", BACK),
        (f"{FRONT} for them", BACK),
        (FRONT, "leaves on Friday morning or so."),
        (FRONT,),
        (),
    ],
)
def test_other_words_in_between_make_another_statement(texts: tuple[str, ...]) -> None:
    assert cut_row(texts, told(SECRET)) == texts


words = st.text(alphabet="abcdefg", min_size=2, max_size=9)


@given(st.lists(words, min_size=2, max_size=9), st.lists(words, max_size=3), st.data())
def test_wherever_a_statement_is_parted_nothing_of_it_is_left(
    said: list[str], others: list[str], data: st.DataObject
) -> None:
    """Three texts, one of them in the middle, between others; by tombstones as by the words themselves."""
    one, two = sorted(data.draw(st.tuples(*[st.integers(1, len(said) - 1)] * 2)))
    parts = [" ".join(part) for part in (said[:one], said[one:two], said[two:]) if part]
    statement = " ".join(said)
    before = [f"X{word} is here." for word in others]
    texts = (*before, *parts, "Zzz is there.")
    for statements in (told(statement), Scissors.of([statement])):
        cut = cut_row(texts, statements)
        assert cut == (*before, *[MARK] * len(parts), "Zzz is there.")


def test_long_rows_are_looked_at_in_stretches_that_leave_no_border_out() -> None:
    filler = tuple(f"Sentence {number} is about the boats of the harbour." for number in range(900))
    for at in range(0, 900, 61):
        cut = cut_row((*filler[:at], FRONT, BACK, *filler[at:]), told(SECRET))
        assert cut == (*filler[:at], MARK, MARK, *filler[at:])
