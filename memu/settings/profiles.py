"""Which endpoint a profile means: what is not said of it is another's, but a key only for its own host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from memu.providers.endpoint import Endpoint

__all__ = ["CHAT_PROFILES", "MEDIA_PROFILES", "Told", "resolve_endpoint"]

CHAT_PROFILES = ("extract", "fold", "overview")
"""The steps that may have a model of their own."""

MEDIA_PROFILES = ("vision", "audio")
"""What is asked about images and recordings, only where it is named."""

_PUBLIC_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the settings say of one endpoint; None where they are silent."""

    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    dialect: str | None = None


def resolve_endpoint(
    told: Told, environment: Mapping[str, str], fallback: Endpoint | None = None
) -> Endpoint | None:
    """The endpoint of a profile: what ``told`` leaves out is the ``fallback``'s, else that of ``OPENAI_BASE_URL``
    and ``OPENAI_API_KEY``. A key or dialect of another host is not taken over. None without a model.
    """
    model = told.model or (fallback.model if fallback else None)
    if model is None:
        return None
    public = environment.get("OPENAI_BASE_URL") or _PUBLIC_OPENAI
    url = told.base_url or (fallback.base_url if fallback else public)
    key, dialect = told.api_key, told.dialect
    if fallback is not None and _host(url) == _host(fallback.base_url):
        key, dialect = key or fallback.api_key, dialect or fallback.dialect
    shared = environment.get("OPENAI_API_KEY")
    # A key that lies in the environment for one host is never sent to another.
    if key is None and shared and _host(url) == _host(public):
        key = SecretStr(shared)
    return Endpoint(model=model, base_url=url, api_key=key, dialect=dialect)


def _host(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()
