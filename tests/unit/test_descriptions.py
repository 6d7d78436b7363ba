"""P4, F38: a page's description is in words of the entries that it cites, but for a bounded share of wording."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.memorize.fold.patch_words import find_strange_words

pytestmark = pytest.mark.unit

SOURCES = (
    "Deploys go out on Tuesdays at nine, after the gateway was drained.",
    "The office moved its backups to the quarry; each is tested on the first of the month.",
)
BACKED = {
    "the words themselves": "Deploys go out on Tuesdays at nine.",
    "other forms of them": "When to deploy: Tuesday, once the gateways are drained and the backup tested.",
    "general words": "Overview of deploys, backups and rules for the gateway.",
    "one word of wording": "The cadence of deploys and backups.",
    "a third": "Reliable cadence of deploys, gateways, backups and tests.",
    "grammar alone": "What it is and how it was.",
    "Chinese": "概要",
}
STRANGE = {
    "mostly strange": "Deploys happen cautiously with careful rollback rehearsals.",
    "wholly strange": "Marmalade recipes for frosty winter mornings.",
    "flattering": "A robust, scalable, modern deploy platform.",
    "German": "Deploys folgen einem strengen wöchentlichen Fahrplan.",
    "Chinese": "企业级高可用部署平台的最佳实践",
}


@pytest.mark.parametrize("text", BACKED.values(), ids=BACKED)
def test_words_of_the_entries_and_a_little_wording_pass(text: str) -> None:
    assert find_strange_words(text, SOURCES) == ()


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_f38_words_that_no_entry_backs_are_named(text: str) -> None:
    assert len(find_strange_words(text, SOURCES)) > 1


@given(st.lists(st.sampled_from(["deploys", "gateway", "office", "backups", "quarry", "tested"]), max_size=6))
def test_what_is_only_of_sources_is_never_strange(words: list[str]) -> None:
    assert find_strange_words(" ".join(words), SOURCES) == ()
