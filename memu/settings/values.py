"""Every setting, where each comes from, and what the settings mean for models."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from memu.errors import ConfigurationError
from memu.providers.endpoint import Endpoint
from memu.records import Scope
from memu.settings.faults import explain
from memu.settings.profiles import CHAT_PROFILES, MEDIA_PROFILES, Told, resolve_endpoint
from memu.settings.scopes import WorkspaceScope, conditions_of, fit

__all__ = ["Settings", "config_file"]

Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """Every setting. Make one with :meth:`load`, which turns what is wrong into a ConfigurationError."""

    model_config = SettingsConfigDict(env_prefix="MEMU_", env_ignore_empty=True, extra="forbid", frozen=True)

    db: str | None = None
    """Database URL. None: ``.memu/memu.sqlite3`` in the synced folder."""
    out: Path | None = None
    """Folder that holds the exported trees. None: ``.memu`` in the synced folder."""
    encoder: str = "auto"
    """``auto`` (``embed_model`` if set, else the embedded one where the extra ``local`` is installed), ``none``,
    or the path of an ONNX file."""
    max_file_bytes: int = Field(default=10_000_000, gt=0)
    """Larger files are skipped, with the reason."""
    concurrency: int = Field(default=8, gt=0, le=256)
    """Files, and then pages, that are worked on at once."""
    resources: Literal["link", "copy"] = "link"
    """Whether the exported tree links to the sources or holds redacted copies of them."""
    chat_model: str | None = None
    """The model that reads sources and writes pages; without it no model does."""
    chat_base_url: str | None = None
    chat_api_key: SecretStr | None = None
    chat_dialect: str | None = None
    """The kind of server, where its host does not tell; see ``memu.providers.dialects``."""
    chat_context_tokens: int = Field(default=16_000, ge=2_000)
    """How many tokens the models read at once, the reply included; longer texts are cut into chunks."""
    chat_max_tokens: int | None = Field(default=None, gt=0)
    """How long a reply may be; None leaves it to the server and sends nothing."""
    chat_temperature: float | None = Field(default=None, ge=0, le=2)
    """None leaves it to the server and sends nothing."""
    chat_timeout: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    """Seconds to wait for one reply."""
    extract_model: str | None = None
    """The model that reads sources, where it is not ``chat_model``."""
    extract_base_url: str | None = None
    extract_api_key: SecretStr | None = None
    extract_dialect: str | None = None
    fold_model: str | None = None
    """The model that writes pages, where it is not ``chat_model``."""
    fold_base_url: str | None = None
    fold_api_key: SecretStr | None = None
    fold_dialect: str | None = None
    overview_model: str | None = None
    """The model that writes the overviews, where it is not ``chat_model``."""
    overview_base_url: str | None = None
    overview_api_key: SecretStr | None = None
    overview_dialect: str | None = None
    vision_model: str | None = None
    """The model that looks at images; without it none does, ``chat_model`` neither."""
    vision_base_url: str | None = None
    vision_api_key: SecretStr | None = None
    vision_dialect: str | None = None
    audio_model: str | None = None
    """The model that writes down what recordings say; without it none does."""
    audio_base_url: str | None = None
    audio_api_key: SecretStr | None = None
    audio_dialect: str | None = None
    embed_model: str | None = None
    embed_base_url: str | None = None
    embed_api_key: SecretStr | None = None
    embed_dialect: str | None = None
    embed_dimensions: int | None = Field(default=None, gt=0)
    """How many components a vector is to have; None leaves it to the model and sends nothing."""
    prices: dict[str, tuple[Money, Money]] = Field(default_factory=dict)
    """Model name → USD per million prompt tokens, and per million completion tokens."""
    local_only: bool = False
    """Refuse every endpoint that is not on this machine."""
    local_only_scopes: tuple[dict[str, Any], ...] = ()
    """Scopes, as fields or ``where`` filters, whose texts go to no endpoint that is not on this machine."""

    @classmethod
    def load(cls, **arguments: Any) -> Self:
        """The settings in force; an argument that is None leaves its setting to the environment.

        Raises:
            ConfigurationError: a value does not fit, or the config file is unreadable or names an unknown setting.
        """
        try:
            return cls(**{name: value for name, value in arguments.items() if value is not None})
        except ValidationError as error:
            raise ConfigurationError(explain(error)) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, environment, the user's config file; no ``.env`` of whatever folder we stand in."""
        return init_settings, env_settings, InitSettingsSource(settings_cls, _read_config())

    def profile_endpoint(self, name: str, environment: Mapping[str, str] | None = None) -> Endpoint | None:
        """The endpoint of ``default`` (the chat model), ``extract``, ``fold``, ``overview``, ``vision``, ``audio``
        or ``embed``.

        None without a model of that name; without a chat model none of the first four exists.
        """
        outside = os.environ if environment is None else environment
        if name == "embed":
            endpoint = resolve_endpoint(self._told("embed"), outside)
            return replace(endpoint, dimensions=self.embed_dimensions) if endpoint else None
        default = resolve_endpoint(self._told("chat"), outside)
        if name in MEDIA_PROFILES:
            # Address and key may be those of the chat model, but what it is shown is said for itself.
            told = self._told(name)
            return resolve_endpoint(told, outside, default) if told.model else None
        if default is None or name == "default":
            return default
        return resolve_endpoint(self._told(name), outside, default)

    def embed_endpoint(self, environment: Mapping[str, str] | None = None) -> Endpoint | None:
        """The embedding endpoint; None unless an embedding model is set."""
        return self.profile_endpoint("embed", environment)

    def endpoints(self, environment: Mapping[str, str] | None = None) -> dict[str, Endpoint]:
        """The endpoints in use, by profile."""
        names = ("default", *CHAT_PROFILES, *MEDIA_PROFILES, *(("embed",) if self.encoder == "auto" else ()))
        found = {name: self.profile_endpoint(name, environment) for name in names}
        return {name: endpoint for name, endpoint in found.items() if endpoint is not None}

    def is_local_only(self, scope: Scope, model: type[BaseModel] = WorkspaceScope) -> bool:
        """Whether texts of ``scope`` may go to no endpoint but those on this machine.

        Raises:
            ScopeError: one of ``local_only_scopes`` does not fit the scope ``model``.
        """
        demands = [fit(model, conditions_of(model, where), [scope]) for where in self.local_only_scopes]
        fields = scope.fields
        return self.local_only or any(
            all(name in fields and fields[name] in values for name, values in demand.items()) for demand in demands
        )

    def notices(self) -> tuple[str, ...]:
        """What is set but has no effect: one line each, for the user to see."""
        lines = []
        if not self.chat_model and (unused := [name for name in CHAT_PROFILES if self._told(name).model]):
            told = ", ".join(f"{name}_model" for name in unused)
            lines.append(f"{told} is set, but no chat_model; nothing is sent to it.")
        if self.embed_model and self.encoder != "auto":
            lines.append(
                f"An embedding model is set, but so is the encoder ({self.encoder}), which wins; nothing is sent."
            )
        return tuple(lines)

    def _told(self, name: str) -> Told:
        fields = ("model", "base_url", "api_key", "dialect")
        return Told(**{field: getattr(self, f"{name}_{field}") for field in fields})


def config_file() -> Path | None:
    """The user's config file, whether or not it exists; None when ``MEMU_CONFIG`` is set but empty."""
    named = os.environ.get("MEMU_CONFIG")
    if named is not None:
        return Path(named) if named else None
    import platformdirs

    return Path(platformdirs.user_config_dir("memu", appauthor=False)) / "config.toml"


def _read_config() -> dict[str, Any]:
    path = config_file()
    if path is None or (not path.exists() and "MEMU_CONFIG" not in os.environ):
        return {}
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"The config file {path} cannot be read: {error}.") from error
    if unknown := settings.keys() - Settings.model_fields.keys():
        known = ", ".join(Settings.model_fields)
        raise ConfigurationError(f"{path} sets unknown {', '.join(sorted(unknown))}; known settings: {known}.")
    return settings
