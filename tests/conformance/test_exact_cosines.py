"""P9: a cosine is the same number on every database, in whatever order it is added up, and equal rows tie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memu.records import EncoderIdentity, Kind
from memu.storage.question import COSINE_DIGITS, in_whole_numbers
from memu.storage.search import EVERYTHING, SearchFilter
from memu.storage.vectors import quantise

pytestmark = pytest.mark.conformance

COUNT = 260


@given(
    st.integers(1, 3000).flatmap(
        lambda size: arrays(
            np.float32, size, elements=st.floats(-(2.0**99), 2.0**99, width=32, allow_subnormal=False)
        )
    )
)
def test_no_sum_of_products_leaves_what_float32_holds(vector):
    if not np.any(vector):
        return
    asked = in_whole_numbers(vector)
    assert asked.dtype == np.float32
    assert np.array_equal(asked, np.rint(asked))
    assert 127 * int(np.abs(asked).astype(np.int64).sum()) < 2**24
    parts = vector.astype(np.float64)
    cosine = parts @ asked / np.linalg.norm(parts) / np.linalg.norm(asked.astype(np.float64))
    assert cosine > 1 - 2e-4 if np.isfinite(cosine) else True


def reckon(row: bytes, asked: np.ndarray) -> float:
    """The cosine by whole numbers; the length of a row is kept as float32."""
    parts = [int(part) for part in np.frombuffer(row, np.int8)]
    whole = [int(part) for part in asked]
    product = sum(one * other for one, other in zip(parts, whole, strict=True))
    length = float(np.float32(math.sqrt(sum(part * part for part in parts))))
    return product / (length * math.sqrt(sum(part * part for part in whole)))


@pytest.mark.parametrize("dimension", [48, 384, 768])
def test_scores_are_those_of_whole_numbers_to_the_last_digit(store, make, dimension):
    chance = np.random.default_rng(dimension)
    vectors = chance.normal(size=(COUNT, dimension)).astype(np.float32)
    # Equal ones lie far apart, at the start and the end of whatever is added up at once.
    vectors[[3, 64, 127, 200, COUNT - 1]] = vectors[0]
    identity = EncoderIdentity(name="e", dimension=dimension, fingerprint="f")
    encoder_id = store.db.write_now(lambda session: session.encoders.add(identity)).id
    workspace = store.add_workspace()

    def add(repository):
        rows = {}
        for path, kind in (("a.md", Kind.DOCUMENT), ("b.py", Kind.CODE)):
            source = repository.resources.save(make.resource(workspace, path, kind=kind))
            passages = [make.passage(f"Fact {at} of {path}.", ordinal=at, kind=kind) for at in range(COUNT // 2)]
            ids = repository.passages.replace_for_resource(source.id, passages)
            some = vectors[: COUNT // 2] if kind is Kind.DOCUMENT else vectors[COUNT // 2 :]
            quantised = quantise(ids, some, dimension).rows
            repository.passages.add_vectors(encoder_id, quantised)
            rows.update({each.passage_id: each.vector for each in quantised})
        return rows

    rows = store.write(add)
    for query in (vectors[0], *chance.normal(size=(3, dimension)).astype(np.float32)):
        wanted = {each: reckon(row, in_whole_numbers(query)) for each, row in rows.items()}
        for asked in (EVERYTHING, SearchFilter(kinds=frozenset({Kind.CODE}))):
            found = store.read(
                lambda repository, q=query, a=asked: repository.search.nearest(q, encoder_id, a, COUNT)
            )
            assert len(found) == (COUNT if asked is EVERYTHING else COUNT // 2)
            assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
            for each in found:
                assert each.score == round(wanted[each.id], COSINE_DIGITS), each
