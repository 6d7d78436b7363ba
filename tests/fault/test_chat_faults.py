"""Chat models over real HTTP, from good servers and bad. FIELD F28, F31, F32, F34, F36, F38, F40; P11."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr
from support.server import (
    Act,
    Asked,
    Handler,
    ScriptedServer,
    answer,
    chat,
    completion,
    cut_short,
    garbage,
    hang,
    reset,
    scripted_server,
    trickle,
)

from memu import ProviderError, ReplyError, Settings
from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.models import ChatModels, choose_models
from memu.providers.patience import Patience
from memu.providers.protocols import ChatMessage
from memu.providers.refusals import ContextExceeded, RequestRefused
from memu.providers.replies import parse_items
from memu.providers.transport import Transport

pytestmark = pytest.mark.fault

KEY = "sk-very-secret-0123456789"
HASTY = Patience(attempts=3, total=3.0, connect=1.0, read=0.3, first_wait=0.01)
MESSAGES = (ChatMessage(role="user", content='Keep `{{.Names}}`, {"a": [1]}, a < b &amp; 用户.'),)
SCHEMA = {"type": "array"}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Item(BaseModel):
    text: str
    page: str = ""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(chat("Because.")) as scripted:
        yield scripted


Connect = Callable[..., HttpChatModel]


@pytest.fixture
async def connect(server: ScriptedServer) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        def make(base_url: str | None = None, key: str | None = None, **options: Any) -> HttpChatModel:
            given = Endpoint(
                model="m", base_url=base_url or server.base_url, api_key=SecretStr(key) if key else None
            )
            model = HttpChatModel(Transport(given, **{"patience": HASTY, "now": lambda: NOW, **options}))
            stack.push_async_callback(model.close)
            return model

        yield make


@pytest.fixture
async def models() -> AsyncIterator[Callable[..., ChatModels]]:
    """Models as the settings choose them."""
    async with AsyncExitStack() as stack:

        def make(shell: dict[str, str] | None = None, **given: Any) -> ChatModels:
            settings = Settings.load(**given)
            chosen = choose_models(
                settings.endpoints(shell or {}),
                temperature=settings.chat_temperature,
                max_tokens=settings.chat_max_tokens,
                prices=settings.prices,
                timeout=settings.chat_timeout,
            )
            assert chosen is not None
            stack.push_async_callback(chosen.close)
            return chosen

        yield make


Models = Callable[..., ChatModels]


async def test_f28_templates_and_json_reach_the_model_as_they_are(
    server: ScriptedServer, connect: Connect
) -> None:
    server.usual = chat(lambda messages: messages[-1]["content"])
    assert (await connect().reply(MESSAGES)).text == MESSAGES[0].content


@pytest.mark.parametrize("tail", ["", "/", "/chat/completions"])
async def test_f31_any_path_with_and_without_a_trailing_slash(
    server: ScriptedServer, connect: Connect, tail: str
) -> None:
    await connect(f"http://127.0.0.1:{server.port}/x/v1{tail}").reply(MESSAGES)
    assert [each.path for each in server.asked] == ["/x/v1/chat/completions"]


PASSING: dict[str, Act] = {
    "429": answer(429, {"error": {"message": "Rate limit reached"}}, retry_after="0"),
    "429-date": answer(429, None, retry_after=format_datetime(NOW - timedelta(seconds=5), usegmt=True)),
    "502": answer(502, "Bad gateway"),
    "503": answer(503, {"error": {"message": "Loading model", "code": 503}}),
    "router": answer(200, {"error": {"message": "Provider returned error", "code": 502}}),
    "reset": reset,
    "cut": cut_short,
    "hang": hang,
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
async def test_f32_what_passes_is_tried_again(server: ScriptedServer, connect: Connect, fault: Act) -> None:
    server.then(fault, fault)
    reply = await connect().reply(MESSAGES)
    assert (reply.text, reply.usage.calls, len(server.asked)) == ("Because.", 1, 3)
    assert server.asked[0].body == server.asked[2].body


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_f32_the_wait_that_is_asked_for_is_kept(server: ScriptedServer, connect: Connect, form: str) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    asked = "2" if form == "seconds" else format_datetime(NOW + timedelta(seconds=2), usegmt=True)
    server.then(answer(429, None, retry_after=asked))
    await connect(sleep=sleep).reply(MESSAGES)
    assert waits == [2.0]


FINAL: dict[str, tuple[Act, str]] = {
    "401": (answer(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), "check the key"),
    "402": (answer(402, {"error": {"message": "Insufficient Balance"}}), "no money"),
    "403": (answer(403, {"error": "denied"}), "may not use"),
    "404": (answer(404, {"error": "model not found"}), "model's name"),
    "quota": (answer(429, {"error": {"message": "You exceeded your current quota"}}), "quota"),
    "garbage": (garbage(b"<html>It works!</html>"), "no JSON object"),
    "not-json": (garbage(b"\xff\xfe\x00"), "no JSON object"),
    "list": (garbage(b"[]"), "no JSON object"),
    "elsewhere": (answer(302, None, location="http://127.0.0.1:9/x"), "not followed"),
}


@pytest.mark.parametrize(("fault", "told"), FINAL.values(), ids=FINAL)
async def test_f32_what_does_not_pass_is_tried_once_and_says_what_to_do(
    server: ScriptedServer, connect: Connect, fault: Act, told: str
) -> None:
    server.usual = fault
    with pytest.raises(ProviderError, match=told) as raised:
        await connect(key=KEY).reply(MESSAGES)
    assert not isinstance(raised.value, ReplyError | RequestRefused)
    assert "m at localhost" in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", [hang, trickle, reset, answer(500)], ids=["hang", "trickle", "reset", "500"])
async def test_a_server_that_stays_bad_is_given_up_within_bounds(
    server: ScriptedServer, connect: Connect, fault: Act
) -> None:
    server.usual = fault
    began = time.monotonic()
    with pytest.raises(ProviderError):
        await connect(patience=Patience(attempts=3, total=1.0, read=0.2, first_wait=0.01)).reply(MESSAGES)
    assert time.monotonic() - began < 10


async def test_a_server_that_is_not_there_is_a_provider_that_fails(connect: Connect) -> None:
    with scripted_server() as gone:
        url = gone.base_url
    with pytest.raises(ProviderError, match="cannot be reached"):
        await connect(url).reply(MESSAGES)


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize(
    ("status", "told"),
    [(400, "maximum context length is 4096"), (413, ""), (500, "exceeds the available context size")],
)
async def test_f40_a_prompt_that_is_too_long_is_refused_in_one_try(
    server: ScriptedServer, connect: Connect, status: int, told: str, schema: dict[str, str] | None
) -> None:
    server.usual = answer(status, {"error": {"message": told}})
    with pytest.raises(ContextExceeded):
        await connect().reply(MESSAGES, schema=schema)
    assert len(server.asked) == 1


async def test_f34_loopback_without_a_key_and_past_a_dead_proxy(
    server: ScriptedServer, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    shell = {"OPENAI_API_KEY": "sk-shell"}
    await models(shell, chat_model="m", chat_base_url=server.base_url).fold.reply(MESSAGES)
    (asked,) = server.asked
    assert not {"authorization", "x-api-key"} & set(asked.headers)
    assert "sk-shell" not in str(asked)


async def test_p11_no_key_of_one_server_reaches_another(server: ScriptedServer, models: Models) -> None:
    with scripted_server(chat("Elsewhere.")) as other:
        shell = {"OPENAI_API_KEY": "sk-shell"}
        chosen = models(
            shell,
            chat_model="big",
            chat_base_url=server.base_url,
            chat_api_key=KEY,
            extract_model="small",
            extract_base_url=other.base_url,
            overview_model="third",
        )
        for model in (chosen.default, chosen.extract, chosen.fold, chosen.overview):
            await model.reply(MESSAGES)
        assert [each.body["model"] for each in server.asked] == ["big", "big", "third"]
        assert all(each.headers["authorization"] == f"Bearer {KEY}" for each in server.asked)
        assert [each.body["model"] for each in other.asked] == ["small"]
        assert "sk-" not in str(other.asked)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({}, {}),
        ({"chat_temperature": 0}, {"temperature": 0}),
        ({"chat_max_tokens": 99}, {"max_tokens": 99}),
        ({"chat_max_tokens": 99, "chat_dialect": "openai"}, {"max_completion_tokens": 99}),
    ],
)
async def test_f38_only_what_is_set_is_sent(
    server: ScriptedServer, models: Models, given: dict[str, Any], sent: dict[str, Any]
) -> None:
    await models(chat_model="m", chat_base_url=server.base_url, **given).extract.reply(MESSAGES)
    body = server.asked[0].body
    assert {name: value for name, value in body.items() if name not in ("model", "messages")} == sent


ONE = '{"text": "a < b &amp; `{{.Names}}`", "page": "p"}'
READABLE = {
    "bare": f"[{ONE}]",
    "fence": f"```json\n[{ONE}]\n```",
    "prose": f"Here you are [as asked]:\n\n[{ONE}]\n\nAnything else?",
    "thoughts": f'<think>Should I say [{{"text": "x"}}]? No.</think>\n[{ONE}]',
    "comma": f"[{ONE},]",
    "object": f'{{"items": [{ONE}]}}',
    "bad item": f'[{ONE}, {{"text": 5}}]',
    "optional": '[{"text": "a < b &amp; `{{.Names}}`"}]',
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
async def test_f36_what_can_be_read_is_read_to_the_character(
    server: ScriptedServer, connect: Connect, text: str
) -> None:
    server.usual = chat(text)
    parsed = parse_items((await connect().reply(MESSAGES)).text, Item)
    assert [item.text for item in parsed.items] == ["a < b &amp; `{{.Names}}`"]
    assert parsed.dropped == (text == READABLE["bad item"])


UNREADABLE: dict[str, Act] = {
    "prose": chat("I remember that deploys go out on Tuesdays."),
    "cut": chat('[{"text": "a"}, {"text": "b'),
    "by length": answer(200, completion('[{"text": "a"}]', finish="length")),
    "empty": chat(""),
    "refusal": answer(200, completion(None, refusal="I cannot help with that.")),
    "filtered": answer(200, completion("", finish="content_filter")),
    "no choices": answer(200, {"choices": []}),
}


@pytest.mark.parametrize("fault", UNREADABLE.values(), ids=UNREADABLE)
async def test_f36_what_cannot_be_read_is_a_bad_reply_and_no_server_that_is_down(
    server: ScriptedServer, connect: Connect, fault: Act
) -> None:
    server.usual = fault
    with pytest.raises(ReplyError):
        parse_items((await connect().reply(MESSAGES)).text, Item)
    assert len(server.asked) == 1


async def test_calls_run_at_once_as_far_as_there_are_connections(server: ScriptedServer, connect: Connect) -> None:
    """None of them fails for waiting longer, for its turn, than a reply may take."""
    together, counting = threading.Barrier(8, timeout=20), threading.Lock()
    running: list[int] = [0]
    most: list[int] = [0]

    def act(handler: Handler, asked: Asked, ended: threading.Event) -> None:
        with counting:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait()
        ended.wait(1.1)
        with counting:
            running[0] -= 1
        chat("Because.")(handler, asked, ended)

    server.usual = act
    model = connect(connections=8, patience=replace(HASTY, read=3.0, total=60.0))
    replies = await asyncio.gather(*(model.reply(MESSAGES) for _ in range(24)))
    assert len(replies) == len(server.asked) == 24
    assert most == [8]


@pytest.mark.skipif(
    "MEMU_TEST_CHAT_BASE_URL" not in os.environ,
    reason="no real chat model at hand: set MEMU_TEST_CHAT_BASE_URL (and MEMU_TEST_CHAT_MODEL, "
    "MEMU_TEST_CHAT_API_KEY where the server needs them) to ask one",
)
async def test_a_real_model_answers_with_json(models: Models) -> None:
    """Live: see docs/models.md for a server on a laptop."""
    chosen = models(
        chat_model=os.environ.get("MEMU_TEST_CHAT_MODEL", "local"),
        chat_base_url=os.environ["MEMU_TEST_CHAT_BASE_URL"],
        chat_api_key=os.environ.get("MEMU_TEST_CHAT_API_KEY"),
        chat_temperature=0,
        chat_max_tokens=2000,
    )
    asked = ChatMessage(
        role="user",
        content='Answer with only this JSON list and nothing else: [{"text": "Deploys go out on Tuesdays."}]',
    )
    item = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    reply = await chosen.extract.reply([asked], schema={"type": "array", "items": item})
    (found,) = parse_items(reply.text, Item).items
    assert "Tuesday" in found.text
    assert reply.usage.calls == 1
