"""Databases of memU as they are, read only: of 1.x, and of the later ones that know tracks and pages' contents.

Only what is asked for is read, in short transactions that cannot write.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Engine, FromClause, Text, cast, select
from sqlalchemy.engine import URL

from memu.errors import ConfigurationError
from memu.storage.engine import parse_url, show_url
from memu.storage.failures import translated
from memu.storage.legacy_rows import LegacyCategory, LegacyIds, LegacyItem, to_category, to_item
from memu.storage.legacy_tables import KINDS, OWN_COLUMNS, connect, find_tables
from memu.storage.legacy_values import to_text, to_vector
from memu.storage.scoped import chunks

__all__ = ["LegacyStore"]

Fields = Mapping[str, Any]

_VECTORS = ("embedding", "embedding_json")
_SAMPLE = 1000


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

    def vector_size(self) -> int:
        """The size of most of its vectors, of the first thousand; 0 where there is none."""
        sizes: Counter[int] = Counter()
        with self._reading() as connection:
            for name in ("items", "categories"):
                columns = [each for each in self._tables[name].c if each.name in _VECTORS]
                if columns:
                    rows = connection.execute(select(*columns).limit(_SAMPLE)).mappings()
                    sizes.update(len(found) for row in rows if (found := to_vector(dict(row))))
        return max(sizes, key=lambda size: (sizes[size], size), default=0)

    def ids(self, name: str, fields: Fields) -> LegacyIds:
        """The ids of a scope's "categories" or "items"."""
        with self._reading() as connection:
            statement = select(self._tables[name].c.id).where(*self._mine(name, fields, connection))
            found: dict[str, Any] = {}
            again: set[str] = set()
            nameless = 0
            for raw in connection.execute(statement).scalars():
                each = to_text(raw)
                if not each or any("\ud800" <= char <= "\udfff" for char in each):
                    nameless += 1
                elif each in found:
                    again.add(each)
                else:
                    found[each] = raw
        ids = tuple(found[each] for each in sorted(found))
        return LegacyIds(ids=ids, again=tuple(sorted(again)), nameless=nameless)

    def categories(self, fields: Fields, ids: Sequence[Any], *, vectors: bool) -> tuple[LegacyCategory, ...]:
        """The categories of a scope with these ids, in their order. ``vectors``: with their vectors."""
        return tuple(
            to_category(row, vectors=vectors) for row in self._rows("categories", fields, ids, vectors=vectors)
        )

    def items(self, fields: Fields, ids: Sequence[Any], *, vectors: bool) -> tuple[LegacyItem, ...]:
        """The items of a scope with these ids, in their order, with their categories' ids."""
        rows = self._rows("items", fields, ids, vectors=vectors)
        links = self._links(ids)
        named = {to_text(raw): raw for row in rows if (raw := row.get("resource_id")) is not None}
        sources = self._sources([named[each] for each in sorted(named)])
        items: list[LegacyItem] = []
        for row in rows:
            source = sources.get(to_text(row.get("resource_id")), ("", ""))
            items.append(to_item(row, source, links.get(to_text(row["id"]), ()), vectors=vectors))
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
            found = connection.execute(statement)
            return tuple(sorted((to_text(item), to_text(category)) for item, category in found))

    def unused_sources(self) -> tuple[tuple[str, str], ...]:
        """(URL, caption) of the resources that no item was made of."""
        sources, items = self._tables.get("sources"), self._tables["items"]
        if sources is None or "resource_id" not in items.c:
            return ()
        used = select(items.c.resource_id).where(items.c.resource_id == sources.c.id)
        statement = select(sources.c.url, sources.c.caption).where(~used.exists())
        with self._reading() as connection:
            found = connection.execute(statement)
            return tuple(sorted((to_text(url), to_text(caption)) for url, caption in found))

    def _rows(self, name: str, fields: Fields, ids: Sequence[Any], *, vectors: bool) -> Sequence[dict[str, Any]]:
        source = self._tables[name]
        wanted = [each for each in source.c if vectors or each.name not in _VECTORS]
        found: dict[str, dict[str, Any]] = {}
        with self._reading() as connection:
            mine = tuple(self._mine(name, fields, connection))
            for piece in chunks(ids):
                for row in connection.execute(select(*wanted).where(*mine, source.c.id.in_(piece))).mappings():
                    # Of several the first, as everywhere.
                    found.setdefault(to_text(row["id"]), dict(row))
        return [found[each] for raw in ids if (each := to_text(raw)) in found]

    def _mine(self, name: str, fields: Fields, connection: Connection) -> Iterator[ColumnElement[bool]]:
        server = connection.dialect.name == "postgresql"
        for each in self._owners(name):
            value = fields.get(each.name)
            # A text may be of a type that a server compares with none: an enumeration, or a time without end.
            like = cast(each, Text) if server and isinstance(value, str) else each
            yield each.is_(None) if value is None else like == value

    def _owners(self, name: str) -> list[ColumnElement[Any]]:
        return [each for each in self._tables[name].c if each.name not in OWN_COLUMNS]

    def _links(self, ids: Sequence[Any]) -> dict[str, tuple[str, ...]]:
        links = self._tables["links"]
        found: dict[str, list[str]] = {}
        with self._reading() as connection:
            for piece in chunks(ids):
                statement = select(links.c.item_id, links.c.category_id).where(links.c.item_id.in_(piece))
                for item, category in connection.execute(statement):
                    found.setdefault(to_text(item), []).append(to_text(category))
        return {item: tuple(sorted(set(categories))) for item, categories in found.items()}

    def _sources(self, ids: Sequence[Any]) -> dict[str, tuple[str, str]]:
        sources = self._tables.get("sources")
        found: dict[str, tuple[str, str]] = {}
        if sources is None:
            return found
        with self._reading() as connection:
            for piece in chunks(ids):
                statement = select(sources.c.id, sources.c.url, sources.c.caption).where(sources.c.id.in_(piece))
                found.update(
                    (to_text(each), (to_text(url), to_text(told)))
                    for each, url, told in connection.execute(statement)
                )
        return found

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(self._url), self._engine.connect() as connection, connection.begin():
            yield connection
