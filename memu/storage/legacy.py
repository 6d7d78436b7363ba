"""Databases of memU as they are, read only: of 1.x, and of the later ones that know tracks and pages' contents.

Only what is asked for is read, in short transactions that cannot write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Engine, FromClause, select
from sqlalchemy.engine import URL

from memu.errors import ConfigurationError
from memu.storage.engine import by_code_point, parse_url, show_url
from memu.storage.failures import translated
from memu.storage.legacy_tables import (
    KINDS,
    OWN_COLUMNS,
    Vector,
    connect,
    find_tables,
    to_names,
    to_time,
    to_vector,
)
from memu.storage.scoped import chunks

__all__ = ["LegacyCategory", "LegacyItem", "LegacyStore"]

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyCategory:
    """A category, later called a file. ``track`` is None where the database knows none."""

    id: str
    name: str
    description: str
    content: str
    track: str | None
    created_at: datetime | None
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyItem:
    """An item, later called an entry. source_url, source_caption: of the resource that it was made of."""

    id: str
    text: str
    memory_type: str
    happened_at: datetime | None
    created_at: datetime | None
    source_url: str = ""
    source_caption: str = ""
    extra: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    vector: Vector | None = None


class LegacyStore:
    """One database of memU. ``shown`` is its URL without the password."""

    def __init__(self, engine: Engine, url: URL, tables: Mapping[str, FromClause]) -> None:
        self.shown = show_url(url)
        self._engine = engine
        self._url = url
        self._tables = tables

    @classmethod
    def open(cls, url: str) -> Self:
        """Look at the database.

        Raises:
            ConfigurationError: it holds no tables of memU's. StoreError: it is not there or does not answer.
        """
        parsed = parse_url(url)
        engine = connect(parsed)
        try:
            with translated(parsed), engine.connect() as connection:
                tables = find_tables(connection)
        except BaseException:
            engine.dispose()
            raise
        missing = {"items", "categories", "links"} - tables.keys()
        if missing:
            engine.dispose()
            wanted = ", ".join(KINDS[name][0] for name in sorted(missing))
            raise ConfigurationError(
                f"{show_url(parsed)} is no database of memU: it has no {wanted}. "
                "Name its schema in the URL if it is not the one that is searched."
            )
        return cls(engine, parsed, tables)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @property
    def scope_fields(self) -> tuple[str, ...]:
        """The columns that say whose a row is."""
        names = {each.name for name in ("items", "categories") for each in self._tables[name].c}
        return tuple(sorted(names - OWN_COLUMNS))

    def scopes(self) -> tuple[dict[str, Any], ...]:
        """Whose rows there are: the fields that are not null, each combination once."""
        found: dict[str, dict[str, Any]] = {}
        with self._reading() as connection:
            for name in ("categories", "items"):
                columns = self._owners(name)
                statement = select(*columns).distinct() if columns else select(self._tables[name].c.id).limit(1)
                for row in connection.execute(statement).mappings():
                    fields = {each.name: row[each.name] for each in columns if row[each.name] is not None}
                    found.setdefault(json.dumps(fields, sort_keys=True, default=str), fields)
        return tuple(found[key] for key in sorted(found))

    def categories(self, fields: Fields, *, vectors: bool) -> tuple[LegacyCategory, ...]:
        """The categories of a scope by id. ``vectors``: with their vectors."""
        rows = self._rows("categories", fields, vectors=vectors)
        return tuple(
            LegacyCategory(
                id=str(row["id"]),
                name=row.get("name") or "",
                description=row.get("description") or "",
                content=row.get("content") or row.get("summary") or "",
                track=row.get("track"),
                created_at=to_time(row.get("created_at")),
                vector=to_vector(row) if vectors else None,
            )
            for row in rows
        )

    def items(self, fields: Fields, *, after: str, limit: int, vectors: bool) -> tuple[LegacyItem, ...]:
        """At most ``limit`` items of a scope by id, those after the id ``after``, with their categories' ids."""
        rows = self._rows("items", fields, vectors=vectors, after=after, limit=limit)
        ids = [str(row["id"]) for row in rows]
        links = self._links(ids)
        sources = self._sources(sorted({str(row["resource_id"]) for row in rows if row.get("resource_id")}))
        items: list[LegacyItem] = []
        for row, each in zip(rows, ids, strict=True):
            url, caption = sources.get(str(row.get("resource_id")), ("", ""))
            items.append(
                LegacyItem(
                    id=each,
                    text=row.get("summary") or row.get("content") or "",
                    memory_type=row.get("memory_type") or "",
                    happened_at=to_time(row.get("happened_at")),
                    created_at=to_time(row.get("created_at")),
                    source_url=url,
                    source_caption=caption,
                    extra=tuple(sorted(to_names(row.get("extra")))),
                    categories=links.get(each, ()),
                    vector=to_vector(row) if vectors else None,
                )
            )
        return tuple(items)

    def loose_links(self) -> tuple[tuple[str, str], ...]:
        """(item id, category id) of the links whose item is not there."""
        items, links = self._tables["items"], self._tables["links"]
        statement = (
            select(links.c.item_id, links.c.category_id)
            .outerjoin_from(links, items, links.c.item_id == items.c.id)
            .where(items.c.id.is_(None))
        )
        with self._reading() as connection:
            return tuple(sorted((str(item), str(category)) for item, category in connection.execute(statement)))

    def unused_sources(self) -> tuple[tuple[str, str], ...]:
        """(URL, caption) of the resources that no item was made of."""
        sources, items = self._tables.get("sources"), self._tables["items"]
        if sources is None:
            return ()
        used = select(items.c.resource_id).where(items.c.resource_id == sources.c.id)
        statement = select(sources.c.url, sources.c.caption).where(~used.exists())
        with self._reading() as connection:
            return tuple(sorted((str(url), caption or "") for url, caption in connection.execute(statement)))

    def _rows(
        self, name: str, fields: Fields, *, vectors: bool, after: str | None = None, limit: int | None = None
    ) -> Sequence[dict[str, Any]]:
        source = self._tables[name]
        wanted = [each for each in source.c if vectors or not each.name.startswith("embedding")]
        with self._reading() as connection:
            key = by_code_point(connection, source.c.id)
            statement = select(*wanted).where(*self._mine(name, fields)).order_by(key).limit(limit)
            if after is not None:
                statement = statement.where(key > after)
            return [dict(row) for row in connection.execute(statement).mappings()]

    def _mine(self, name: str, fields: Fields) -> Iterator[ColumnElement[bool]]:
        for each in self._owners(name):
            value = fields.get(each.name)
            yield each.is_(None) if value is None else each == value

    def _owners(self, name: str) -> list[ColumnElement[Any]]:
        return [each for each in self._tables[name].c if each.name not in OWN_COLUMNS]

    def _links(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        links = self._tables["links"]
        found: dict[str, list[str]] = {}
        with self._reading() as connection:
            for piece in chunks(ids):
                statement = select(links.c.item_id, links.c.category_id).where(links.c.item_id.in_(piece))
                for item, category in connection.execute(statement):
                    found.setdefault(str(item), []).append(str(category))
        return {item: tuple(sorted(set(categories))) for item, categories in found.items()}

    def _sources(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        sources = self._tables.get("sources")
        found: dict[str, tuple[str, str]] = {}
        if sources is None:
            return found
        with self._reading() as connection:
            for piece in chunks(ids):
                statement = select(sources.c.id, sources.c.url, sources.c.caption).where(sources.c.id.in_(piece))
                found.update(
                    (str(each), (url or "", told or "")) for each, url, told in connection.execute(statement)
                )
        return found

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(self._url), self._engine.connect() as connection, connection.begin():
            yield connection
