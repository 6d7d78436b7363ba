"""What holds of terms whatever the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memu.languages import STEMMED_LANGUAGES
from memu.tokens import MAX_TERM_LENGTH, detect_language, index_terms, query_terms, text_key

LANGUAGES = st.sampled_from([None, "uk", "zh", "xx", *sorted(STEMMED_LANGUAGES)])
TEXTS = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="aB1_-./:#+ é猫かन्й@\\&'’", max_size=40),
    st.lists(
        st.sampled_from(["ERR_4091", "parseHTTPResponse", "the", "deploys", "黑豹队", "Häuser", "C++", "a/b.c"])
    ).map(" ".join),
)


@given(text=TEXTS, language=LANGUAGES)
@settings(max_examples=150, deadline=None)
def test_a_passage_is_found_by_every_word_of_itself(text: str, language: str | None) -> None:
    terms = index_terms(text, language)
    for word in query_terms(text, ("en", *([language] if language else []))):
        assert any(variant in terms for variant in word.variants)


@given(text=TEXTS, language=LANGUAGES)
@settings(max_examples=150, deadline=None)
def test_terms_are_short_folded_and_free_of_space(text: str, language: str | None) -> None:
    for term, count in index_terms(text, language).items():
        assert 0 < len(term) <= MAX_TERM_LENGTH
        assert count > 0
        assert not any(char.isspace() for char in term)


@given(text=TEXTS, other=TEXTS)
@settings(max_examples=100, deadline=None)
def test_terms_of_two_lines_are_the_sum_of_theirs(text: str, other: str) -> None:
    both = index_terms(f"{text}\n{other}", "en")
    assert both == index_terms(text, "en") + index_terms(other, "en")


@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_text_key_is_its_own_key_and_blind_to_case_and_space(text: str) -> None:
    key = text_key(text)
    assert text_key(key) == key
    assert text_key(f"  {text}\n") == key
    assert bool(key) == bool(text.split())


@given(text=TEXTS)
@settings(max_examples=100, deadline=None)
def test_detection_is_total_and_steady(text: str) -> None:
    assert detect_language(text) == detect_language(text)
