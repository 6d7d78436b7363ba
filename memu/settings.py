"""Settings: an argument wins over ``MEMU_*`` in the environment, that over the user's config file, that over
the default.

The config file is ``config.toml`` in the user's own configuration directory (``MEMU_CONFIG`` names another
one; set but empty, it means none). A synced folder's files never set anything here.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from memu.errors import ConfigurationError, ScopeError, StoreError
from memu.providers.endpoint import Endpoint
from memu.records import Scope, ScopeValue

__all__ = [
    "STORE_FOLDER",
    "Endpoint",
    "Settings",
    "WorkspaceScope",
    "conditions_of",
    "config_file",
    "locate_store",
    "scope_of",
    "store_path",
]

STORE_FOLDER = ".memu"
_STORE_FILE = "memu.sqlite3"
_ANY_OF = "__in"
_PUBLIC_OPENAI = "https://api.openai.com/v1"


class WorkspaceScope(BaseModel):
    """The default scope model: whose memory it is. An app may give its own model instead."""

    model_config = ConfigDict(extra="forbid")

    user_id: str | None = Field(default=None, min_length=1)
    agent_id: str | None = Field(default=None, min_length=1)


class Settings(BaseSettings):
    """Every setting. Make one with :meth:`load`, which turns what is wrong into a ConfigurationError."""

    model_config = SettingsConfigDict(env_prefix="MEMU_", env_ignore_empty=True, extra="forbid", frozen=True)

    db: str | None = None
    """Database URL. None: ``.memu/memu.sqlite3`` in the synced folder."""
    out: Path | None = None
    """Folder that holds the exported trees. None: ``.memu`` in the synced folder."""
    encoder: str = "auto"
    """``auto`` (``embed_model`` if set, else the embedded one where ``memu[local]`` is installed), ``none``,
    or the path of an ONNX file."""
    max_file_bytes: int = Field(default=10_000_000, gt=0)
    """Larger files are skipped, with the reason."""
    concurrency: int = Field(default=4, gt=0, le=256)
    """Files that are worked on at once."""
    resources: Literal["link", "copy"] = "link"
    """Whether the exported tree links to the sources or holds redacted copies of them."""
    chat_model: str | None = None
    chat_base_url: str | None = None
    chat_api_key: SecretStr | None = None
    chat_dialect: str | None = None
    embed_model: str | None = None
    embed_base_url: str | None = None
    embed_api_key: SecretStr | None = None
    embed_dialect: str | None = None
    """The kind of server, where its host does not tell; see ``memu.providers.dialects``."""
    embed_dimensions: int | None = Field(default=None, gt=0)
    """How many components a vector is to have; None leaves it to the model and sends nothing."""

    @classmethod
    def load(cls, **arguments: Any) -> Self:
        """The settings in force; an argument that is None leaves its setting to the environment.

        Raises:
            ConfigurationError: a value does not fit, or the config file is unreadable or names an unknown setting.
        """
        try:
            return cls(**{name: value for name, value in arguments.items() if value is not None})
        except ValidationError as error:
            raise ConfigurationError(_explain(error)) from None

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

    def chat_endpoint(self, environment: Mapping[str, str] | None = None) -> Endpoint | None:
        """The chat endpoint; None unless a chat model is set."""
        chosen = _endpoint(self.chat_model, self.chat_base_url, self.chat_api_key, environment)
        return replace(chosen, dialect=self.chat_dialect) if chosen else None

    def embed_endpoint(self, environment: Mapping[str, str] | None = None) -> Endpoint | None:
        """The embedding endpoint; None unless an embedding model is set."""
        chosen = _endpoint(self.embed_model, self.embed_base_url, self.embed_api_key, environment)
        return replace(chosen, dialect=self.embed_dialect, dimensions=self.embed_dimensions) if chosen else None

    def notices(self) -> tuple[str, ...]:
        """What is set but has no effect: one line each, for the user to see."""
        lines = []
        if self.chat_model:
            lines.append("A chat model is set, but this release extracts without one; nothing is sent to it.")
        if self.embed_model and self.encoder != "auto":
            lines.append(
                f"An embedding model is set, but so is the encoder ({self.encoder}), which wins; nothing is sent."
            )
        return tuple(lines)


def config_file() -> Path | None:
    """The user's config file, whether or not it exists; None when ``MEMU_CONFIG`` is set but empty."""
    named = os.environ.get("MEMU_CONFIG")
    if named is not None:
        return Path(named) if named else None
    import platformdirs

    return Path(platformdirs.user_config_dir("memu", appauthor=False)) / "config.toml"


def store_path(folder: Path) -> Path:
    """Where the store of a synced folder lies when no database is named."""
    return folder / STORE_FOLDER / _STORE_FILE


def locate_store(start: Path) -> Path:
    """The nearest store at or above ``start``, as git finds its repository.

    Raises:
        StoreError: there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (found := store_path(folder)).is_file():
            return found
    raise StoreError(
        f"No {STORE_FOLDER}/{_STORE_FILE} in {start} or above it. Sync a folder first (memu sync FOLDER), "
        "or name the database with --db or MEMU_DB."
    )


def scope_of(model: type[BaseModel], fields: Mapping[str, Any] | None = None) -> Scope:
    """The scope that ``fields`` name, checked against the scope ``model``. No fields: the empty scope, unless
    the model requires one.

    Raises:
        ScopeError: a field is unknown, its value does not fit, or it is None.
    """
    given = dict(fields or {})
    known = ", ".join(model.model_fields) or "none"
    for name, value in given.items():
        if name not in model.model_fields:
            raise ScopeError(f"Unknown scope field {name!r}; known fields: {known}.")
        if value is None:
            raise ScopeError(f"Scope field {name!r} is None; leave the field out to mean the scope without it.")
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{_place(item)}: {item['msg']}" for item in error.errors())
        raise ScopeError(f"The scope does not fit: {problems}.") from None
    return Scope.of(checked.model_dump(mode="json", include=set(given)))


def conditions_of(
    model: type[BaseModel], where: Mapping[str, Any] | None = None
) -> dict[str, tuple[ScopeValue, ...]]:
    """Field → the values that match it: one for ``field``, several for ``field__in``. ``where`` is not changed.

    Raises:
        ScopeError: a field is unknown or given twice, a value does not fit or is None, a list is empty.
    """
    conditions: dict[str, tuple[ScopeValue, ...]] = {}
    for key, value in (where or {}).items():
        name = key.removesuffix(_ANY_OF)
        if name in conditions:
            raise ScopeError(f"Scope field {name!r} is given twice.")
        several = key.endswith(_ANY_OF) and key not in model.model_fields
        if several and (isinstance(value, str) or not isinstance(value, Collection) or not value):
            raise ScopeError(f"{key!r} takes a list of at least one value.")
        values = tuple(value) if several else (value,)
        conditions[name] = tuple(_check_value(model, name, each) for each in values)
    return conditions


def _check_value(model: type[BaseModel], name: str, value: Any) -> ScopeValue:
    if name not in model.model_fields:
        raise ScopeError(f"Unknown scope field {name!r}; known fields: {', '.join(model.model_fields) or 'none'}.")
    return Scope.of({name: value}).fields[name]


def _endpoint(
    model: str | None, base_url: str | None, key: SecretStr | None, environment: Mapping[str, str] | None
) -> Endpoint | None:
    if not model:
        return None
    outside = os.environ if environment is None else environment
    public = outside.get("OPENAI_BASE_URL") or _PUBLIC_OPENAI
    url = base_url or public
    shared = outside.get("OPENAI_API_KEY")
    # A key that lies in the environment for one host is never sent to another.
    if key is None and shared and _host(url) == _host(public):
        key = SecretStr(shared)
    return Endpoint(model=model, base_url=url, api_key=key)


def _host(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()


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


def _explain(error: ValidationError) -> str:
    """What does not fit, without the values: one of them may be a key."""
    problems = "; ".join(f"{_place(item)}: {item['msg']}" for item in error.errors())
    return f"A setting does not fit (argument, MEMU_* or config file): {problems}."


def _place(item: Any) -> str:
    return ".".join(str(part) for part in item["loc"]) or "value"
