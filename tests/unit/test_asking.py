"""A turn that only asks what is asked stands below what answers it (F48: the right hit is among the first)."""

from __future__ import annotations

import pytest

from memu.records import Kind, Passage
from memu.retrieve.asking import only_asks, write_patterns
from memu.retrieve.ranking import Candidate, RankingPolicy, fuse
from memu.tokens import query_terms

pytestmark = pytest.mark.unit

ASKED = "What framework are we using for distributed training?"
DE, ES, ZH = "Welches Werkzeug nutzt du für Notizen?", "¿Qué editor usas para las notas?", "你用什么编辑器写笔记？"


def turn(text: str, language: str = "en", kind: Kind = Kind.CHAT) -> Passage:
    return Passage(id="", ordinal=0, header="", text=text, kind=kind, language=language)


@pytest.mark.parametrize(
    ("text", "question", "language"),
    [
        (ASKED, ASKED, "en"),
        ("That's a serious cluster! What framework are you using for distributed training?", ASKED, "en"),
        ("Quite so. Which framework?\n", ASKED, "en"),
        (f"Schön. {DE}", DE, "de"),
        (f"Bien. {ES}", ES, "es"),
        (f"好的。{ZH}", ZH, "zh"),
        ("Really?", "Something else", "en"),
    ],
)
def test_a_turn_that_only_asks_is_known(text: str, question: str, language: str) -> None:
    terms = write_patterns(query_terms(question, [language]))
    assert only_asks(turn(text, language), terms)
    assert only_asks(turn(text, language, Kind.MEETING), terms)
    assert not only_asks(turn(text, language, Kind.DOCUMENT), terms)


@pytest.mark.parametrize(
    ("text", "question", "language"),
    [
        ("We use DeepSpeed as our framework for distributed training. Should we look at others?", ASKED, "en"),
        ("Distributed training runs on DeepSpeed, a framework. What do you think of it?", ASKED, "en"),
        ("We use DeepSpeed.", ASKED, "en"),
        ("Fragst du? Ich nutze Zettlr als Werkzeug für Notizen.", DE, "de"),
        ("¿Yo? Uso Emacs como editor para las notas.", ES, "es"),
        ("我用 Emacs 编辑器写笔记。你呢？", ZH, "zh"),
        ("", ASKED, "en"),
        ("???" * 100 + " framework.", "framework", "en"),
    ],
)
def test_what_tells_it_beside_a_question_is_no_question(text: str, question: str, language: str) -> None:
    assert not only_asks(turn(text, language), write_patterns(query_terms(question, [language])))


def test_it_falls_below_what_holds_fewer_words_and_stays_an_answer() -> None:
    found = [
        Candidate(id="asks", words=9.0, asks=True),
        Candidate(id="tells", words=4.0),
        Candidate(id="far", words=1.0),
    ]
    scores = fuse(found, RankingPolicy(), encoder=None)
    assert sorted(scores, key=scores.__getitem__, reverse=True) == ["tells", "asks", "far"]
    level = fuse(found, RankingPolicy(fall_of_questions=0.0), encoder=None)
    assert max(level, key=level.__getitem__) == "asks"
