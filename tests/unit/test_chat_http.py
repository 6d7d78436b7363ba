"""A chat model over real HTTP: what is sent, what comes back, what is no reply. FIELD F36, F38."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from pydantic import SecretStr
from support.server import Asked, Handler, ScriptedServer, answer, completion, letter, scripted_server

from memu import ProviderError, ReplyError, Usage
from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.protocols import ChatMessage
from memu.providers.refusals import ContextExceeded
from memu.providers.transport import Transport

pytestmark = pytest.mark.unit

MESSAGES = (
    ChatMessage(role="system", content="Be short."),
    ChatMessage(role="user", content="a < b &amp; 用户"),
    ChatMessage(role="assistant", content="Yes."),
    ChatMessage(role="user", content="Why?"),
)
SCHEMA = {"type": "object"}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(answer(200, completion())) as scripted:
        yield scripted


Connect = Callable[..., HttpChatModel]


@pytest.fixture
async def connect(server: ScriptedServer) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        def make(dialect: str | None = None, **options: Any) -> HttpChatModel:
            endpoint = Endpoint(
                model="m", base_url=server.base_url, api_key=SecretStr("sk-0123456789"), dialect=dialect
            )
            model = HttpChatModel(Transport(endpoint), **options)
            stack.push_async_callback(model.close)
            return model

        yield make


async def test_f38_what_is_not_set_is_not_sent(server: ScriptedServer, connect: Connect) -> None:
    reply = await connect().reply(MESSAGES)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    told = [{"role": each.role, "content": each.content} for each in MESSAGES]
    assert asked.body == {"model": "m", "messages": told}
    assert (reply.text, reply.finish) == ("Because.", "stop")
    assert reply.usage == Usage(calls=1, prompt_tokens=11, completion_tokens=3)


@pytest.mark.parametrize(
    ("dialect", "name"),
    [(None, "max_tokens"), ("ollama", "max_tokens"), ("openai", "max_completion_tokens")],
)
async def test_f38_what_is_set_is_sent_by_the_servers_own_name(
    server: ScriptedServer, connect: Connect, dialect: str | None, name: str
) -> None:
    await connect(dialect, temperature=0.0, max_tokens=64).reply(MESSAGES)
    body = server.asked[0].body
    assert (body["temperature"], body[name]) == (0.0, 64)
    assert len(body) == 4


async def test_anthropic_messages(server: ScriptedServer, connect: Connect) -> None:
    server.usual = answer(200, letter())
    model = connect("anthropic")
    reply = await model.reply(MESSAGES, schema=SCHEMA)
    (asked,) = server.asked
    assert asked.path == "/v1/messages"
    assert asked.headers["anthropic-version"]
    assert asked.body["system"] == "Be short."
    assert [each["role"] for each in asked.body["messages"]] == ["user", "assistant", "user"]
    assert asked.body["max_tokens"] > 0
    assert "response_format" not in asked.body
    assert (reply.text, reply.usage) == ("Because.", Usage(calls=1, prompt_tokens=7, completion_tokens=2))
    assert model.name == "m@localhost"


async def test_the_parts_of_a_reply_are_joined(server: ScriptedServer, connect: Connect) -> None:
    server.usual = answer(200, completion([{"type": "text", "text": "Be"}, {"type": "text", "text": "cause."}]))
    assert (await connect().reply(MESSAGES)).text == "Because."


@pytest.mark.parametrize(
    ("dialect", "body", "told"),
    [
        (None, completion(finish="length"), "cut off"),
        (None, completion(finish="MAX_TOKENS"), "cut off"),
        (None, completion(finish="content_filter"), "refused"),
        (None, completion(None, refusal="I will not."), "refused"),
        (None, completion(""), "empty"),
        (None, completion(" \n "), "empty"),
        (None, completion(None), "empty"),
        (None, {"choices": []}, "empty"),
        (None, {}, "empty"),
        (None, {"choices": [None]}, "empty"),
        (None, {"choices": [{"message": "x"}]}, "empty"),
        ("anthropic", letter(stop="max_tokens"), "cut off"),
        ("anthropic", letter(stop="refusal"), "refused"),
        ("anthropic", letter(""), "empty"),
    ],
)
async def test_f36_a_reply_that_cannot_be_used_says_so_and_what_it_cost(
    server: ScriptedServer, connect: Connect, dialect: str | None, body: dict[str, Any], told: str
) -> None:
    server.usual = answer(200, body)
    with pytest.raises(ReplyError, match=told) as raised:
        await connect(dialect).reply(MESSAGES)
    assert raised.value.usage is not None
    assert raised.value.usage.calls == 1
    assert bool(raised.value.usage.prompt_tokens) == ("usage" in body)
    assert len(server.asked) == 1


async def test_a_schema_is_tried_once_where_the_server_refuses_it(
    server: ScriptedServer, connect: Connect
) -> None:
    def no_schema(handler: Handler, asked: Asked, ended: Any) -> None:
        known = "response_format" not in asked.body
        (answer(200, completion()) if known else answer(400, {"error": "unknown field"}))(handler, asked, ended)

    server.usual = no_schema
    model = connect()
    for _ in range(3):
        assert (await model.reply(MESSAGES, schema=SCHEMA)).text == "Because."
    assert ["response_format" in each.body for each in server.asked] == [True, False, False, False]


class Notes:
    """Remembers as a store does."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, Any]] = {}

    async def recall(self, endpoint: str) -> Mapping[str, Any]:
        return self.known.get(endpoint, {})

    async def note(self, endpoint: str, facts: Mapping[str, Any]) -> None:
        self.known.setdefault(endpoint, {}).update(facts)


async def test_what_was_found_out_once_is_remembered_by_the_next_run(
    server: ScriptedServer, connect: Connect
) -> None:
    notes = Notes()
    server.then(answer(422, {"error": "response_format is not known"}))
    for _ in range(2):
        await connect(notes=notes).reply(MESSAGES, schema=SCHEMA)
    assert ["response_format" in each.body for each in server.asked] == [True, False, False]
    assert notes.known == {f"m@localhost:{server.port}/v1": {"json_schema": False}}


async def test_a_prompt_that_is_too_long_says_nothing_of_the_schema(
    server: ScriptedServer, connect: Connect
) -> None:
    """One try: without the schema it would be as long."""
    notes = Notes()
    server.then(answer(400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}))
    model = connect(notes=notes)
    with pytest.raises(ContextExceeded):
        await model.reply(MESSAGES, schema=SCHEMA)
    assert (len(server.asked), notes.known) == (1, {})
    await model.reply(MESSAGES, schema=SCHEMA)
    assert "response_format" in server.asked[-1].body


async def test_a_reply_costs_what_its_models_price_says(server: ScriptedServer, connect: Connect) -> None:
    assert (await connect().reply(MESSAGES)).usage.cost == 0
    model = connect(price=(2.0, 10.0), max_tokens=100)
    assert (await model.reply(MESSAGES)).usage.cost == pytest.approx((11 * 2 + 3 * 10) / 1e6)
    assert model.foresee_cost(MESSAGES) > 100 * 10 / 1e6
    server.usual = answer(200, completion("", finish="length"))
    with pytest.raises(ReplyError) as raised:
        await model.reply(MESSAGES)
    assert raised.value.usage is not None
    assert raised.value.usage.cost == pytest.approx(52 / 1e6)


async def test_a_schema_is_sent_where_the_server_takes_it(server: ScriptedServer, connect: Connect) -> None:
    model = connect()
    for _ in range(2):
        await model.reply(MESSAGES, schema=SCHEMA)
    sent = [each.body["response_format"] for each in server.asked]
    assert sent == [{"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}] * 2
    await connect("deepseek").reply(MESSAGES, schema=SCHEMA)
    assert "response_format" not in server.asked[-1].body


async def test_a_request_refused_for_another_reason_stays_refused(
    server: ScriptedServer, connect: Connect
) -> None:
    server.usual = answer(400, {"error": {"message": "context length exceeded"}})
    model = connect()
    with pytest.raises(ProviderError, match="context length"):
        await model.reply(MESSAGES, schema=SCHEMA)
    server.usual = answer(200, completion())
    await model.reply(MESSAGES, schema=SCHEMA)
    assert "response_format" in server.asked[-1].body
