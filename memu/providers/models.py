"""The chat models of a run: one for each step that asks, over as few connections as their endpoints allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.patience import Patience
from memu.providers.prices import Price
from memu.providers.protocols import ChatModel, EndpointNotes
from memu.providers.transport import Transport

__all__ = ["PROFILES", "ChatModels", "choose_models"]

PROFILES = ("default", "extract", "fold", "overview")
"""The chat profiles; one that has no endpoint of its own is ``default``'s."""

# All tries of one call, with the waits between them, take so many times as long as one may: a server that hangs is
# asked again, a model that never ends is not for ever.
_TIMES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModels:
    """Which model each step asks. ``default`` is asked by steps without a profile of their own."""

    default: ChatModel
    extract: ChatModel
    fold: ChatModel
    overview: ChatModel

    @classmethod
    def of(cls, model: ChatModel) -> Self:
        """One model for every step."""
        return cls(default=model, extract=model, fold=model, overview=model)

    async def close(self) -> None:
        """Close every model once; a later call opens new connections."""
        distinct = {id(each): each for each in (self.default, self.extract, self.fold, self.overview)}
        for model in distinct.values():
            await model.close()


def choose_models(
    endpoints: Mapping[str, Endpoint],
    *,
    temperature: float | None = None,
    max_tokens: int | None = None,
    prices: Mapping[str, Price] | None = None,
    notes: EndpointNotes | None = None,
    timeout: float = 300.0,
    connections: int = 16,
) -> ChatModels | None:
    """A model for each profile, by name in ``endpoints``; None without a ``default``. Nothing is asked yet.

    Profiles with the same endpoint share one model, its connections and what was found out about it.

    Args:
        prices: by the model's name. connections: calls at once to one endpoint.
        timeout: seconds for one reply; on a laptop's processor, nothing comes before all of it is written.

    Raises:
        ConfigurationError: an address, a key or a dialect cannot be used.
    """
    default = endpoints.get("default")
    if default is None:
        return None
    patience = Patience(total=_TIMES * timeout, read=timeout)
    made: dict[Endpoint, HttpChatModel] = {}
    for name in PROFILES:
        endpoint = endpoints.get(name, default)
        if endpoint not in made:
            made[endpoint] = HttpChatModel(
                Transport(endpoint, patience=patience, connections=connections),
                temperature=temperature,
                max_tokens=max_tokens,
                price=(prices or {}).get(endpoint.model),
                notes=notes,
            )
    chosen = {name: made[endpoints.get(name, default)] for name in PROFILES}
    return ChatModels(**chosen)
