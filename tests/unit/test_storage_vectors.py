"""Vectors as bytes: close enough, and only those that can be compared (F19)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memu.storage.vectors import quantise, restore

ROWS = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.just(8)),
    elements=st.floats(-100, 100, width=32, allow_nan=False, allow_subnormal=False),
)


@given(ROWS)
def test_what_comes_back_is_within_half_a_step(vectors):
    ids = [str(at) for at in range(len(vectors))]
    quantised = quantise(ids, vectors, 8)
    good = [at for at in range(len(vectors)) if np.abs(vectors[at]).max() > 0]
    assert [row.passage_id for row in quantised.rows] == [str(at) for at in good]
    assert quantised.refused == len(vectors) - len(good)
    for row in quantised.rows:
        step = row.scale
        assert len(row.vector) == 8
        assert np.abs(restore(row.vector, row.scale) - vectors[int(row.passage_id)]).max() <= step * 0.51
        assert np.abs(np.frombuffer(row.vector, np.int8)).max() == 127


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_f19_a_broken_row_is_refused_and_the_others_kept(bad):
    vectors = np.ones((3, 4), dtype=np.float32)
    vectors[1, 2] = bad
    quantised = quantise(["a", "b", "c"], vectors, 4)
    assert [row.passage_id for row in quantised.rows] == ["a", "c"]
    assert quantised.refused == 1


@pytest.mark.parametrize("shape", [(2, 3), (2, 5), (1, 4), (8,), (0, 4)])
def test_f19_an_array_of_another_shape_is_refused_whole(shape):
    quantised = quantise(["a", "b"], np.ones(shape, dtype=np.float32), 4)
    assert quantised.rows == ()
    assert quantised.refused == 2


def test_nothing_in_nothing_out():
    assert quantise([], np.ones((0, 4), dtype=np.float32), 4).rows == ()
