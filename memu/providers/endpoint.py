"""Where a model is reached: its name, its address, its key."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from pydantic import SecretStr

from memu.errors import ConfigurationError

__all__ = ["Endpoint", "address_of", "credentials_of", "host_of", "is_loopback", "join_url", "require_local"]

_LOCAL = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An HTTP endpoint of a chat or embedding model. The key stays out of ``repr``.

    dialect: the name of the server's manners in ``memu.providers.dialects``; None to tell them by its host.
    dimensions: how many components a vector is to have; None leaves it to the model.
    """

    model: str
    base_url: str
    api_key: SecretStr | None = None
    dialect: str | None = None
    dimensions: int | None = None


def host_of(base_url: str) -> str:
    """The host, without port and credentials; every name of this machine is ``localhost``.

    Raises:
        ConfigurationError: it is no http or https address.
    """
    host = (_split(base_url).hostname or "").lower()
    return _LOCAL if _is_local(host) else host


def address_of(base_url: str) -> str:
    """Host, port and path, without credentials and query: what tells one server from another.

    Raises:
        ConfigurationError: it is no http or https address.
    """
    parts = _split(base_url)
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{host_of(base_url)}{port}{parts.path.rstrip('/')}"


def require_local(endpoints: Mapping[str, Endpoint]) -> None:
    """See that every endpoint, by the name of its profile, is on this machine.

    Raises:
        ConfigurationError: some are not; it names each of them.
    """
    away: dict[str, list[str]] = {}
    for name, endpoint in endpoints.items():
        if not is_loopback(endpoint.base_url):
            away.setdefault(f"{endpoint.model} at {host_of(endpoint.base_url)}", []).append(name)
    if away:
        told = "; ".join(f"{where} ({', '.join(names)})" for where, names in away.items())
        raise ConfigurationError(
            f"Only models on this machine may be asked, but these are elsewhere: {told}. Point them to "
            "http://localhost:…, or leave their MEMU_…_MODEL unset."
        )


def is_loopback(base_url: str) -> bool:
    """Whether the address leads to this machine, so that no proxy stands in between.

    Raises:
        ConfigurationError: it is no http or https address.
    """
    return host_of(base_url) == _LOCAL


def credentials_of(base_url: str) -> tuple[str, str] | None:
    """User and password of an address such as ``https://user:word@host``."""
    parts = _split(base_url)
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username is not None else None


def join_url(base_url: str, path: str) -> str:
    """``path`` below the base, whether or not that ends in a slash; the base's query stays, its credentials go.

    A version that ends the base and begins the path is said once, and a base that already names the path is left.

    Raises:
        ConfigurationError: the base is no http or https address.
    """
    parts = _split(base_url)
    base, wanted = parts.path.rstrip("/"), "/" + path.strip("/")
    first = "/" + wanted.split("/")[1]
    if base.endswith(wanted):
        wanted = ""
    elif base.endswith(first):
        wanted = wanted.removeprefix(first)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], base + wanted, parts.query, ""))


def _split(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        # The address may hold a password: it is not repeated.
        raise ConfigurationError(
            "The address of a model's endpoint must be like https://host/v1 or http://localhost:8000/v1; "
            "set MEMU_EMBED_BASE_URL or MEMU_CHAT_BASE_URL."
        )
    return parts


def _is_local(host: str) -> bool:
    if host == _LOCAL or host.endswith("." + _LOCAL):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
