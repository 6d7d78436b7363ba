"""What memu asks of models: an encoder that makes vectors, and a chat model that writes text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memu.records import EncoderIdentity, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Attachment",
    "ChatMessage",
    "ChatModel",
    "ChatReply",
    "Encoded",
    "Encoder",
    "EndpointNotes",
    "Heard",
    "Said",
    "Transcriber",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What one call gave: ``rows`` of shape (n, dimension) for the first n texts, and what it cost.

    A row is a unit vector, or all NaN where the encoder has no vector for that one text.
    """

    rows: NDArray[np.float32]
    usage: Usage


class Encoder(Protocol):
    """Text to vectors. ``identity`` says which vectors can be compared; asking for it makes no call."""

    @property
    def identity(self) -> EncoderIdentity:
        """Name, dimension, fingerprint and languages. The dimension is 0 until the first reply where only that
        tells it."""

    @property
    def calls_at_once(self) -> int:
        """How many calls it may be asked to answer at the same time: 1 where it uses all of the machine itself."""

    async def encode_some(self, texts: Sequence[str]) -> Encoded:
        """The rows of as many of the first texts as one call takes, at least one; so that each call's rows can be
        stored before the next is made.

        Raises:
            ProviderError: the encoder does not answer.
        """

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

    async def close(self) -> None:
        """Let go of connections. It may be used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that goes to a model as it is. ``media_type`` as servers name it ("image/png")."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a model; ``images`` go along with it."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A piece of what is said in a recording; ``start`` and ``end`` in seconds, None where that is not told."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a recording says, in order, and what it cost to hear it."""

    said: tuple[Said, ...]
    usage: Usage


class Transcriber(Protocol):
    """Speech to text. ``name`` stands in reports."""

    @property
    def name(self) -> str:
        """The model's name."""

    async def transcribe(self, recording: Attachment) -> Heard:
        """What is said in a recording.

        Raises:
            ReplyError: nothing is; it carries what it cost.
            RequestRefused: the server refuses this recording.
            ProviderError: the model does not answer.
        """

    async def close(self) -> None:
        """Let go of connections. It may be used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a model wrote, whole, and what it cost. ``finish`` is the server's own word for why it ended."""

    text: str
    usage: Usage
    finish: str = ""


class ChatModel(Protocol):
    """Text to text. ``name`` stands in reports."""

    @property
    def name(self) -> str:
        """The model's name."""

    async def reply(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any] | None = None
    ) -> ChatReply:
        """The model's answer; held to a JSON ``schema`` only where the server can do that.

        Raises:
            ReplyError: the answer is cut off by length, empty or a refusal; it carries what it cost.
            RequestRefused: the server refuses these messages; ContextExceeded: they are longer than it reads.
            ProviderError: the model does not answer.
        """

    def foresee_cost(self, messages: Sequence[ChatMessage]) -> float:
        """USD that a reply may come to; 0 where that is not known."""

    async def close(self) -> None:
        """Let go of connections. It may be used again."""


class EndpointNotes(Protocol):
    """Remembers what was found out about a model behind an address, so that no run finds it out again."""

    async def recall(self, endpoint: str) -> Mapping[str, Any]:
        """What is known of it, as JSON values by name; empty where nothing is."""

    async def note(self, endpoint: str, facts: Mapping[str, Any]) -> None:
        """Add to what is known of it."""
