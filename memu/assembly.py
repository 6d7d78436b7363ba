"""The parts that a service is put together from, as the settings name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import URL

from memu.errors import ConfigurationError, RootError
from memu.export.private import ensure_private
from memu.memorize.extractors.extractive import ExtractiveExtractor
from memu.memorize.extractors.protocol import Extractor
from memu.providers.choice import choose_encoder
from memu.providers.protocols import ChatModel, Encoder
from memu.settings import STORE_FOLDER, Settings, locate_store, store_path
from memu.storage.database import Database

if TYPE_CHECKING:
    from memu.providers.models import ChatModels, MediaModels

__all__ = ["choose_chat_models", "choose_extractor", "choose_media_models", "choose_text_encoder", "default_store"]


def choose_chat_models(
    wanted: ChatModels | ChatModel | str | None, settings: Settings, database: Database
) -> ChatModels | None:
    """The models that are asked: those given, or with "auto" those of the settings; None for none.

    Raises:
        ConfigurationError: ``wanted`` is something else, or an endpoint cannot be used.
    """
    if wanted is None or (wanted == "auto" and settings.chat_model is None):
        return None
    # Loaded only where a model is to be asked.
    from memu.memorize.stored_notes import StoredNotes
    from memu.providers.models import ChatModels, choose_models

    if isinstance(wanted, ChatModels):
        return wanted
    if not isinstance(wanted, str):
        return ChatModels.of(wanted)
    if wanted != "auto":
        raise ConfigurationError(f'models={wanted!r}: give "auto", a chat model of your own, or None.')
    return choose_models(
        settings.endpoints(),
        temperature=settings.chat_temperature,
        max_tokens=settings.chat_max_tokens,
        prices=settings.prices,
        notes=StoredNotes(database),
        timeout=settings.chat_timeout,
        connections=settings.concurrency,
    )


def choose_media_models(wanted: MediaModels | str | None, settings: Settings) -> MediaModels | None:
    """Who looks at images and listens: those given, or with "auto" those of the settings; None for nobody.

    Raises:
        ConfigurationError: ``wanted`` is something else, or an endpoint cannot be used.
    """
    named = settings.vision_model or settings.audio_model
    if wanted is None or (wanted == "auto" and not named):
        return None
    from memu.providers.models import MediaModels, choose_media

    if isinstance(wanted, MediaModels):
        return wanted
    if wanted != "auto":
        raise ConfigurationError(f'media={wanted!r}: give "auto", models of your own, or None.')
    return choose_media(
        settings.endpoints(),
        max_tokens=settings.chat_max_tokens,
        prices=settings.prices,
        timeout=settings.chat_timeout,
        connections=settings.concurrency,
    )


def choose_text_encoder(wanted: Encoder | str | None, settings: Settings) -> Encoder | None:
    """The encoder given, or the one that a name or the settings mean; None for none.

    Raises:
        ConfigurationError: there is none of that name. ExtraMissing: its library is not installed.
    """
    chosen = settings.encoder if wanted == "auto" else wanted
    if not isinstance(chosen, str):
        return chosen
    return choose_encoder(chosen, settings.embed_endpoint(), settings.prices, calls_at_once=settings.concurrency)


def choose_extractor(models: ChatModels | None, settings: Settings) -> Extractor:
    """A model's extractor where there is one, else the one that quotes."""
    quotes = ExtractiveExtractor()
    if models is None:
        return quotes
    from memu.memorize.llm.extraction import LlmExtractor

    return LlmExtractor(fallback=quotes, context_tokens=settings.chat_context_tokens)


def default_store(folder: Path | None) -> str | URL:
    """The store in ``folder``, or without one the nearest at or above the current directory.

    Raises:
        RootError: there is no such folder. StoreError: there is no store to be found.
    """
    if folder is None:
        return URL.create("sqlite", database=str(locate_store(Path.cwd())))
    root = folder.expanduser().resolve()
    if root.is_file():
        raise RootError(f"{folder} is a file; give the folder that holds it. Nothing was changed.")
    if not root.is_dir():
        raise RootError(f"{folder}: there is no such folder; nothing was changed.")
    ensure_private(root / STORE_FOLDER)
    return URL.create("sqlite", database=str(store_path(root)))
