"""``memu.toml`` in a workspace's root: what a synced folder may say about its own sync, and nothing more."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from memu.errors import ConfigurationError, ReadError
from memu.ingest.ignore import parse_rules
from memu.ingest.paths import read_source

__all__ = ["PROJECT_FILE", "ProjectFile", "read_project_file"]

PROJECT_FILE = "memu.toml"
_MAX_SIZE = 1 << 20
_ALLOWED = ("ignore", "untrusted", "workspace")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """The settings of a synced folder. ``ignore`` and ``untrusted`` are gitignore patterns."""

    ignore: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
    workspace: str | None = None


def read_project_file(root: Path) -> ProjectFile:
    """The folder's own settings; all empty where it has no ``memu.toml`` (a symbolic link counts as none).

    Raises:
        ConfigurationError: it cannot be read, is no TOML, or holds anything but the three settings. Whoever can
            write into a folder must not be able to send it somewhere: endpoints, keys, store and output come
            from the caller, the environment or the user's own configuration only.
    """
    place = root / PROJECT_FILE
    if place.is_symlink() or not place.exists():
        return ProjectFile()
    try:
        parsed = tomllib.loads(read_source(root, PROJECT_FILE, max_size=_MAX_SIZE).decode("utf-8-sig"))
    except ReadError as error:
        raise ConfigurationError(f"{place}: {error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{place}: no valid TOML ({error}).") from error
    foreign = sorted(set(parsed) - set(_ALLOWED))
    if foreign:
        raise ConfigurationError(
            f"{place}: {', '.join(foreign)} cannot be set there. A synced folder may set only ignore, untrusted "
            "and workspace; give the rest as an argument, in the environment or in your own configuration."
        )
    return ProjectFile(
        ignore=_patterns(place, "ignore", parsed.get("ignore", [])),
        untrusted=_patterns(place, "untrusted", parsed.get("untrusted", [])),
        workspace=_name(place, parsed.get("workspace")),
    )


def _patterns(place: Path, setting: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ConfigurationError(f"{place}: {setting} must be a list of patterns.")
    patterns: list[str] = []
    for item in value:
        if not isinstance(item, str) or not list(parse_rules([item], setting)):
            raise ConfigurationError(f"{place}: {setting} holds {item!r}, which is no pattern.")
        patterns.append(item)
    return tuple(patterns)


def _name(place: Path, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ConfigurationError(f"{place}: workspace must be a name, as one line of text.")
    return value.strip()
