"""FIELD: a line without an end, or of the same words over and over, is no sentence: searched, but no entry."""

from __future__ import annotations

import random

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.opaque import is_endless, is_opaque
from memu.memorize.extractors.policies import extract

pytestmark = pytest.mark.unit

WORDS = [f"{a}{b}" for a in ("har", "pier", "mo", "ti", "oak") for b in ("bour", "ing", "de", "len", "ra", "s")]
SAID = "The Heron pier closes in May because its planks are rotten."
LONG = """The fee is due for the boats, the sheds, the cranes, the nets, the ropes and the oars, and for the
ferry, which pays twice, and for the men of the ferry, who pay half, if they live at the pier."""


def read(text: str, path: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


@pytest.mark.parametrize("path", ["notes.txt", "notes.md", "notes.html", "notes.json"])
@pytest.mark.parametrize("unit", ["word ", "ha ", "oak pier ", "码头"])
def test_the_same_words_over_and_over_are_no_entry(path: str, unit: str) -> None:
    text = f"{unit * (90_000 // len(unit))}\n\n{SAID}\n"
    assert {one.text for one in extract(read(text, path), path).candidates} <= {SAID}


@pytest.mark.parametrize("path", ["notes.txt", "notes.md"])
def test_words_without_an_end_are_no_entry(path: str) -> None:
    choice = random.Random(4)
    text = " ".join(choice.choice(WORDS) for _ in range(600))
    document = read(f"# Pier\n\n{SAID}\n\n{text}\n", path)
    assert {one.text for one in extract(document, path).candidates} == {SAID}
    assert any(text[:60] in block.text for block in document.blocks)


@pytest.mark.parametrize(
    "text",
    [
        " ".join([SAID] * 3),
        LONG,
        "；".join(["码头在五月关闭，因为木板已经腐烂，新的木板将使用橡木，可以使用三十年"] * 2),
        "pip install memu " + " ".join(f"--option-{n} value-{n}" for n in range(40)),
    ],
)
def test_what_somebody_says_is_neither(text: str) -> None:
    assert not is_opaque(text)
    assert not is_endless(text)
