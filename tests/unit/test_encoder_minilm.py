"""The default model's lean graph gives its file's vectors (P9: stored ones stay comparable) in less memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memu.providers.choice import choose_encoder
from memu.providers.embedded import EmbeddedEncoder, is_installed, minilm
from memu.providers.minilm import MiniLM
from memu.providers.onnx_network import Network, OnnxNetwork, open_network

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not is_installed(), reason="the extra 'local' is not installed"),
]

# Float32 added up in another order; a vector is stored as int8, in steps of about a hundredth.
TOLERANCE = 5e-6


@pytest.fixture(scope="module")
def lean() -> Network:
    return open_network(minilm().model.read_bytes(), is_minilm=True)


@pytest.fixture(scope="module")
def as_it_is() -> Network:
    return open_network(minilm().model.read_bytes(), is_minilm=False)


def unit_mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    pooled = vectors.mean(axis=0)
    unit: NDArray[np.float32] = pooled / np.linalg.norm(pooled)
    return unit


def test_each_is_the_network_that_it_is_said_to_be(lean: Network, as_it_is: Network) -> None:
    assert isinstance(lean, MiniLM)
    assert isinstance(as_it_is, OnnxNetwork)


@pytest.mark.parametrize("length", [1, 2, 7, 64, 255, 256, 512])
def test_vectors_are_those_of_the_file_as_it_is(lean: Network, as_it_is: Network, length: int) -> None:
    ids = np.random.default_rng(length).integers(0, 30_522, length).tolist()
    mine, theirs = lean.run(ids), as_it_is.run(ids)
    assert mine.shape == theirs.shape == (length, 384)
    assert mine.dtype == np.float32
    np.testing.assert_allclose(unit_mean(mine), unit_mean(theirs), rtol=0, atol=TOLERANCE)


@settings(max_examples=15, deadline=None)
@given(ids=st.lists(st.integers(0, 30_521), min_size=1, max_size=40))
def test_vectors_of_any_tokens_are_those_of_the_file(lean: Network, as_it_is: Network, ids: list[int]) -> None:
    np.testing.assert_allclose(unit_mean(lean.run(ids)), unit_mean(as_it_is.run(ids)), rtol=0, atol=TOLERANCE)


async def test_the_same_weights_in_another_file_run_by_its_own_graph(tmp_path: Path) -> None:
    """A file that nobody knows is run as it is, and is another encoder."""
    # A comment at the end of it: field 6 of a model, one letter.
    (tmp_path / "mine.onnx").write_bytes(minilm().model.read_bytes() + b"\x32\x01x")
    (tmp_path / "tokenizer.json").symlink_to(minilm().tokenizer)
    chosen = choose_encoder(str(tmp_path / "mine.onnx"))
    assert chosen is not None
    default = EmbeddedEncoder()
    assert chosen.identity.fingerprint != default.identity.fingerprint
    texts = ["Deploys go out on Tuesdays.", "", "猫 über naïve", "word " * 300]
    np.testing.assert_allclose(await chosen.encode(texts), await default.encode(texts), rtol=0, atol=TOLERANCE)


def test_the_fingerprint_is_the_one_that_stores_hold() -> None:
    """P9: another one would have every text of every store encoded again."""
    assert EmbeddedEncoder().identity.fingerprint == "888a24a03014f784681a24d95ef1733b"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="read as Linux tells it")
def test_a_process_that_encodes_a_question_stays_small() -> None:
    """Interpreter, numpy, onnxruntime and the model: by the file's own graph it takes 290 MB and more."""
    code = (
        "import asyncio, pathlib\n"
        "from memu.providers.embedded import EmbeddedEncoder\n"
        "asyncio.run(EmbeddedEncoder(threads=1).encode_query('who has the key?'))\n"
        "print(pathlib.Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 240 * 1024
