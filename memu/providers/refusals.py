"""A server's no to one request: what it means, told by its status and its words."""

from __future__ import annotations

import re

from memu.errors import ProviderError

__all__ = ["ContextExceeded", "RequestRefused", "is_final", "refusal_of"]

_REFUSED = frozenset({400, 413, 422})

# What servers say of a prompt that is longer than the model reads, or than they take.
_TOO_LONG = re.compile(
    "|".join(
        (
            r"context[ _-]?(?:length|size|window)",  # OpenAI, OpenRouter, DeepSeek, vLLM, llama.cpp, LM Studio
            r"max(?:imum)? (?:model|prompt|input) length",  # xAI, vLLM
            r"(?:prompt|input|request|messages?) (?:is|are) too (?:long|large)",  # Anthropic
            r"request[ _](?:entity )?too[ _]large",  # Anthropic, proxies
            # Gemini, Moonshot
            r"(?:token count|token length|(?:prompt|input) (?:length|tokens?))\b.{0,60}(?:exceed|too long)",
            r"exceeded model token limit",  # Moonshot
            r"reduce the length of",
        )
    ),
    re.IGNORECASE,
)
# Said with a status that else passes with time: the request is larger than a minute's allowance as a whole.
_NEVER_FITS = re.compile(r"request too large", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"insufficient[ _](?:quota|balance|funds|credits?)|exceeded your current quota", re.IGNORECASE
)


class RequestRefused(ProviderError):
    """The server refused this very request: it is malformed, or too much. ``status`` is the HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ContextExceeded(RequestRefused):
    """The request is longer than the model reads, or the server takes; a shorter one may pass."""


def is_final(status: int, told: str) -> bool:
    """Whether the server's words say that the next try will be refused too, though its status does not."""
    return (
        bool(_NO_MONEY.search(told))
        if status == 429 and not _NEVER_FITS.search(told)
        else _is_too_long(status, told)
    )


def refusal_of(status: int, told: str, message: str) -> ProviderError:
    """The error of a request that was refused with ``status`` and these words; ``message`` is what it says."""
    if _is_too_long(status, told):
        return ContextExceeded(message, status)
    return RequestRefused(message, status) if status in _REFUSED else ProviderError(message)


def _is_too_long(status: int, told: str) -> bool:
    if status == 413:
        return True
    if status == 429:
        return bool(_NEVER_FITS.search(told))
    # Some servers answer with 500 what others call 400.
    return (status in _REFUSED or status == 500) and bool(_TOO_LONG.search(told))
