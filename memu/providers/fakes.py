"""Encoders and chat models for tests and trials: they obey the ports, need no model, and write down what they were
asked."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memu.errors import ProviderError, ReplyError
from memu.providers.prices import Price, estimate_tokens, foresee_cost, price_usage
from memu.providers.protocols import Attachment, ChatMessage, ChatReply, Encoded, Heard, Said
from memu.records import EncoderIdentity, Usage
from memu.tokens import index_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FailingChatModel",
    "FailingEncoder",
    "HashingEncoder",
    "RandomEncoder",
    "Scripted",
    "ScriptedChatModel",
    "ScriptedTranscriber",
]

Scripted = str | ProviderError | Callable[[Sequence[ChatMessage]], str | ProviderError]
"""What a scripted chat model does with one call."""


class HashingEncoder:
    """Counts of terms, each in the component that its hash names: texts that share words are near.

    ``asked`` holds the texts of every call. After ``fail_after`` texts it raises ProviderError.
    """

    def __init__(
        self,
        dimension: int = 64,
        *,
        name: str = "hashing",
        languages: frozenset[str] = frozenset(),
        fail_after: int | None = None,
    ) -> None:
        self.identity = EncoderIdentity(
            name=name, dimension=dimension, fingerprint=f"{name}-{dimension}", languages=languages
        )
        self.asked: list[tuple[str, ...]] = []
        self._fail_after = fail_after

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row a text, in order; a text without terms gives a fixed row."""
        import numpy as np

        self.asked.append(tuple(texts))
        if self._fail_after is not None and sum(map(len, self.asked)) > self._fail_after:
            raise ProviderError(f"The encoder {self.identity.name} does not answer.")
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.identity.dimension)

    @property
    def calls_at_once(self) -> int:
        """One: it works in the calling thread."""
        return 1

    async def encode_some(self, texts: Sequence[str]) -> Encoded:
        """The rows of all texts."""
        return Encoded(rows=await self.encode(texts), usage=Usage(calls=1, texts=len(texts)))

    async def encode_query(self, text: str) -> NDArray[np.float32]:
        """The row of one text."""
        row: NDArray[np.float32] = (await self.encode([text]))[0]
        return row

    async def close(self) -> None:
        """Nothing is held open."""

    def _vector(self, text: str) -> NDArray[np.float64]:
        import numpy as np

        row = np.zeros(self.identity.dimension)
        for term, count in index_terms(text).items():
            digest = hashlib.sha256(term.encode("utf-8", errors="replace")).digest()
            row[int.from_bytes(digest[:4], "big") % len(row)] += count if digest[4] % 2 else -count
        if not row.any():
            row[0] = 1.0
        unit: NDArray[np.float64] = row / np.linalg.norm(row)
        return unit


class RandomEncoder(HashingEncoder):
    """A vector that says nothing of the text, and is the same for the same text and ``seed``."""

    def __init__(
        self, dimension: int = 64, *, seed: int = 0, name: str = "random", languages: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(dimension, name=f"{name}-{seed}", languages=languages)
        self._seed = seed

    def _vector(self, text: str) -> NDArray[np.float64]:
        import numpy as np

        digest = hashlib.sha256(f"{self._seed}\n{text}".encode("utf-8", errors="replace")).digest()
        row = np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(self.identity.dimension)
        unit: NDArray[np.float64] = row / np.linalg.norm(row)
        return unit


class FailingEncoder(HashingEncoder):
    """An encoder that is down: every call raises ProviderError."""

    def __init__(self, dimension: int = 64, *, name: str = "failing") -> None:
        super().__init__(dimension, name=name, fail_after=-1)


class ScriptedChatModel:
    """A chat model that answers each call with the next of ``replies``, then with ``usual`` for ever.

    A reply is a text, an error to raise, or a function of the messages that gives either. As the port says, an
    empty text is a ReplyError. ``asked`` holds the messages of every call.

    Args:
        latency: seconds that each call takes. price: of the model, for the cost of its replies.
    """

    def __init__(
        self,
        *replies: Scripted,
        usual: Scripted = "[]",
        name: str = "scripted",
        latency: float = 0.0,
        price: Price | None = None,
    ) -> None:
        self.name = name
        self.asked: list[tuple[ChatMessage, ...]] = []
        self._replies = deque(replies)
        self._usual = usual
        self._latency = latency
        self._price = price

    async def reply(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any] | None = None
    ) -> ChatReply:
        """The next reply; a token is four bytes.

        Raises:
            ReplyError: the next reply is empty.
            ProviderError: whatever the script says.
        """
        self.asked.append(tuple(messages))
        reply = self._replies.popleft() if self._replies else self._usual
        told = reply if isinstance(reply, str | ProviderError) else reply(messages)
        await asyncio.sleep(self._latency)
        if isinstance(told, ProviderError):
            raise told
        prompt = sum(estimate_tokens(each.content) for each in messages)
        completion = estimate_tokens(told) if told else 0
        usage = price_usage(Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion), self._price)
        if not told.strip():
            raise ReplyError(f"The reply of {self.name} is empty.", usage)
        return ChatReply(text=told, usage=usage, finish="stop")

    def foresee_cost(self, messages: Sequence[ChatMessage]) -> float:
        """USD that a reply may come to; 0 without a price."""
        return foresee_cost(messages, self._price, None)

    async def close(self) -> None:
        """Nothing is held open."""


class ScriptedTranscriber:
    """Hears in each recording what ``said`` tells; an error is raised. ``asked`` holds the recordings."""

    def __init__(self, said: Sequence[Said] | ProviderError, *, name: str = "scripted-ear") -> None:
        self.name = name
        self.asked: list[Attachment] = []
        self._said = said

    async def transcribe(self, recording: Attachment) -> Heard:
        """What the script says.

        Raises:
            ReplyError: it is empty. ProviderError: whatever the script says.
        """
        self.asked.append(recording)
        await asyncio.sleep(0)
        if isinstance(self._said, ProviderError):
            raise self._said
        usage = Usage(calls=1, prompt_tokens=len(recording.data) // 1000)
        if not self._said:
            raise ReplyError(f"{self.name} heard nothing that is said.", usage)
        return Heard(said=tuple(self._said), usage=usage)

    async def close(self) -> None:
        """Nothing is held open."""


class FailingChatModel(ScriptedChatModel):
    """A chat model that is down: every call raises ProviderError."""

    def __init__(self, name: str = "failing") -> None:
        super().__init__(usual=ProviderError(f"{name} does not answer."), name=name)
