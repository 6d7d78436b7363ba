"""What was said later goes just above what it replaces; other hits stay where they were, none is lost (P12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.records import Kind, LineSpan, Passage, Resource
from memu.retrieve.succession import put_newer_first
from memu.storage.owners import FoundPassage
from memu.tokens import query_terms

pytestmark = pytest.mark.unit

NEW = "Now we're switching from Obsidian to Notion."
LATER = "I don't use Obsidian any more at all."
OLD = "I use Obsidian for all my notes."
LONG = "I'm Orla and I build boats in Cork. I use Obsidian for all my notes."


def told(
    text: str, number: int, line: int = 1, *, kind: Kind = Kind.CHAT, workspace: str = "w", speaker: str = "user"
) -> FoundPassage:
    resource = Resource(
        id=f"r{number}", workspace_id=workspace, path=f"session_{number}.json", kind=kind, title="session"
    )
    passage = Passage(
        id="",
        ordinal=line,
        header=f"session\n{speaker}",
        text=text,
        kind=kind,
        language="en",
        lines=LineSpan(line, line),
    )
    return FoundPassage(passage=passage, resource=resource)


def order(ratings: dict[str, float]) -> list[str]:
    return sorted(ratings, key=lambda each: -ratings[each])


def test_it_comes_first_whether_or_not_it_was_found() -> None:
    found = {"old": told(OLD, 1), "new": told(NEW, 2), "other": told("It rained.", 3)}
    for ratings in ({"old": 0.5, "other": 0.2}, {"old": 0.5, "other": 0.2, "new": 0.1}):
        changed, earlier = put_newer_first(["old", "other"], found, ratings)
        assert order(changed) == ["new", "old", "other"]
        assert earlier == {"old"}
        assert changed["new"] == 0.5


def test_of_several_the_last_said_comes_first() -> None:
    found = {"old": told(OLD, 1), "new": told(NEW, 2), "later": told(LATER, 2, 9)}
    changed, _ = put_newer_first(["old"], found, {"old": 0.5, "new": 0.4})
    assert order(changed) == ["later", "old", "new"]


@pytest.mark.parametrize("ids", [("a", "b"), ("b", "a")])
def test_of_two_of_which_none_is_later_the_same_comes_first_whatever_their_ids(ids: tuple[str, str]) -> None:
    first, second = (told(NEW, 2), told(NEW, 2))
    assert second.resource is not None
    second = replace(second, resource=replace(second.resource, path="other_2.json"))
    old = told(OLD, 1)
    old = replace(old, passage=replace(old.passage, happened_at=datetime(2024, 1, 1, tzinfo=UTC)))
    first, second = (
        replace(each, passage=replace(each.passage, happened_at=datetime(2024, 5, 1, tzinfo=UTC)))
        for each in (first, second)
    )
    found = {"old": old, **dict(zip(ids, (first, second), strict=True))}
    changed, _ = put_newer_first(["old"], found, {"old": 0.5})
    assert order(changed)[0] == ids[1]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what do I use for notes", "new"),
        ("where do I build boats", "old"),
        ("who is this", "new"),
    ],
)
def test_a_question_for_something_else_in_the_older_statement_keeps_it_first(question: str, first: str) -> None:
    found = {"old": told(LONG, 1), "new": told(NEW, 2)}
    asked = query_terms(question, ("en",))
    changed, earlier = put_newer_first(["old"], found, {"old": 0.5, "new": 0.1}, asked)
    assert order(changed)[0] == first
    assert earlier == {"old"}


@pytest.mark.parametrize(
    "new",
    [
        told(NEW, 2, kind=Kind.DOCUMENT),
        told(NEW, 2, workspace="another"),
        told(NEW, 2, speaker="assistant"),
        told(NEW, 0),
        told("We like Obsidian.", 2),
    ],
    ids=["a document", "another workspace", "somebody else", "said before", "names nothing as gone"],
)
def test_nothing_else_changes_an_order(new: FoundPassage) -> None:
    ratings = {"old": 0.5, "new": 0.1}
    assert put_newer_first(["old"], {"old": told(OLD, 1), "new": new}, ratings) == (ratings, frozenset())


@given(
    texts=st.lists(
        st.sampled_from([NEW, LATER, OLD, LONG, "It rained.", "We moved from Notion to Obsidian."]), max_size=8
    ),
    data=st.data(),
)
def test_no_hit_is_lost_and_the_others_keep_their_order(texts: list[str], data: st.DataObject) -> None:
    found = {f"{number}": told(text, data.draw(st.integers(1, 4)), number) for number, text in enumerate(texts)}
    rated = [each for each in found if data.draw(st.booleans())]
    ratings = {each: data.draw(st.floats(0.01, 1)) for each in rated}
    best = order(ratings)[:5]
    changed, earlier = put_newer_first(best, found, ratings)
    assert ratings.keys() <= changed.keys()
    assert earlier <= set(best)
    assert all(0 <= rating <= 1 for rating in changed.values())
    still = [each for each in order(ratings) if changed[each] == ratings[each]]
    assert [each for each in order(changed) if each in still] == still
    # Without what names something as gone nothing moves.
    if not {NEW, LATER, "We moved from Notion to Obsidian."} & set(texts):
        assert changed == ratings
