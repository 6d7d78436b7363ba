"""Floors on what is remembered of ten invented users' chats (recall 0.88 and precision 0.55 are promised).

An expected fact is found when one entry covers at least half of its content words; an entry is useful when it
covers half of the words of some fact, or half of its own are in one. The policy was tuned on the first half of
the users only; the other half is held out, and both must clear the floors.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.records import Kind

DATA = Path(__file__).parents[1] / "data" / "chats"
HALVES = {
    "tuned": ("aisha_05", "amara_19", "chen_06", "diego_18", "hannah_17"),
    "held out": ("alex_10", "ben_20", "david_08", "elena_11", "james_04"),
}
_STOP = """
a an the and or of to in on at for with by from is are was were be been has have had it its this that as their his
her our my your they he she we i you not no do does did so but if then than
"""
STOP = frozenset(re.findall(r"\w+", _STOP))
FLOORS = {"recall": 0.93, "precision": 0.75}


def content_words(text: str) -> frozenset[str]:
    found = re.findall(r"[a-z0-9]+|[^\x00-\x7f]", text.lower())
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found if word not in STOP
    )


def remember(user: str) -> list[str]:
    texts: list[str] = []
    for path in sorted((DATA / "sessions" / user).glob("*.json")):
        source = Source(path=path.name, text=path.read_text(encoding="utf-8"))
        document = find_reader(source).read(source)
        assert document.kind is Kind.CHAT
        texts += [one.text for one in extract(document, path.name).candidates]
    return texts


def score(user: str) -> dict[str, float]:
    expected = json.loads((DATA / "expected" / f"{user}.json").read_text(encoding="utf-8"))
    facts = [content_words(fact) for fact in expected]
    entries = [content_words(entry) for entry in remember(user)]
    found = sum(any(2 * len(fact & entry) >= len(fact) for entry in entries) for fact in facts)
    useful = sum(any(2 * len(fact & entry) >= min(len(fact), len(entry)) for fact in facts) for entry in entries)
    return {"recall": found / len(facts), "precision": useful / len(entries)}


@pytest.mark.quality
@pytest.mark.parametrize("half", HALVES)
def test_what_users_said_is_remembered_and_little_else(half: str) -> None:
    scores = [score(user) for user in HALVES[half]]
    for name, floor in FLOORS.items():
        mean = sum(one[name] for one in scores) / len(scores)
        assert mean >= floor, f"{name} of the {half} half is {mean:.3f}"


@pytest.mark.quality
@pytest.mark.parametrize("user", [user for half in HALVES.values() for user in half])
def test_no_user_is_forgotten(user: str) -> None:
    assert score(user)["recall"] >= 0.85
