"""What a server's no means: shorter, later, never, or another server. The words are those of the servers."""

from __future__ import annotations

import pytest

from memu.errors import ProviderError
from memu.providers.refusals import ContextExceeded, RequestRefused, is_final, refusal_of

pytestmark = pytest.mark.unit

TOO_LONG = [
    (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
    (400, "context_length_exceeded"),
    (400, "This endpoint's maximum context length is 32768 tokens."),
    (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    (413, "Request exceeds the maximum allowed number of bytes."),
    (413, ""),
    (400, "the request exceeds the available context size, try increasing it"),
    (
        500,
        "the request exceeds the available context size. try increasing the context size or enable context shift",
    ),
    (400, "The model is loaded with context length of only 4096 tokens, which is not enough."),
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    (400, "Invalid request: Your request exceeded model token limit: 8192"),
    (400, "Input token length too long"),
    (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
    (422, "Please reduce the length of the messages."),
    (429, "Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000."),
]
NOT_TOO_LONG = [
    (400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."),
    (400, "Unsupported parameter: 'max_tokens' is not supported with this model."),
    (400, "Invalid schema for response_format 'reply'"),
    (401, "Incorrect API key"),
    (404, "The model does not exist; its context length is unknown."),
    (429, "Rate limit reached for requests"),
    (429, "You exceeded your current quota, please check your plan and billing details."),
    (500, "The server had an error"),
    (503, "Loading model"),
]


@pytest.mark.parametrize(("status", "told"), TOO_LONG)
def test_f40_a_prompt_that_is_too_long_is_told_from_other_refusals(status: int, told: str) -> None:
    error = refusal_of(status, told, "no")
    assert isinstance(error, ContextExceeded)
    assert isinstance(error, RequestRefused)
    assert error.status == status
    assert status < 429 or is_final(status, told)


@pytest.mark.parametrize(("status", "told"), NOT_TOO_LONG)
def test_another_refusal_is_not_taken_for_one_of_length(status: int, told: str) -> None:
    error = refusal_of(status, told, "no")
    assert isinstance(error, ProviderError)
    assert not isinstance(error, ContextExceeded)
    assert isinstance(error, RequestRefused) == (status in (400, 413, 422))


@pytest.mark.parametrize(
    ("told", "final"),
    [
        ("You exceeded your current quota, please check your plan and billing details.", True),
        ("insufficient_quota", True),
        ("Insufficient Balance", True),
        ("Rate limit reached for requests", False),
        ("Your tokens per minute are used up: Limit 10000, Used 9000, Requested 2000.", False),
        ("", False),
    ],
)
def test_an_account_without_money_is_not_waited_for(told: str, final: bool) -> None:
    assert is_final(429, told) is final
