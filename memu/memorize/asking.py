"""How a step asks a chat model: whoever is asked remembers replies, counts what they cost and keeps to the caps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from memu.providers.protocols import ChatMessage

__all__ = ["Ask"]


class Ask(Protocol):
    """Asks one model on behalf of one source or page."""

    async def __call__(
        self, messages: Sequence[ChatMessage], *, template: str, schema: Mapping[str, Any] | None = None
    ) -> str:
        """The text of the model's reply; one that arrived in an earlier, killed run is not asked for again.

        Args:
            template: name and version of the prompt ("extract/1"): a reply to another version does not count.

        Raises:
            ReplyError: the reply is cut off, empty or a refusal.
            ProviderError: the model does not answer. CapReached: no more calls may be made in this run.
        """
