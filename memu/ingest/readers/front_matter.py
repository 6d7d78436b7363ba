"""YAML front matter: what a person said about a note before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import yaml

from memu.ingest.readers.dates import parse_time

__all__ = ["FrontMatter", "parse_front_matter"]

_SIZE_LIMIT = 32_768


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """The fields that memu understands; tags and category as written."""

    title: str | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    description: str = ""
    happened_at: datetime | None = None


class _PlainLoader(yaml.BaseLoader):
    """Every scalar is a string, as written; aliases, which can grow without end, are refused."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not read", None)
        return super().compose_node(parent, index)


def parse_front_matter(text: str) -> FrontMatter | None:
    """The fields of this YAML, or None when it is no mapping or cannot be read."""
    if len(text) > _SIZE_LIMIT:
        return None
    try:
        loaded = yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - builds nothing but str, list and dict
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    if loaded in (None, ""):
        return FrontMatter()
    if not isinstance(loaded, Mapping):
        return None
    fields = {key.strip().lower(): value for key, value in loaded.items() if isinstance(key, str)}
    categories = [*_words(fields.get("category")), *_words(fields.get("categories"))]
    tags = [word for name in ("tags", "tag", "keywords") for word in _words(fields.get(name))]
    return FrontMatter(
        title=_line(fields, "title", "name"),
        tags=tuple(dict.fromkeys([*tags, *categories[1:]])),
        category=categories[0] if categories else None,
        description=_line(fields, "description", "summary") or "",
        happened_at=next(
            filter(None, (parse_time(_line(fields, name) or "") for name in ("date", "created", "created_at"))),
            None,
        ),
    )


def _line(fields: Mapping[str, object], *names: str) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return None


def _words(value: object) -> list[str]:
    """A list, a comma string, or Obsidian's ``#a #b``: the words without ``#``."""
    if isinstance(value, str):
        spaced = value.split()
        parts = spaced if spaced and all(part.startswith("#") for part in spaced) else value.split(",")
    elif isinstance(value, list):
        parts = [item for item in value if isinstance(item, str)]
    else:
        return []
    return [word for part in parts if (word := part.strip().lstrip("#").strip())]
