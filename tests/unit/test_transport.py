"""The transport over real HTTP: addresses, retries, waits, keys. FIELD F31, F32, F34; P11."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr
from support.server import (
    Act,
    ScriptedServer,
    answer,
    cut_short,
    garbage,
    hang,
    reset,
    scripted_server,
    trickle,
)

from memu.errors import ConfigurationError, ProviderError
from memu.providers.dialects import DIALECTS, choose_dialect
from memu.providers.endpoint import Endpoint, host_of, is_loopback, join_url
from memu.providers.patience import Patience, asked_wait, is_passing
from memu.providers.transport import RequestRefused, Transport

pytestmark = pytest.mark.unit

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = "sk-very-secret-0123456789"
OK = answer(200, {"ok": True})


@dataclass
class Time:
    """A clock that only waits move on."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds

    def clock(self) -> float:
        return self.seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(OK) as scripted:
        yield scripted


Connect = Callable[..., Transport]


@pytest.fixture
async def connect(server: ScriptedServer, time: Time) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        def make(base_url: str | None = None, key: str | None = None, **patience: float) -> Transport:
            transport = Transport(
                Endpoint(model="m", base_url=base_url or server.base_url, api_key=SecretStr(key) if key else None),
                patience=Patience(**patience),  # type: ignore[arg-type]
                sleep=time.sleep,
                clock=time.clock,
                now=lambda: NOW,
                jitter=lambda: 0.0,
            )
            stack.push_async_callback(transport.close)
            return transport

        yield make


@pytest.mark.parametrize("tail", ["", "/"])
@pytest.mark.parametrize("base", ["", "/v1", "/x/v1", "/a/b/c"])
async def test_f31_any_path_with_and_without_a_trailing_slash(
    server: ScriptedServer, connect: Connect, base: str, tail: str
) -> None:
    await connect(f"http://127.0.0.1:{server.port}{base}{tail}").post("embeddings", {})
    assert [each.path for each in server.asked] == [f"{base}/embeddings"]


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://h/v1?api-version=2", "embeddings", "https://h/v1/embeddings?api-version=2"),
        ("https://u:p@h:8443/v1", "embeddings", "https://h:8443/v1/embeddings"),
        ("https://h/v1/embeddings", "embeddings", "https://h/v1/embeddings"),
        ("https://api.anthropic.com", "v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/", "v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://h/v1/chat/completions", "chat/completions", "https://h/v1/chat/completions"),
        ("http://[::1]:8080/v1", "embeddings", "http://[::1]:8080/v1/embeddings"),
    ],
)
def test_f31_what_a_base_may_hold(base: str, path: str, url: str) -> None:
    assert join_url(base, path) == url


@pytest.mark.parametrize("base", ["", "h/v1", "ftp://h/v1", "https://", "http://h:port/v1", "http://[::1/v1"])
def test_what_is_no_address_is_a_setting_that_is_wrong(base: str) -> None:
    with pytest.raises(ConfigurationError, match="BASE_URL"):
        Transport(Endpoint(model="m", base_url=base))


@pytest.mark.parametrize(
    ("bad", "wait"),
    [
        (answer(429, retry_after="7"), 7.0),
        (answer(429, retry_after=format_datetime(NOW + timedelta(seconds=9), usegmt=True)), 9.0),
        (answer(503, retry_after="0.25"), 0.25),
        (answer(429, retry_after="soon"), 0.25),
        (answer(429), 0.25),
        (answer(408), 0.25),
        (answer(409), 0.25),
        (answer(500), 0.25),
        (answer(502), 0.25),
        (answer(529), 0.25),
        (answer(200, {"error": {"message": "upstream", "code": 502}}), 0.25),
        (reset, 0.25),
        (cut_short, 0.25),
    ],
)
async def test_f32_what_may_pass_is_tried_again_after_the_wait_asked_for(
    server: ScriptedServer, connect: Connect, time: Time, bad: Act, wait: float
) -> None:
    server.then(bad)
    assert await connect(first_wait=0.5).post("embeddings", {}) == {"ok": True}
    assert len(server.asked) == 2
    assert time.waits == [pytest.approx(wait)]


async def test_f32_one_after_another_then_success(server: ScriptedServer, connect: Connect, time: Time) -> None:
    date = format_datetime(NOW + timedelta(seconds=5), usegmt=True)
    server.then(answer(429, retry_after="3"), answer(429, retry_after=date), answer(502), reset)
    assert await connect(first_wait=1.0).post("embeddings", {}) == {"ok": True}
    assert len(server.asked) == 5
    assert time.waits == [3.0, 5.0, 2.0, 4.0]


@pytest.mark.parametrize(("status", "advice"), [(401, "key"), (403, "key"), (404, "address")])
async def test_f32_what_will_not_pass_is_tried_once_and_named(
    server: ScriptedServer, connect: Connect, time: Time, status: int, advice: str
) -> None:
    server.then(answer(status, {"error": {"message": f"Not so, {KEY}."}}))
    with pytest.raises(ProviderError) as raised:
        await connect(key=KEY).post("embeddings", {})
    told = str(raised.value)
    assert len(server.asked) == 1
    assert time.waits == []
    for part in ("m at localhost", str(status), "Not so", advice):
        assert part in told
    assert KEY not in told


async def test_p11_a_key_at_the_edge_of_a_long_message_is_struck_out_whole(
    server: ScriptedServer, connect: Connect
) -> None:
    server.then(answer(401, {"error": {"message": "x" * 270 + KEY}}))
    with pytest.raises(ProviderError) as raised:
        await connect(key=KEY).post("embeddings", {})
    assert KEY[:6] not in str(raised.value)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_request_can_be_told_from_a_server_that_fails(
    server: ScriptedServer, connect: Connect, status: int
) -> None:
    server.then(answer(status, {"detail": "too many"}))
    with pytest.raises(RequestRefused, match="too many") as raised:
        await connect().post("embeddings", {})
    assert raised.value.status == status
    assert len(server.asked) == 1


async def test_tries_and_time_are_bounded(server: ScriptedServer, connect: Connect, time: Time) -> None:
    server.usual = answer(503)
    with pytest.raises(ProviderError, match="after 4 tries"):
        await connect(attempts=4).post("embeddings", {})
    assert len(server.asked) == 4
    with pytest.raises(ProviderError):
        await connect(attempts=1000, total=60.0).post("embeddings", {})
    assert sum(time.waits) < 70


async def test_a_wait_longer_than_our_patience_is_not_begun(
    server: ScriptedServer, connect: Connect, time: Time
) -> None:
    server.then(answer(429, retry_after="3600"))
    with pytest.raises(ProviderError, match="asks to wait 3600 s"):
        await connect(total=60.0).post("embeddings", {})
    assert time.waits == []


@pytest.mark.parametrize(
    ("bad", "patience"), [(hang, {"read": 0.05}), (trickle, {"total": 0.15}), (hang, {"total": 0.1})]
)
async def test_f32_what_hangs_or_trickles_ends(
    server: ScriptedServer, connect: Connect, bad: Act, patience: dict[str, float]
) -> None:
    server.then(bad)
    with pytest.raises(ProviderError, match="in time"):
        await asyncio.wait_for(connect(attempts=1, **patience).post("embeddings", {}), 5)


@pytest.mark.parametrize("data", [b"", b"<html>hello</html>", b"[1, 2]", b'"x"', b"\xff\xfe", b"[" * 100_000])
async def test_what_is_no_object_is_an_error(server: ScriptedServer, connect: Connect, data: bytes) -> None:
    server.then(garbage(data))
    with pytest.raises(ProviderError, match="no JSON object"):
        await connect().post("embeddings", {})


async def test_f34_no_key_no_header(server: ScriptedServer, connect: Connect) -> None:
    await connect().post("embeddings", {})
    await connect(key="").post("embeddings", {})
    assert all("authorization" not in each.headers for each in server.asked)


async def test_f34_a_key_goes_as_the_dialect_has_it(server: ScriptedServer, connect: Connect) -> None:
    await connect(key=f" {KEY}\n").post("embeddings", {})
    endpoint = Endpoint(model="m", base_url=server.base_url, api_key=SecretStr(KEY), dialect="anthropic")
    transport = Transport(endpoint)
    await transport.post("v1/messages", {})
    await transport.close()
    bearer, header = server.asked
    assert bearer.headers["authorization"] == f"Bearer {KEY}"
    assert header.headers["x-api-key"] == KEY
    assert "authorization" not in header.headers
    assert header.path == "/v1/messages"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_f34_loopback_goes_past_the_proxy(
    server: ScriptedServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, name: str, host: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert await connect(f"http://{host}:{server.port}/v1").post("embeddings", {}) == {"ok": True}


async def test_f34_another_host_goes_through_the_proxy(
    server: ScriptedServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    await connect("http://models.example/v1").post("embeddings", {})
    assert server.asked[0].path == "http://models.example/v1/embeddings"


async def test_p11_a_key_does_not_follow_a_redirect(server: ScriptedServer, connect: Connect) -> None:
    with scripted_server(OK) as other:
        server.then(answer(307, location=f"{other.base_url}/embeddings"))
        with pytest.raises(ProviderError, match=r"127\.0\.0\.1"):
            await connect(key=KEY).post("embeddings", {})
        assert other.asked == []


async def test_p11_a_key_is_in_no_log_and_no_repr(
    server: ScriptedServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    transport = connect(f"http://user:pass-word-1@127.0.0.1:{server.port}/v1", key=KEY)
    await transport.post("embeddings", {})
    for text in (caplog.text, repr(transport), repr(transport.endpoint)):
        assert KEY not in text
    assert "pass-word-1" not in caplog.text
    assert caplog.text


async def test_credentials_of_an_address_are_used_where_there_is_no_key(
    server: ScriptedServer, connect: Connect
) -> None:
    await connect(f"http://user:p%40ss@127.0.0.1:{server.port}/v1").post("embeddings", {})
    assert server.asked[0].headers["authorization"] == "Basic dXNlcjpwQHNz"


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-é", "sk-\x00"])
def test_p11_a_key_that_cannot_be_sent_is_refused_without_being_said(key: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Transport(Endpoint(model="m", base_url="https://h/v1", api_key=SecretStr(key)))
    assert "sk-" not in str(raised.value)


async def test_a_server_that_is_not_there_is_named(connect: Connect) -> None:
    with pytest.raises(ProviderError, match="m at localhost cannot be reached"):
        await connect("http://127.0.0.1:1/v1", attempts=2).post("embeddings", {})


def test_one_transport_serves_one_event_loop_after_another(server: ScriptedServer) -> None:
    transport = Transport(Endpoint(model="m", base_url=server.base_url))

    async def once() -> Any:
        reply = await transport.post("embeddings", {})
        await transport.close()
        return reply

    assert [asyncio.run(once()) for _ in range(2)] == [{"ok": True}] * 2


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:9/v1", "localhost"),
        ("http://127.8.9.1", "localhost"),
        ("http://[::1]:1/v1", "localhost"),
        ("http://LOCALHOST", "localhost"),
        ("http://a.localhost", "localhost"),
        ("http://0.0.0.0:8000", "localhost"),
        ("https://u:p@API.example:8443/v1", "api.example"),
        ("https://localhost.example/v1", "localhost.example"),
        ("https://10.0.0.1/v1", "10.0.0.1"),
    ],
)
def test_hosts(url: str, host: str) -> None:
    assert host_of(url) == host
    assert is_loopback(url) == (host == "localhost")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://api.moonshot.cn/v1", "moonshot"),
        ("https://api.x.ai/v1", "xai"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://notapi.openai.com.example/v1", "compatible"),
        ("http://localhost:11434/v1", "compatible"),
    ],
)
def test_a_dialect_is_told_by_the_host(url: str, name: str) -> None:
    assert choose_dialect(Endpoint(model="m", base_url=url)) is DIALECTS[name]


def test_a_dialect_that_is_named_wins() -> None:
    named = Endpoint(model="m", base_url="https://api.openai.com", dialect="ollama")
    assert choose_dialect(named) is DIALECTS["ollama"]
    with pytest.raises(ConfigurationError, match="anthropic"):
        choose_dialect(Endpoint(model="m", base_url="https://h", dialect="nonsense"))


def test_no_host_belongs_to_two_dialects() -> None:
    hosts = [host for dialect in DIALECTS.values() for host in dialect.hosts]
    assert len(hosts) == len(set(hosts))


@pytest.mark.parametrize(
    ("asked", "wait"),
    [("12", 12), (" 1.5 ", 1.5), ("-3", 0), ("nan", None), ("inf", 1e9), ("", None), ("tomorrow", None)],
)
def test_a_wait_in_seconds(asked: str, wait: float | None) -> None:
    assert asked_wait({"retry-after": asked}, NOW) == wait


def test_a_date_is_read_by_the_servers_own_clock() -> None:
    headers = {
        "retry-after": format_datetime(NOW + timedelta(hours=1, seconds=20), usegmt=True),
        "date": format_datetime(NOW + timedelta(hours=1), usegmt=True),
    }
    assert asked_wait(headers, NOW) == 20
    past = {"retry-after": format_datetime(NOW - timedelta(days=1), usegmt=True)}
    assert asked_wait(past, NOW) == 0


def test_what_passes_and_what_does_not() -> None:
    passing = {status for status in range(400, 600) if is_passing(status)}
    assert {408, 409, 429, 500, 502, 503, 504, 529} <= passing
    assert not passing & {400, 401, 403, 404, 413, 422, 501}


@pytest.mark.parametrize("jitter", [0.0, 0.999])
def test_waits_double_and_are_bounded(jitter: float) -> None:
    patience = Patience(first_wait=1.0, longest_wait=10.0)
    waits = [patience.backoff(failed, jitter) for failed in range(1, 2000, 7)]
    assert 0.5 <= waits[0] <= 1.0
    assert all(5.0 <= wait <= 10.0 for wait in waits[1:])
