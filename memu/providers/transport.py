"""One road to every model over HTTP: tries again what may pass, waits as asked, names what failed, keeps keys in.

A key goes to the host it was given for and nowhere else: redirects are not followed. Loopback is reached without
the proxies of the environment. Errors name host and model; a key that a server repeats is struck out.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memu.errors import ConfigurationError, ProviderError
from memu.providers.dialects import Dialect, choose_dialect
from memu.providers.endpoint import Endpoint, credentials_of, host_of, is_loopback, join_url
from memu.providers.form import Form
from memu.providers.patience import Patience, asked_wait, is_passing
from memu.providers.refusals import RequestRefused, is_final, refusal_of

if TYPE_CHECKING:
    import httpx

__all__ = ["RequestRefused", "Transport"]

_SHOWN = 300
_JSON = "application/json"
_ADVICE = {
    401: "check the key (MEMU_EMBED_API_KEY, MEMU_CHAT_API_KEY)",
    402: "the account has no money left",
    403: "the key may not use this model",
    404: "check the address and the model's name",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A try that failed. ``wait``: seconds that the server asks for, None where it leaves it to us."""

    what: str
    passing: bool
    status: int = 0
    told: str = ""
    wait: float | None = None
    cause: Exception | None = None


class Transport:
    """Posts JSON, or a form, to one endpoint. Connections are opened with the first request; close it at the end.

    Args:
        connections: requests at once; further ones wait for their turn.
        sleep, clock, now, jitter: how to wait, seconds that pass, the time of day, a number in [0, 1).

    Raises:
        ConfigurationError: the address, the key or the dialect cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        patience: Patience | None = None,
        connections: int = 16,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.endpoint = endpoint
        self.dialect: Dialect = choose_dialect(endpoint)
        self.host = host_of(endpoint.base_url)
        self._patience = patience or Patience()
        self._connections = connections
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._jitter = jitter
        self._secrets = _secrets_of(endpoint)
        self._headers = _headers_of(endpoint, self.dialect)
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Transport({self.endpoint.model}@{self.host})"

    async def post(
        self, path: str, body: Mapping[str, Any] | Form, *, patience: Patience | None = None
    ) -> dict[str, Any]:
        """The JSON object that the server answers.

        Raises:
            RequestRefused: it refuses this request (400, 413, 422).
            ProviderError: it refuses, or does not answer within the bounds of ``patience``.
        """
        patience = patience or self._patience
        url, began, tried = join_url(self.endpoint.base_url, path), self._clock(), 0
        while True:
            left = patience.total - (self._clock() - began)
            outcome = await self._try(url, body, patience, left)
            if not isinstance(outcome, _Failure):
                return outcome
            tried += 1
            wait = outcome.wait if outcome.wait is not None else patience.backoff(tried, self._jitter())
            left = patience.total - (self._clock() - began)
            if not outcome.passing or tried >= patience.attempts or wait >= left:
                raise self._error(outcome, tried, wait if outcome.wait is not None and wait >= left else None)
            await self._sleep(wait)

    async def close(self) -> None:
        """Close the connections. A later request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _try(
        self, url: str, body: Mapping[str, Any] | Form, patience: Patience, left: float
    ) -> dict[str, Any] | _Failure:
        import httpx

        # Whoever waits for a connection is bounded by the total alone.
        timeout = httpx.Timeout(patience.read, connect=patience.connect, pool=None)
        data, kind = body.encode() if isinstance(body, Form) else (_to_json(body), _JSON)
        try:
            # Bytes that trickle in would never end a read timeout.
            async with asyncio.timeout(left):
                response = await self._connected().post(
                    url, content=data, timeout=timeout, headers={"content-type": kind}
                )
        except (httpx.TimeoutException, TimeoutError) as error:
            return _Failure(what="did not answer in time", passing=True, cause=error)
        except httpx.ConnectError as error:
            return _Failure(what=f"cannot be reached ({error})", passing=True, cause=error)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
            return _Failure(what=f"cannot be asked ({error})", passing=False, cause=error)
        except httpx.RequestError as error:
            broke = f"broke the connection off ({error or type(error).__name__})"
            return _Failure(what=broke, passing=True, cause=error)
        return _read(response, self._now())

    def _connected(self) -> httpx.AsyncClient:
        """The client of the running event loop: connections of another one are dead."""
        import httpx

        loop, url = asyncio.get_running_loop(), self.endpoint.base_url
        local = is_loopback(url)
        if self._client is None or self._loop is not loop:
            most = self._connections
            limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
            try:
                self._client = httpx.AsyncClient(
                    headers=self._headers,
                    auth=None if self.endpoint.api_key else credentials_of(url),
                    limits=limits,
                    follow_redirects=False,
                    trust_env=not local,
                    # Certificates take a tenth of a second to load, and plain HTTP on this machine uses none.
                    verify=not (local and url.startswith("http:")),
                )
            except (ImportError, ValueError, OSError) as error:
                raise ConfigurationError(
                    f"A proxy or certificate setting of the environment cannot be used: {error}"
                ) from error
            self._loop = loop
        return self._client

    def _error(self, failure: _Failure, tried: int, asked: float | None) -> ProviderError:
        what = failure.what
        for secret in self._secrets:
            what = what.replace(secret, "[key]")
        # Cut only then: half a key would not be known again.
        message = f"{self.endpoint.model} at {self.host} {what[:_SHOWN].rstrip('.')}"
        if tried > 1:
            message += f", after {tried} tries"
        if asked is not None:
            message += f"; it asks to wait {asked:.0f} s"
        if failure.status in _ADVICE:
            message += f"; {_ADVICE[failure.status]}"
        error = refusal_of(failure.status, failure.told, f"{message}.")
        error.__cause__ = failure.cause
        return error


def _read(response: httpx.Response, now: datetime) -> dict[str, Any] | _Failure:
    status = response.status_code
    if 300 <= status < 400:
        with suppress(ValueError):
            elsewhere = urlsplit(response.headers.get("location", "")).hostname or "another address"
            return _Failure(what=f"sends on to {elsewhere}, which is not followed", passing=False, status=status)
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    if response.is_success and isinstance(body, dict) and not body.get("error"):
        return body
    told = _message_of(body) or response.reason_phrase
    if response.is_success:
        if not isinstance(body, dict):
            return _Failure(what="answered something that is no JSON object", passing=False)
        # Some routers pass on a failure behind them with status 200.
        code = body["error"].get("code") if isinstance(body["error"], dict) else None
        status = code if isinstance(code, int) else status
    return _Failure(
        what=f"refused with {status}: {told}" if told else f"refused with {status}",
        passing=is_passing(status) and not is_final(status, told),
        status=status,
        told=told,
        wait=asked_wait(response.headers, now),
    )


def _to_json(body: Mapping[str, Any]) -> bytes:
    # Lone surrogates, which no server takes, do not survive this.
    return json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")


def _message_of(body: object) -> str:
    """What an error says, in the forms in use: error.message, error, message, detail."""
    found: object = body
    for name in ("error", "message", "detail"):
        if isinstance(found, dict):
            found = found.get(name) or found
    text = found if isinstance(found, str) else json.dumps(found) if found else ""
    return " ".join(text.split())


def _headers_of(endpoint: Endpoint, dialect: Dialect) -> dict[str, str]:
    headers = {"content-type": _JSON, "accept": "application/json", **dialect.headers}
    key = endpoint.api_key.get_secret_value().strip() if endpoint.api_key else ""
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"The key for {endpoint.model} holds characters that no key has; copy it anew.")
    if key:
        headers[dialect.key_header] = dialect.key_form.format(key=key)
    return headers


def _secrets_of(endpoint: Endpoint) -> tuple[str, ...]:
    key = endpoint.api_key.get_secret_value().strip() if endpoint.api_key else ""
    credentials = credentials_of(endpoint.base_url)
    return tuple(secret for secret in (key, credentials[1] if credentials else "") if secret)
