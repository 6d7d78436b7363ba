"""The chat models of a run: one for each step that asks, over as few connections as their endpoints allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.hearing import HttpTranscriber
from memu.providers.patience import Patience
from memu.providers.prices import Price
from memu.providers.protocols import ChatModel, EndpointNotes, Transcriber
from memu.providers.transport import Transport

__all__ = ["MEDIA_PROFILES", "PROFILES", "ChatModels", "MediaModels", "choose_media", "choose_models"]

PROFILES = ("default", "extract", "fold", "overview")
"""The chat profiles; one that has no endpoint of its own is ``default``'s."""

MEDIA_PROFILES = ("vision", "audio")
"""The profiles that look at images and listen to recordings; nobody stands in for one that has no model."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaModels:
    """Who looks at images, and who listens to recordings; None where nobody does."""

    vision: ChatModel | None = None
    audio: Transcriber | None = None

    async def close(self) -> None:
        """Close both; a later call opens new connections."""
        for model in (self.vision, self.audio):
            if model is not None:
                await model.close()


def choose_media(
    endpoints: Mapping[str, Endpoint],
    *,
    max_tokens: int | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 300.0,
    connections: int = 16,
) -> MediaModels | None:
    """Models for the media whose profiles are among ``endpoints``; None where neither is. Nothing is asked yet.

    Raises:
        ConfigurationError: an address, a key or a dialect cannot be used.
    """
    patience = Patience(total=_TIMES * timeout, read=timeout)
    found = {
        name: Transport(endpoints[name], patience=patience, connections=connections)
        for name in MEDIA_PROFILES
        if name in endpoints
    }
    if not found:
        return None
    known = {name: (prices or {}).get(each.endpoint.model) for name, each in found.items()}
    vision, audio = found.get("vision"), found.get("audio")
    return MediaModels(
        vision=HttpChatModel(vision, max_tokens=max_tokens, price=known["vision"]) if vision else None,
        audio=HttpTranscriber(audio, price=known["audio"]) if audio else None,
    )


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
