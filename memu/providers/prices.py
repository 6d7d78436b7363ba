"""What calls cost: USD per million tokens, as the user gives them for each model; nobody else's list is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memu.errors import ConfigurationError
from memu.providers.protocols import ChatMessage
from memu.records import Usage

__all__ = ["Price", "estimate_tokens", "foresee_cost", "price_usage", "require_prices"]

Price = tuple[float, float]
"""USD per million prompt tokens, and per million completion tokens."""

_MILLION = 1_000_000
# What a reply is foreseen to be where nothing bounds it: more than most are.
_USUAL_REPLY_TOKENS = 1_500
_BYTES_PER_TOKEN = 4
# Servers count an image as some hundred to some thousand, by its size.
_IMAGE_TOKENS = 1_600


def price_usage(usage: Usage, price: Price | None) -> Usage:
    """The usage with its ``cost``; unchanged without a price."""
    if price is None:
        return usage
    cost = (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / _MILLION
    return replace(usage, cost=cost)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: one for four bytes of UTF-8, which fits words and Chinese alike."""
    return len(text.encode("utf-8", errors="replace")) // _BYTES_PER_TOKEN + 1


def foresee_cost(messages: Sequence[ChatMessage], price: Price | None, max_tokens: int | None) -> float:
    """USD that a reply to ``messages`` may come to; 0 without a price."""
    if price is None:
        return 0.0
    prompt = sum(estimate_tokens(each.content) + _IMAGE_TOKENS * len(each.images) for each in messages)
    return (prompt * price[0] + (max_tokens or _USUAL_REPLY_TOKENS) * price[1]) / _MILLION


def require_prices(models: Iterable[str], prices: Mapping[str, Price]) -> None:
    """See that a cap of money can be kept.

    Raises:
        ConfigurationError: one of the models has no price.
    """
    if missing := sorted(set(models) - prices.keys()):
        raise ConfigurationError(
            f"A cap of money needs the price of {', '.join(missing)}: give it in the config file, for example "
            f'prices = {{ "{missing[0]}" = [0.15, 0.60] }} (USD per million prompt and completion tokens), or cap '
            "the calls with --max-calls."
        )
