"""A chat model behind an HTTP endpoint: chat completions of the OpenAI form, and Anthropic messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memu.errors import ReplyError
from memu.providers.endpoint import address_of
from memu.providers.form import content_of
from memu.providers.prices import Price, foresee_cost, price_usage
from memu.providers.protocols import ChatMessage, ChatReply, EndpointNotes
from memu.providers.refusals import ContextExceeded, RequestRefused
from memu.providers.transport import Transport
from memu.records import Usage

__all__ = ["HttpChatModel"]

_SCHEMA_FACT = "json_schema"
_CUT_OFF = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_REFUSED = frozenset({"content_filter", "refusal"})


class HttpChatModel:
    """A chat model behind ``transport``, in the manners of its dialect.

    Args:
        temperature, max_tokens: sent only when set (but for a server that demands ``max_tokens``).
        price: of the model, for the cost of its replies. notes: what earlier runs found out about the server.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        price: Price | None = None,
        notes: EndpointNotes | None = None,
    ) -> None:
        self._transport = transport
        self._temperature = temperature
        self._max_tokens = max_tokens or transport.dialect.default_max_tokens
        self._price = price
        self._notes = notes
        self._address = f"{transport.endpoint.model}@{address_of(transport.endpoint.base_url)}"
        # None: not known yet.
        self._takes_schema: bool | None = None if transport.dialect.json_schema else False

    @property
    def name(self) -> str:
        """The model's name and its host."""
        return f"{self._transport.endpoint.model}@{self._transport.host}"

    async def reply(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any] | None = None
    ) -> ChatReply:
        """The model's answer. A server that refuses the request for its ``schema`` is asked without one from then
        on.

        Raises:
            ReplyError: the answer is cut off by length, empty or a refusal; it carries what it cost.
            ProviderError: the model does not answer.
        """
        path, body = self._transport.dialect.chat_path, self._body(messages)
        if schema is None or not await self._may_take_schema():
            return self._read(await self._transport.post(path, body))
        held = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        try:
            answer = await self._transport.post(path, {**body, "response_format": held})
        except ContextExceeded:
            raise
        except RequestRefused:
            answer = await self._transport.post(path, body)
            # Without it the same request is taken: it was the schema.
            await self._note_no_schema()
        else:
            self._takes_schema = True
        return self._read(answer)

    def foresee_cost(self, messages: Sequence[ChatMessage]) -> float:
        """USD that a reply may come to; 0 without a price."""
        return foresee_cost(messages, self._price, self._max_tokens)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._transport.close()

    async def _may_take_schema(self) -> bool:
        """Whether the server took a schema, or was never seen to refuse one."""
        if self._takes_schema is None and self._notes is not None:
            facts = await self._notes.recall(self._address)
            self._takes_schema = False if facts.get(_SCHEMA_FACT) is False else self._takes_schema
        return self._takes_schema is not False

    async def _note_no_schema(self) -> None:
        known, self._takes_schema = self._takes_schema, False
        if self._notes is not None and known is not False:
            await self._notes.note(self._address, {_SCHEMA_FACT: False})

    def _body(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        dialect = self._transport.dialect
        body: dict[str, Any] = {"model": self._transport.endpoint.model}
        told = [{"role": each.role, "content": content_of(each, dialect.form)} for each in messages]
        if dialect.form == "anthropic":
            system = [each.content for each in messages if each.role == "system"]
            told = [each for each in told if each["role"] != "system"]
            if system:
                body["system"] = "\n\n".join(system)
        body["messages"] = told
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self._max_tokens is not None:
            body[dialect.max_tokens] = self._max_tokens
        return body

    def _read(self, answer: Mapping[str, Any]) -> ChatReply:
        anthropic = self._transport.dialect.form == "anthropic"
        text, finish = _anthropic_text(answer) if anthropic else _openai_text(answer)
        usage = price_usage(_usage_of(answer.get("usage")), self._price)
        finish = finish.lower()
        if finish in _CUT_OFF:
            raise ReplyError(f"The reply of {self.name} is cut off by its length ({finish}).", usage)
        if finish in _REFUSED:
            raise ReplyError(f"{self.name} refused to answer ({finish}).", usage)
        if not text.strip():
            raise ReplyError(f"The reply of {self.name} is empty.", usage)
        return ChatReply(text=text, usage=usage, finish=finish)


def _openai_text(answer: Mapping[str, Any]) -> tuple[str, str]:
    """Text and finish reason of the first choice; what is not there is empty."""
    choice = _mapping(_first(answer.get("choices")))
    message = _mapping(choice.get("message"))
    finish = str(choice.get("finish_reason") or "")
    return _text_of(message.get("content")), "refusal" if message.get("refusal") else finish


def _anthropic_text(answer: Mapping[str, Any]) -> tuple[str, str]:
    return _text_of(answer.get("content")), str(answer.get("stop_reason") or "")


def _text_of(content: object) -> str:
    """A content's text: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = [_mapping(part).get("text") for part in content] if isinstance(content, list) else []
    return "".join(part for part in parts if isinstance(part, str))


def _usage_of(told: object) -> Usage:
    counts = _mapping(told)
    return Usage(
        calls=1,
        prompt_tokens=_number(counts.get("prompt_tokens", counts.get("input_tokens"))),
        completion_tokens=_number(counts.get("completion_tokens", counts.get("output_tokens"))),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
