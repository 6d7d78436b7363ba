"""The shipped fakes obey the port, so what is tested with them holds for a real encoder."""

from __future__ import annotations

import numpy as np
import pytest

from memu.errors import ProviderError
from memu.providers.fakes import FailingEncoder, HashingEncoder, RandomEncoder
from memu.providers.protocols import Encoder

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("encoder", [HashingEncoder(32), RandomEncoder(32, seed=3)], ids=["hashing", "random"])
async def test_a_fake_gives_unit_rows_in_order(encoder: Encoder) -> None:
    texts = ["deploys on Tuesday", "", "*", "deploys on Tuesday"]
    rows = await encoder.encode(texts)
    assert rows.shape == (4, 32)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert (rows[0] == rows[3]).all()
    assert (await encoder.encode_query(texts[0]) == rows[0]).all()
    assert (await encoder.encode([])).shape == (0, 32)


async def test_the_hashing_encoder_puts_texts_that_share_words_near() -> None:
    one, near, far = await HashingEncoder(256).encode(["deploy on Tuesday", "we deploy on Tuesdays", "cats purr"])
    assert one @ near > one @ far


async def test_seeds_and_names_are_other_spaces() -> None:
    one, other = RandomEncoder(seed=1), RandomEncoder(seed=2)
    assert (await one.encode_query("a") != await other.encode_query("a")).any()
    assert len({one.identity, other.identity, HashingEncoder().identity, HashingEncoder(32).identity}) == 4


async def test_a_failing_encoder_fails_as_a_provider_does() -> None:
    with pytest.raises(ProviderError):
        await FailingEncoder().encode(["a"])
    with pytest.raises(ProviderError):
        await FailingEncoder().encode_query("a")


async def test_a_hashing_encoder_may_fail_midway_and_tells_what_it_was_asked() -> None:
    encoder = HashingEncoder(fail_after=2)
    await encoder.encode(["a", "b"])
    with pytest.raises(ProviderError):
        await encoder.encode(["c"])
    assert encoder.asked == [("a", "b"), ("c",)]
