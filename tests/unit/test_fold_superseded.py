"""A page marks what a newer statement on it names as no more; it leaves out nothing and moves nothing (P4, P5)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.render import render_page
from memu.memorize.fold.superseded import mark_earlier
from memu.records import Kind, Origin, Track

pytestmark = pytest.mark.unit


def entry(number: int, text: str, *, label: str = "", kind: Kind = Kind.CHAT, **more: object) -> PageEntry:
    return PageEntry(
        id=f"e{number}",
        workspace="w",
        path=f"session_{number}.json",
        title=f"session {number}",
        ordinal=0,
        text=text,
        text_key=text.lower(),
        label=label,
        kind=kind,
        **more,  # type: ignore[arg-type]
    )


OLD, NEW = "I use Obsidian for all my notes.", "We're switching from Obsidian to Notion."


def test_the_older_one_is_marked_where_it_stands() -> None:
    page = render_page(Track.MEMORY, [entry(1, OLD), entry(2, NEW), entry(3, "The cat is called Obsidian.")])
    assert [line.split(" [^")[0] for line in page.content.splitlines() if line.startswith("- ")] == [
        f"- **Earlier** — {OLD}",
        f"- {NEW}",
        "- The cat is called Obsidian.",
    ]
    assert len(page.marks) == 3


def test_a_speaker_keeps_their_name_and_speaks_for_themselves_alone() -> None:
    said = [entry(1, OLD, label="Orla"), entry(4, "I use Obsidian too.", label="Tom"), entry(2, NEW, label="Orla")]
    assert [each.label for each in mark_earlier(said)] == ["Orla, earlier", "Tom", "Orla"]


@pytest.mark.parametrize(
    "newer",
    [
        entry(2, NEW, kind=Kind.DOCUMENT),
        entry(2, NEW, origin=Origin.MODEL),
        entry(0, NEW),
        entry(2, "Obsidian or Notion?"),
    ],
    ids=["a document", "a model's words", "said before", "names nothing as gone"],
)
def test_nothing_else_is_marked(newer: PageEntry) -> None:
    assert [each.label for each in mark_earlier([entry(1, OLD), newer])] == ["", ""]


def test_what_is_said_once_more_afterwards_holds_again() -> None:
    again = [entry(1, OLD), entry(2, NEW), entry(3, OLD)]
    assert [each.label for each in mark_earlier(again)] == ["", "", ""]


def test_what_is_marked_says_which_of_two_days_is_later() -> None:
    early, late = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC)
    back = "We moved from Notion to Obsidian."
    said = [entry(3, NEW, happened_at=early), entry(1, back, happened_at=late)]
    assert [each.label for each in mark_earlier(said)] == ["Earlier", ""]


def test_thousands_of_statements_take_no_longer_than_a_look_at_each() -> None:
    many = [entry(number, f"We moved from Tool{number} to Tool{number + 1}.") for number in range(1500)]
    assert sum(bool(each.label) for each in mark_earlier(many)) == 1499
