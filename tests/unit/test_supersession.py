"""A newer statement takes the place of an older one where it names what is no more, and only there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.supersession import Statement, find_replaced, is_later, supersedes

pytestmark = pytest.mark.unit

NOW = datetime(2025, 3, 1, tzinfo=UTC)


def say(text: str, number: int = 1, **more: object) -> Statement:
    return Statement(text=text, path=f"session_{number}.json", **more)  # type: ignore[arg-type]


REPLACED = {
    "Also I'm switching from Obsidian to Notion — I need more.": {"obsidian"},
    "We moved everything from our Unity and C# to Godot.": {"unity", "c#"},
    "We pivot from ACL 2025 to EMNLP instead.": {"acl 2025"},
    "I'm rewriting in GDScript instead of using C# in Godot.": {"c#"},
    "Instead of Visual Studio Code, we use Zed.": {"visual studio code"},
    "I'm not using Figma anymore at all.": {"figma"},
    "I don’t use Trello any more.": {"trello"},
    "She no longer works at Siemens.": {"siemens"},
    "We replaced Redis with Postgres.": {"redis"},
    "They ditched Kafka for NATS.": {"kafka"},
    "Wir sind von GitLab CI auf Woodpecker umgestiegen.": {"gitlab ci"},
    "Ich nutze Evernote2 nicht mehr.": {"evernote2"},
    "Statt MySQL nehmen wir Postgres.": {"mysql"},
    "Redis wurde durch PostgreSQL ersetzt.": {"redis"},
    "Pasamos de Slack a Zulip en mayo.": {"slack"},
    "Ya no uso Trello.": {"trello"},
    "En lugar de usar MySQL usamos Postgres.": {"mysql"},
    "我们从飞书换到钉钉了。": {"飞书"},
    "我不再使用Notion。": {"notion"},
    "I moved from coffee to tea.": set(),
    "Use tabs instead of spaces.": set(),
    "We went from 20 to 50 languages.": {"20 languages"},
    "Training time dropped from 72 hours to 40 hours.": {"72 hours"},
    "Our score went from 3.2 to 3.8 out of 5.": set(),
    "The shop is open from 9 to 5 daily.": set(),
    "Wir sind von 5 auf 8 Leute gewachsen.": {"5 leute"},
    "El equipo creció de 5 a 8 personas.": {"5 personas"},
    "I come from Oslo.": set(),
    "The movie runs from May to June.": set(),
    "": set(),
}


@pytest.mark.parametrize(("text", "names"), REPLACED.items())
def test_what_a_sentence_says_is_no_more(text: str, names: set[str]) -> None:
    assert {each.name for each in find_replaced(text)} == names


OLD = say("Also I use Obsidian for all my notes.")
NEW = "I'm switching from Obsidian to Notion."


@pytest.mark.parametrize(
    ("newer", "older", "replaces"),
    [
        (say(NEW, 3), OLD, True),
        (say(NEW, 3), say("obsidian is where my notes are", 1), True),
        (say(NEW, 10), say(OLD.text, 9), True),
        (say(NEW, 1), say(OLD.text, 3), False),
        (say(NEW, 1, line=2), OLD, True),
        (say(NEW, 1), say(OLD.text, 1, line=2), False),
        (say(NEW, 1, time=NOW), say(OLD.text, 3, time=NOW - timedelta(days=1)), True),
        (say(NEW, 3, time=NOW), say(OLD.text, 1, time=NOW + timedelta(days=1)), False),
        (say(NEW, 3, speaker="Tom"), say(OLD.text, 1, speaker="Orla"), False),
        (say(NEW, 3), say("I use Obsidians for jewellery.", 1), False),
        (say("We moved from Evernote to Obsidian.", 2), OLD, False),
        (say("We moved on from Obsidian to Notion.", 3), say("I don't use Obsidian any more.", 2), False),
        (Statement(text=NEW, path="b.json"), Statement(text=OLD.text, path="a.json"), False),
        (say("We moved the standup from Monday to Tuesday.", 2), say("Our standup is on Monday.", 1), True),
        (say("We moved the standup from Monday to Tuesday.", 2), say("I climb on Monday.", 1), False),
        (
            say("Wir sind mit den Tickets von Jira auf Linear umgestiegen.", 2),
            say("Jira hält alle Tickets.", 1),
            True,
        ),
        (say("Wir sind von Kaffee auf Tee umgestiegen.", 2), say("Ich traf Ana auf einen Kaffee.", 1), False),
    ],
)
def test_only_a_later_statement_that_names_the_old_value_replaces(
    newer: Statement, older: Statement, replaces: bool
) -> None:
    assert supersedes(newer, older) is replaces


STATEMENTS = st.builds(
    Statement,
    text=st.sampled_from([NEW, OLD.text, "We moved from Notion to Obsidian.", "We left Obsidian for Notion."]),
    time=st.sampled_from([None, NOW, NOW + timedelta(days=1)]),
    path=st.sampled_from(["session_1.json", "session_2.json", "session_10.json", "other.json"]),
    line=st.integers(0, 3),
)


@given(one=STATEMENTS, other=STATEMENTS)
def test_of_two_statements_at_most_one_is_later_and_nothing_replaces_itself(
    one: Statement, other: Statement
) -> None:
    assert not (is_later(one, other) and is_later(other, one))
    assert not (supersedes(one, other) and supersedes(other, one))
    assert not supersedes(one, one)


@given(st.text(max_size=400))
def test_any_text_may_be_asked(text: str) -> None:
    assert all(each.name in text.lower() or " " in each.name for each in find_replaced(text))


@pytest.mark.parametrize(
    "text",
    [
        "We considered moving from Jenkins to GitLab.",
        "We will never switch from Jenkins to GitLab.",
        "Nobody wants to switch from Jenkins to GitLab.",
        "It is a myth that we moved from Jenkins to GitLab.",
        "The other team moved from Jenkins to GitLab.",
        "The migration from Jenkins to GitLab was cancelled.",
        "We tried to move from Jenkins to GitLab but failed.",
        "I no longer use Jenkins for deploys, only for builds.",
        "You could use GitLab instead of Jenkins.",
        "I wish we used GitLab instead of Jenkins.",
        "We plan to move from Jenkins to GitLab in 2027.",
        "If the price rises we will switch from Jenkins to GitLab.",
        "We decided against moving from Jenkins to GitLab.",
        "Bob asked whether we should switch from Jenkins to GitLab.",
        "We didn't switch from Jenkins to GitLab.",
        "Wenn es teurer wird, wechseln wir von Jenkins zu GitLab.",
        "No cambiamos de Jenkins a GitLab.",
        "Quizás cambiemos de Jenkins a GitLab.",
        "如果太贵，我们会从Jenkins换到GitLab。",
    ],
)
def test_what_is_denied_wished_planned_or_asked_replaces_nothing(text: str) -> None:
    assert find_replaced(text) == frozenset()
