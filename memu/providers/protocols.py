"""What memu asks of models: an encoder that makes vectors, and a chat model that writes text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from memu.records import EncoderIdentity, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ChatMessage", "ChatModel", "ChatReply", "Encoder"]


class Encoder(Protocol):
    """Text to vectors. ``identity`` says which vectors can be compared; asking for it makes no call."""

    @property
    def identity(self) -> EncoderIdentity:
        """Name, dimension, fingerprint and languages."""

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row for each text, in order: shape (len(texts), dimension). Longer texts are cut.

        Raises:
            ProviderError: the encoder does not answer.
        """

    async def encode_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, shape (dimension,); some models encode questions in their own way.

        Raises:
            ProviderError: the encoder does not answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a model wrote. ``complete`` is False when it was cut off by length: such a reply is a failure."""

    text: str
    usage: Usage
    complete: bool = True


class ChatModel(Protocol):
    """Text to text. ``name`` stands in reports."""

    @property
    def name(self) -> str:
        """The model's name."""

    async def reply(self, messages: Sequence[ChatMessage]) -> ChatReply:
        """The model's answer.

        Raises:
            ProviderError: the model does not answer.
        """
