"""Images and recordings over real HTTP: how they are sent, what comes back, what is no reply."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from pydantic import SecretStr
from support.server import ScriptedServer, answer, completion, letter, scripted_server

from memu import ProviderError, ReplyError, Usage
from memu.ingest.media import find_medium, is_signed
from memu.providers.endpoint import Endpoint
from memu.providers.models import MediaModels, choose_media
from memu.providers.protocols import Attachment, ChatMessage, Said
from memu.providers.refusals import RequestRefused

pytestmark = pytest.mark.unit

IMAGE = Attachment(media_type="image/png", data=bytes(range(256)))
RECORDING = Attachment(media_type="audio/mpeg", data=b"ID3" + bytes(range(256)))
SHOWN = (ChatMessage(role="system", content="Look."), ChatMessage(role="user", content="This.", images=(IMAGE,)))
TIMED = {
    "text": "One. Two.",
    "duration": 8.2,
    "segments": [
        {"id": 0, "start": 0.0, "end": 4.0, "text": " One. "},
        {"id": 1, "start": 4.0, "end": 8.0, "text": " Two. "},
        {"id": 2, "start": 8.0, "end": 7.0, "text": "Odd times."},
        {"id": 3, "start": 8.0, "end": 8.2, "text": "  "},
        "no segment",
    ],
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(answer(200, completion("Seen."))) as scripted:
        yield scripted


Connect = Callable[..., MediaModels]


@pytest.fixture
async def connect(server: ScriptedServer) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        def make(dialect: str | None = None, **options: Any) -> MediaModels:
            endpoint = Endpoint(
                model="m", base_url=server.base_url, api_key=SecretStr("sk-0123456789"), dialect=dialect
            )
            models = choose_media({"vision": endpoint, "audio": endpoint}, **options)
            assert models is not None
            stack.push_async_callback(models.close)
            return models

        yield make


async def test_an_image_goes_as_a_part_of_its_message_in_each_form(
    server: ScriptedServer, connect: Connect
) -> None:
    server.then(answer(200, completion("Seen.")), answer(200, letter("Seen too.")))
    openai, anthropic = connect().vision, connect("anthropic").vision
    assert openai is not None
    assert anthropic is not None
    assert (await openai.reply(SHOWN)).text == "Seen."
    assert (await anthropic.reply(SHOWN)).text == "Seen too."
    first, second = (asked.body["messages"][-1]["content"] for asked in server.asked)
    assert first[1] == second[1] == {"type": "text", "text": "This."}
    head, _, packed = first[0]["image_url"]["url"].partition(",")
    assert (head, b64decode(packed)) == ("data:image/png;base64", IMAGE.data)
    source = second[0]["source"]
    assert (source["type"], source["media_type"], b64decode(source["data"])) == ("base64", "image/png", IMAGE.data)
    assert server.asked[0].body["messages"][0] == {"role": "system", "content": "Look."}


async def test_an_image_counts_in_what_a_reply_is_foreseen_to_cost(connect: Connect) -> None:
    eye = connect(prices={"m": (1.0, 0.0)}).vision
    assert eye is not None
    bare = (ChatMessage(role="user", content="This."),)
    assert eye.foresee_cost(SHOWN) - eye.foresee_cost(bare) > 1000 / 1_000_000


async def test_a_recording_goes_as_a_form_and_its_times_come_back(
    server: ScriptedServer, connect: Connect
) -> None:
    server.then(answer(200, TIMED))
    ear = connect(prices={"m": (100.0, 0.0)}).audio
    assert ear is not None
    heard = await ear.transcribe(RECORDING)
    (asked,) = server.asked
    assert asked.path == "/v1/audio/transcriptions"
    assert asked.headers["authorization"] == "Bearer sk-0123456789"
    assert asked.body["file"] == ("file.mp3", "audio/mpeg", RECORDING.data)
    assert (asked.body["model"], asked.body["response_format"]) == ("m", "verbose_json")
    assert heard.said == (
        Said(text="One.", start=0.0, end=4.0),
        Said(text="Two.", start=4.0, end=8.0),
        Said(text="Odd times."),
    )
    # A server that counts seconds is priced by them.
    assert heard.usage == Usage(calls=1, prompt_tokens=8, cost=pytest.approx(0.0008))


async def test_a_model_that_gives_no_times_is_asked_without_them_from_then_on(
    server: ScriptedServer, connect: Connect
) -> None:
    plain = {"text": " All of it. ", "usage": {"input_tokens": 30, "output_tokens": 4}}
    server.then(answer(400, {"error": {"message": "response_format"}}), answer(200, plain), answer(200, plain))
    ear = connect().audio
    assert ear is not None
    for _ in range(2):
        heard = await ear.transcribe(RECORDING)
        assert heard.said == (Said(text="All of it."),)
        assert heard.usage == Usage(calls=1, prompt_tokens=30, completion_tokens=4)
    assert [asked.body["response_format"] for asked in server.asked] == ["verbose_json", "json", "json"]


@pytest.mark.parametrize(
    "body", [{}, {"text": "  "}, {"segments": []}, {"segments": [{"text": ""}], "text": None}, {"text": 7}]
)
async def test_a_recording_in_which_nothing_is_said_is_a_reply_error(
    server: ScriptedServer, connect: Connect, body: dict[str, Any]
) -> None:
    server.then(answer(200, body))
    ear = connect().audio
    assert ear is not None
    with pytest.raises(ReplyError, match="heard nothing"):
        await ear.transcribe(RECORDING)


@pytest.mark.parametrize(("status", "error"), [(400, RequestRefused), (413, RequestRefused), (401, ProviderError)])
async def test_a_recording_that_is_refused_is_an_error_that_names_host_and_no_key(
    server: ScriptedServer, connect: Connect, status: int, error: type[ProviderError]
) -> None:
    refused = answer(status, {"error": {"message": "not with sk-0123456789"}})
    server.then(refused, refused)
    ear = connect().audio
    assert ear is not None
    with pytest.raises(error, match="localhost") as caught:
        await ear.transcribe(RECORDING)
    assert "sk-0123456789" not in str(caught.value)


def test_no_endpoint_means_nobody_looks_or_listens() -> None:
    assert choose_media({}) is None
    alone = choose_media({"vision": Endpoint(model="m", base_url="http://localhost:1/v1")})
    assert alone is not None
    assert alone.audio is None


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.jpg", b"<html>not found</html>"),
        ("a.png", b""),
        ("a.gif", b"GIF89a"),
        ("a.mp3", b"version https://git-lfs"),
        ("a.wav", b"RIFF\x00\x00\x00\x00AVI "),
    ],
)
def test_a_name_alone_sends_nothing(path: str, data: bytes) -> None:
    medium = find_medium(path)
    assert medium is not None
    assert not is_signed(medium, data)
