"""Fusion as pure numbers: the documented score, what is no answer (F50), and names asked for (F47)."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.records import EncoderIdentity, Kind
from memu.retrieve.ranking import Candidate, RankingPolicy, fuse, is_known, is_weak, names_only
from memu.tokens import query_terms

pytestmark = pytest.mark.unit

MINILM = EncoderIdentity(name="all-MiniLM-L6-v2-int8", dimension=384, fingerprint="f", languages=frozenset({"en"}))
ANY = EncoderIdentity(name="any", dimension=8, fingerprint="f")
POLICY = RankingPolicy()


def best_first(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda each: (-scores[each], each))


def test_the_score_is_the_documented_sum_of_z_scores() -> None:
    candidates = [
        Candidate(id="a", words=3.0, cosine=0.5),
        Candidate(id="b", words=1.0, cosine=0.9),
        Candidate(id="c", words=2.0, cosine=0.1),
    ]
    spread = math.sqrt(2 / 3)
    deviation = math.sqrt(((0.5 - 0.5) ** 2 + 0.4**2 + 0.4**2) / 3)
    scores = fuse(candidates, POLICY, encoder=ANY)
    assert scores["a"] == pytest.approx(0.4 * 1 / spread)
    assert scores["b"] == pytest.approx(0.6 * 0.4 / deviation - 0.4 * 1 / spread)
    assert scores["c"] == pytest.approx(-0.6 * 0.4 / deviation)


@pytest.mark.parametrize(
    ("kind", "weight"), [(None, 0.6), (Kind.DOCUMENT, 0.6), (Kind.CODE, 0.5), (Kind.CHAT, 0.3), (Kind.RULES, 0.6)]
)
def test_the_weight_of_vectors_goes_by_kind(kind: Kind | None, weight: float) -> None:
    candidates = [
        Candidate(id="a", words=1.0, cosine=0.9, kind=kind),
        Candidate(id="b", words=2.0, cosine=0.8, kind=kind),
    ]
    assert fuse(candidates, POLICY, encoder=ANY)["a"] == pytest.approx(weight - (1 - weight))


@pytest.mark.parametrize(
    ("language", "encoder", "known"),
    [
        ("en", MINILM, True),
        (None, MINILM, True),
        ("zh", MINILM, False),
        ("zh", ANY, True),
        ("en", None, False),
    ],
)
def test_what_an_encoder_cannot_read_it_does_not_judge(
    language: str | None, encoder: EncoderIdentity | None, known: bool
) -> None:
    assert is_known(language, encoder) is known
    candidates = [
        Candidate(id="a", words=1.0, cosine=0.9, language=language),
        Candidate(id="b", words=2.0, cosine=0.8, language=language),
    ]
    assert (best_first(fuse(candidates, POLICY, encoder=encoder)) == ["a", "b"]) is known


def test_words_alone_order_as_their_scores_do() -> None:
    candidates = [Candidate(id=name, words=words) for name, words in [("a", 1.0), ("b", 4.0), ("c", 2.0)]]
    scores = fuse(candidates, POLICY, encoder=None)
    assert best_first(scores) == ["b", "c", "a"]
    assert sum(scores.values()) == pytest.approx(0)


def test_a_passage_without_a_vector_stands_by_its_words() -> None:
    """F17, F19: a missing vector is neither good nor bad."""
    candidates = [
        Candidate(id="no vector", words=9.0),
        Candidate(id="a", words=1.0, cosine=0.5),
        Candidate(id="b", words=0.5, cosine=0.4),
    ]
    scores = fuse(candidates, POLICY, encoder=ANY)
    assert best_first(scores)[0] == "no vector"


@pytest.mark.parametrize(
    ("candidate", "encoder", "weak"),
    [
        (Candidate(id="a", words=0.1, cosine=-0.2), MINILM, False),
        (Candidate(id="a", words=0.0, cosine=0.9), MINILM, False),
        (Candidate(id="a", words=0.0, cosine=0.1), MINILM, True),
        (Candidate(id="a", words=0.0, cosine=0.1), ANY, False),
        (Candidate(id="a", words=0.0, cosine=0.0), ANY, True),
        (Candidate(id="a", words=0.0), ANY, True),
        (Candidate(id="a", words=0.0, cosine=0.9), None, True),
    ],
)
def test_f50_what_shares_no_word_and_is_not_near_is_no_answer(
    candidate: Candidate, encoder: EncoderIdentity | None, weak: bool
) -> None:
    assert is_weak(candidate, POLICY, encoder) is weak
    assert (candidate.id not in fuse([candidate], POLICY, encoder=encoder)) is weak


@pytest.mark.parametrize("seed", range(20))
def test_f47_a_name_asked_for_stands_first_whatever_the_vectors_say(seed: int) -> None:
    rng = random.Random(seed)
    candidates = [
        Candidate(id=f"p{n}", words=rng.choice([0.0, 2.0, 5.0]), cosine=rng.uniform(-1, 1)) for n in range(30)
    ]
    named = Candidate(id="named", words=3.0, cosine=-1.0, exact=True)
    scores = fuse([*candidates, named], POLICY, encoder=ANY, names_only=True)
    assert best_first(scores)[0] == "named"
    assert all(candidate.words > 0 for candidate in candidates if candidate.id in scores)


def test_a_name_in_a_sentence_weighs_as_any_word() -> None:
    candidates = [Candidate(id="a", words=1.0, cosine=0.9), Candidate(id="b", words=1.0, cosine=0.9, exact=True)]
    scores = fuse(candidates, POLICY, encoder=ANY)
    assert scores["b"] == scores["a"]


@pytest.mark.parametrize(
    ("query", "alone"),
    [
        ("ERR_4091", True),
        ("blue-lantern", True),
        ("what is parseHTTPResponse?", True),
        ("tokens.py ERR_4091", True),
        ("src/memu/tokens.py", True),
        ("C++", True),
        ("how does parseHTTPResponse fail", False),
        ("deploy window", False),
        ("a well-known blue-lantern", False),
        ("", False),
        ("???", False),
    ],
)
def test_questions_that_ask_for_names_alone(query: str, alone: bool) -> None:
    assert names_only(query_terms(query, ("en",))) is alone


NUMBERS = st.floats(-1, 1, allow_nan=False).map(lambda number: round(number, 6))


@given(
    st.lists(
        st.tuples(NUMBERS.map(abs), st.one_of(st.none(), NUMBERS), st.sampled_from([*Kind, None])), max_size=12
    ),
    st.booleans(),
    st.sampled_from([None, ANY, MINILM]),
)
def test_fusing_is_total_finite_and_blind_to_order(
    rows: list[tuple[float, float | None, Kind | None]], alone: bool, encoder: EncoderIdentity | None
) -> None:
    candidates = [
        Candidate(id=str(at), words=words, cosine=cosine, kind=kind)
        for at, (words, cosine, kind) in enumerate(rows)
    ]
    scores = fuse(candidates, POLICY, encoder=encoder, names_only=alone)
    assert scores.keys() <= {candidate.id for candidate in candidates}
    assert all(math.isfinite(score) for score in scores.values())
    assert fuse(candidates[::-1], POLICY, encoder=encoder, names_only=alone) == scores


@given(st.lists(st.tuples(NUMBERS.map(abs), NUMBERS), min_size=2, max_size=12), st.floats(0.01, 100), NUMBERS)
def test_scales_of_either_side_do_not_matter(rows: list[tuple[float, float]], scale: float, shift: float) -> None:
    plain = [Candidate(id=str(at), words=words + 1, cosine=cosine) for at, (words, cosine) in enumerate(rows)]
    other = [
        Candidate(id=each.id, words=each.words * scale, cosine=(each.cosine or 0.0) + shift) for each in plain
    ]
    one, two = fuse(plain, POLICY, encoder=ANY), fuse(other, POLICY, encoder=ANY)
    assert all(one[each] == pytest.approx(two[each], abs=1e-3) for each in one.keys() & two.keys())
