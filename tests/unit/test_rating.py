"""Scores from 0 to 1: in the order of the fusion, higher for more evidence, whatever else was found."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.records import EncoderIdentity
from memu.retrieve.ranking import Candidate, Evidence, RankingPolicy, fuse
from memu.retrieve.rating import rate, share_of_words

pytestmark = pytest.mark.unit

EVIDENCE = Evidence(bias=-3.0, words=6.0, cosine=4.0, fall=1.5, weak_below=0.1)
ANY = EncoderIdentity(name="any", dimension=8, fingerprint="f")
PARTS = st.tuples(
    st.floats(0, 30).map(lambda number: round(number, 3)), st.floats(-1, 1).map(lambda number: round(number, 3))
)


def test_the_rating_is_the_documented_one() -> None:
    best, other = Candidate(id="best", words=8.0, cosine=0.5), Candidate(id="other", words=2.0, cosine=0.4)
    ratings = rate([other, best], {"best": 1.2, "other": 0.2}, 16.0, EVIDENCE)
    told = -3.0 + 6.0 * 0.5 + 4.0 * 0.5
    assert ratings["best"] == pytest.approx(1 / (1 + math.exp(-told)))
    assert ratings["other"] == pytest.approx(1 / (1 + math.exp(-(told - 1.5))))


@given(st.lists(PARTS, min_size=1, max_size=20), st.booleans(), st.floats(0.5, 100))
def test_ratings_keep_to_their_range_and_never_contradict_the_order(
    rows: list[tuple[float, float]], names_only: bool, most: float
) -> None:
    candidates = [Candidate(id=str(at), words=words, cosine=cosine) for at, (words, cosine) in enumerate(rows)]
    scores = fuse(candidates, RankingPolicy(), encoder=ANY, names_only=names_only)
    ratings = rate(candidates, scores, most, EVIDENCE)
    assert ratings.keys() == scores.keys()
    assert all(0 < rating < 1 for rating in ratings.values())
    by_score = sorted(scores, key=lambda each: -scores[each])
    assert [ratings[each] for each in by_score] == sorted(ratings.values(), reverse=True)


@pytest.mark.parametrize(
    "better", [Candidate(id="a", words=6.0, cosine=0.4), Candidate(id="a", words=4.0, cosine=0.6)]
)
def test_the_same_place_rates_higher_where_more_speaks_for_it(better: Candidate) -> None:
    """A z-score cannot tell the best of a good answer from the best of a bad one."""
    worse = Candidate(id="a", words=4.0, cosine=0.4)
    assert rate([better], {"a": 1.0}, 10.0, EVIDENCE)["a"] > rate([worse], {"a": 1.0}, 10.0, EVIDENCE)["a"]


@pytest.mark.parametrize(
    ("words", "most", "share"), [(0.0, 10.0, 0.0), (5.0, 10.0, 0.5), (11.0, 10.0, 1.0), (1.0, 0.0, 0.0)]
)
def test_the_share_of_words(words: float, most: float, share: float) -> None:
    assert share_of_words(Candidate(id="a", words=words), most) == share


def test_nothing_found_has_no_ratings() -> None:
    assert rate([Candidate(id="a")], {}, 10.0, EVIDENCE) == {}
