"""Questions for a value that changes: what asks for one, and what tells it."""

from __future__ import annotations

import pytest

from memu.retrieve.current_values import find_asked

pytestmark = pytest.mark.unit

ROLES = {
    "What's my current role?": ("I'm a nurse at the harbour clinic.", "I just got promoted to head nurse!"),
    "what do I do for a living": ("I work as a baker.", "I've joined the mill as a miller."),
    "where do I work now": ("I work for the port.", "My new job is at the shipyard."),
    "Was ist mein aktueller Job?": ("Ich bin Pfleger bei der Klinik.", "Ich wurde zum Stationsleiter befördert."),
    "¿Cuál es mi puesto?": ("Soy enfermera en el puerto.", "Me han ascendido a jefa."),
    "我现在的职位是什么": ("我是一名护士。", "我刚晋升为护士长。"),
}
COUNTS = {
    "How many languages do we support?": ("We support 20 languages.", "It runs in 50 human languages."),
    "how many languages and experts am I using": ("8 experts, 20 languages", "16 experts in 50 languages"),
    "Wie viele Server haben wir?": ("Wir haben 3 Server.", "Es sind jetzt 12 neue Server."),
    "¿Cuántos usuarios tenemos?": ("Tenemos 100 usuarios.", "Ya son 1.500 usuarios."),
}
OTHERS = [
    "How many?",
    "how often do we deploy",
    "What is the role of the queue in the design?",
    "which job runs at night",
    "the many languages of Europe",
    "",
]


@pytest.mark.parametrize("question", ROLES)
def test_a_role_takes_the_place_of_another_where_it_is_said_to_be_new(question: str) -> None:
    asked = find_asked(question)
    assert asked is not None
    before, after = ROLES[question]
    assert [asked.is_told(each) for each in (before, after, "It rained at nine.")] == [True, True, False]
    assert [asked.is_newly_told(each) for each in (before, after)] == [False, True]
    assert asked.words


@pytest.mark.parametrize("question", COUNTS)
def test_a_count_is_told_with_a_number_of_each_thing(question: str) -> None:
    asked = find_asked(question)
    assert asked is not None
    before, after = COUNTS[question]
    assert asked.is_newly_told(before)
    assert asked.is_newly_told(after)
    assert asked.differ(before, after)
    assert not asked.differ(before, before)
    assert not asked.is_told("There were 7 of them, and more to come in the languages that we have.")


@pytest.mark.parametrize("question", OTHERS)
def test_nothing_that_changes_is_asked_for(question: str) -> None:
    assert find_asked(question) is None


@pytest.mark.parametrize(
    "text", ["I'm a fan of boats at sea.", "She got promoted to captain.", "We joined two tables."]
)
def test_what_is_no_new_role_takes_no_place(text: str) -> None:
    asked = find_asked("What's my role?")
    assert asked is not None
    assert not asked.is_newly_told(text)


def test_a_long_text_costs_little() -> None:
    asked = find_asked("how many languages")
    assert asked is not None
    assert not asked.is_told("1 " * 100_000)
