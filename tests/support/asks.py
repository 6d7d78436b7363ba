"""An ``Ask`` that knows its replies beforehand: it obeys the port, and writes down what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memu.providers.protocols import ChatMessage

__all__ = ["Answer", "ScriptedAsk"]

Answer = str | Exception
"""A reply, or an error to raise."""


class ScriptedAsk:
    """Gives ``replies`` in turn; ``repeat`` or ``cycle`` make them endless.

    asked: the messages of every call; forms: template and schema of each. rejected: the prompts whose replies were
    of no use. No reply is of an earlier run.
    """

    def __init__(self, replies: Iterable[Answer]) -> None:
        self._replies = iter(replies)
        self.asked: list[Sequence[ChatMessage]] = []
        self.forms: list[tuple[str, Mapping[str, Any] | None]] = []
        self.rejected: list[str] = []

    @property
    def prompts(self) -> list[str]:
        """The last message of each call."""
        return [messages[-1].content for messages in self.asked]

    async def __call__(
        self,
        messages: Sequence[ChatMessage],
        *,
        template: str,
        schema: Mapping[str, Any] | None = None,
        known_by: Sequence[ChatMessage] | None = None,
    ) -> str:
        self.asked.append(messages)
        self.forms.append((template, schema))
        reply = next(self._replies)
        await asyncio.sleep(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def reject(self, messages: Sequence[ChatMessage], *, template: str) -> None:
        self.rejected.append(messages[-1].content)

    async def forget_recalled(self, asked: Sequence[Sequence[ChatMessage]], *, template: str) -> bool:
        return False
