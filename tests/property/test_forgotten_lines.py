"""P4: whatever is forgotten of a source, what is left of it cites the lines that hold its words, and no other."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.candidate import Candidate
from memu.memorize.extractors.policies import extract
from memu.memorize.forget.cutting import cut_document, sift
from memu.memorize.forget.forgotten import MARK, Forgotten, statement_keys
from memu.memorize.llm.lines import join_span, read_lines

pytestmark = pytest.mark.property

SALT = "5a" * 32
NAMES = ["Ada", "Bruno", "Clara", "Dario", "Edith", "Felix"]
TOWNS = ["Bremen", "Calais", "Dublin", "Exeter", "Faro", "Ghent"]
SENTENCES = [f"{name} keeps the boats dry near {town}." for name, town in zip(NAMES, TOWNS, strict=True)]
LED = {  # what leads to a paragraph's first line and to the others, and what stands around it
    "paragraph.md": ("", "", "# Boats\n\n", "\n"),
    "bullet.md": ("- ", "  ", "# Boats\n\n", "\n- Oars are kept in the shed of the harbour.\n"),
    "step.md": ("1. ", "   ", "# Boats\n\n", "\n2. Count the oars in the shed of the harbour.\n"),
    "quote.md": ("> ", "> ", "# Boats\n\n", "\n"),
    "plain.txt": ("", "", "Oars are kept in the shed.\n\n", "\n\nSails are kept in the loft.\n"),
    "page.rst": ("", "", "Boats\n=====\n\n", "\n"),
    "fence.md": ("", "", "# Boats\n\nWhat the log of the harbour says:\n\n```text\n", "\n```\n"),
}


@st.composite
def sources(draw: st.DrawFn) -> tuple[Source, list[str]]:
    """A paragraph whose lines end anywhere between two words; what is forgotten of it."""
    path = draw(st.sampled_from(sorted(LED)))
    first, other, before, after = LED[path]
    said = SENTENCES[: draw(st.integers(2, len(SENTENCES)))]
    words = " ".join(said).split(" ")
    # A line's end is likelier where a sentence ends.
    ends = [draw(st.sampled_from([" ", "\n"] if word.endswith(".") else [" ", " ", "\n"])) for word in words[:-1]]
    lines = "".join(f"{word}{end}" for word, end in zip(words, [*ends, ""], strict=True)).split("\n")
    told = "\n".join(f"{other if at else first}{line}" for at, line in enumerate(lines))
    gone = draw(st.lists(st.sampled_from(said), min_size=1, max_size=len(said) - 1, unique=True))
    return Source(path=path, text=f"{before}{told}{after}"), gone


def told(statements: list[str]) -> Forgotten:
    keys = {key for statement in statements for key in statement_keys(statement)}
    return Forgotten(SALT, Forgotten(SALT).tombstones(keys))


def find_lines(source: Source, text: str) -> tuple[int, int]:
    """Where the first and the last of these words stand; no two sentences begin or end alike."""
    spoken = [each for each in SENTENCES if each in " ".join(text.split())]
    flat = re.compile(r"(?:\s|>)+".join(map(re.escape, " ".join(spoken[0].split()).split(" "))))
    last = re.compile(r"(?:\s|>)+".join(map(re.escape, " ".join(spoken[-1].split()).split(" "))))
    begin, end = flat.search(source.text), last.search(source.text)
    assert begin is not None
    assert end is not None
    return source.text.count("\n", 0, begin.start()) + 1, source.text.count("\n", 0, end.end()) + 1


def is_ours(candidate: Candidate) -> bool:
    return any(each in " ".join(candidate.text.split()) for each in SENTENCES)


@given(sources())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_p4_what_is_left_cites_the_lines_that_hold_its_words(given_: tuple[Source, list[str]]) -> None:
    source, gone = given_
    document = cut_document(find_reader(source).read(source), source.path, told(gone))
    kept = [each for each in sift(extract(document, source.path).candidates, told(gone)) if is_ours(each)]
    assert kept or source.path == "fence.md"
    for each in kept:
        assert each.lines is not None
        assert (each.lines.start, each.lines.end) == find_lines(source, each.text), each
    for line in read_lines(document):
        if line.lines is not None and any(each in line.text for each in SENTENCES):
            span = join_span([line])
            assert span is not None
            assert (span.start, span.end) == find_lines(source, line.text), line
    assert MARK in " ".join(block.text for block in document.blocks)
