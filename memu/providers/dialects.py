"""How servers of models differ, as one table: what is not named in it, all do alike.

Taken from the servers' own documentation: OpenAI's API reference, and what each of the others says of its
"OpenAI-compatible" address; Anthropic's Messages API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from memu.errors import ConfigurationError
from memu.providers.endpoint import Endpoint, host_of

__all__ = ["DIALECTS", "Dialect", "choose_dialect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The manners of one kind of server.

    hosts: the hosts that speak so; a host below one of them does too.
    key_header, key_form: where a key goes, and how.
    form: what a chat request and its reply look like.
    max_tokens: the parameter that bounds a reply; default_max_tokens is sent where the server demands one.
    json_schema: whether a reply can be held to a JSON schema.
    embeddings_path: None where the server has no embeddings. batch: texts that one call takes at most.
    packed_vectors: whether vectors may be asked for as base64, as OpenAI's own client does.
    """

    hosts: tuple[str, ...] = ()
    key_header: str = "Authorization"
    key_form: str = "Bearer {key}"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    form: Literal["openai", "anthropic"] = "openai"
    chat_path: str = "chat/completions"
    embeddings_path: str | None = "embeddings"
    max_tokens: str = "max_tokens"
    default_max_tokens: int | None = None
    json_schema: bool = True
    batch: int = 64
    packed_vectors: bool = True


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "compatible": Dialect(),
        "openai": Dialect(hosts=("api.openai.com",), max_tokens="max_completion_tokens"),
        "openrouter": Dialect(hosts=("openrouter.ai",)),
        "deepseek": Dialect(hosts=("api.deepseek.com",), embeddings_path=None, json_schema=False),
        "moonshot": Dialect(hosts=("api.moonshot.ai", "api.moonshot.cn"), embeddings_path=None, json_schema=False),
        "xai": Dialect(hosts=("api.x.ai",)),
        "gemini": Dialect(hosts=("generativelanguage.googleapis.com",), packed_vectors=False),
        "vllm": Dialect(),
        "llama.cpp": Dialect(),
        "lmstudio": Dialect(),
        "ollama": Dialect(),
        "anthropic": Dialect(
            hosts=("api.anthropic.com",),
            key_header="x-api-key",
            key_form="{key}",
            headers=MappingProxyType({"anthropic-version": "2023-06-01"}),
            form="anthropic",
            chat_path="v1/messages",
            embeddings_path=None,
            default_max_tokens=4096,
            json_schema=False,
        ),
    }
)
"""By name. A server that is told neither by name nor by host is ``compatible``."""


def choose_dialect(endpoint: Endpoint) -> Dialect:
    """The manners that the endpoint names, else those of its host.

    Raises:
        ConfigurationError: there is none of that name, or the address is none.
    """
    if endpoint.dialect is not None:
        try:
            return DIALECTS[endpoint.dialect]
        except KeyError:
            raise ConfigurationError(
                f"No dialect is called {endpoint.dialect!r}; there are: {', '.join(DIALECTS)}."
            ) from None
    host = host_of(endpoint.base_url)
    for dialect in DIALECTS.values():
        if any(host == known or host.endswith("." + known) for known in dialect.hosts):
            return dialect
    return DIALECTS["compatible"]
