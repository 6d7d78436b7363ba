"""The units of search of a scope, with their postings and vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, func, select

from memu.languages import NO_LANGUAGE
from memu.records import Kind, Passage
from memu.storage.ids import new_passage_id
from memu.storage.matching import match_in_order
from memu.storage.owners import FoundPassage, find_owners
from memu.storage.rows import PASSAGE, passage_values, to_passage
from memu.storage.scoped import Group, chunks, linked
from memu.storage.statements import find_where, within
from memu.storage.tables import (
    passage,
    passage_vector,
    posting,
    recall_entry,
)
from memu.storage.vector_packing import pack, unpack
from memu.storage.vectors import VectorRow
from memu.storage.words import KIND_CODES, IndexedPassage, index_passage

__all__ = ["Passages"]

NewPassage = Passage | IndexedPassage


class Passages(Group):
    """Rows of ``passage``, ``posting`` and ``passage_vector``.

    A passage of equal owner, header, text, language and kind keeps its id, postings and vectors; only its line
    numbers and the like are set in place. Passages may be given with their terms (``index_passage``); a new one
    that comes without them is indexed on the spot.
    """

    def replace_for_resource(
        self, resource_id: str, passages: Sequence[NewPassage], *, since: int = 0
    ) -> tuple[str, ...]:
        """Make ``passages`` all of a source, or all from the ordinal ``since`` on; returns their ids in order."""
        mine = passage.c.resource_id == resource_id
        later = self._scoped.select(*PASSAGE, of=passage).where(mine, passage.c.ordinal >= since)
        known = _in_order(self._connection.execute(later)) if since else self.of_resource(resource_id)
        return self._replace(known, passages, lambda _: {"resource_id": resource_id})

    def replace_for_entries(
        self,
        resource_id: str,
        passages: Sequence[NewPassage],
        *,
        first: bool = False,
        of: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Make ``passages``, each with its ``entry_id``, all of the entries of a source; returns their ids.

        ``first``: the source had no entries before, so there are none to ask for. ``of``: the entries that the
        passages are in the place of, where others of the source keep theirs.
        """
        known = () if first else self.of_entries(resource_id) if of is None else self._of_these(of)
        return self._replace(known, passages, lambda each: {"entry_id": each.entry_id})

    def replace_for_page(self, file_id: str, passages: Sequence[NewPassage]) -> tuple[str, ...]:
        """Make ``passages`` all of a page; returns their ids in order."""
        return self._replace(self.of_page(file_id), passages, lambda _: {"file_id": file_id})

    def of_resource(self, resource_id: str) -> tuple[Passage, ...]:
        """A source's own passages, in order."""
        return _in_order(self._scoped.find(PASSAGE, passage, resource_id=resource_id))

    def count_of(self, resource_id: str, *, before: int) -> int:
        """How many of a source's own passages have an ordinal under ``before``."""
        mine = (passage.c.resource_id == resource_id) & (passage.c.ordinal < before)
        return int(
            self._connection.execute(self._scoped.select(func.count(), of=passage).where(mine)).scalar_one()
        )

    def at_places(self, resource_ids: Sequence[str], places: Sequence[str]) -> tuple[Passage, ...]:
        """The passages of these sources that stand at one of these places, by source and in order."""
        found: list[Passage] = []
        for piece in chunks(resource_ids):
            own = self._scoped.select(*PASSAGE, of=passage).where(passage.c.resource_id.in_(piece))
            for some in chunks(places):
                found += map(to_passage, self._connection.execute(own.where(passage.c.place.in_(some))))
        return tuple(sorted(found, key=lambda each: (each.resource_id or "", each.ordinal)))

    def of_entries(self, resource_id: str) -> tuple[Passage, ...]:
        """The passages of a source's entries."""
        return _in_order(self._scoped.run(_of_entries(), resource_id=resource_id))

    def of_page(self, file_id: str) -> tuple[Passage, ...]:
        """A page's own passages, in order."""
        return _in_order(self._scoped.find(PASSAGE, passage, file_id=file_id))

    def without_vector(
        self, encoder_id: str, *, limit: int, after: str | None = None, languages: Collection[str] = ()
    ) -> tuple[Passage, ...]:
        """At most ``limit`` passages that this encoder has yet to see, by id, those after the id ``after``.

        Passages of entries that are not shown are left out: no search can find them. So are those in another
        language than ``languages``, the ones that the encoder knows (none named: all), and those in none: they
        would weigh nothing.
        """
        key = passage.c.id
        statement = self._missing(encoder_id, languages, *PASSAGE).order_by(key).limit(limit)
        if after is not None:
            statement = statement.where(key > after)
        return tuple(to_passage(row) for row in self._connection.execute(statement))

    def count_without_vector(self, encoder_id: str, *, languages: Collection[str] = ()) -> int:
        """How many passages ``without_vector`` would give in all."""
        return int(self._connection.execute(self._missing(encoder_id, languages, func.count())).scalar_one())

    def count(self) -> int:
        """How many passages the scope has."""
        return int(self._connection.execute(self._scoped.select(func.count(), of=passage)).scalar_one())

    def add_vectors(self, encoder_id: str, rows: Sequence[VectorRow]) -> int:
        """Store vectors, replacing older ones of the same encoder; returns how many.

        A passage that is gone by now is passed over: its source changed while the encoder was at work.
        """
        living: set[str] = set()
        for piece in chunks([row.passage_id for row in rows]):
            statement = self._scoped.select(passage.c.id, of=passage).where(passage.c.id.in_(piece))
            living.update(self._connection.execute(statement.with_for_update(read=True, key_share=True)).scalars())
        # The last of several for one passage stands, as if they had come one after another.
        kept = list({row.passage_id: row for row in rows if row.passage_id in living}.values())
        values: list[dict[str, Any]] = [
            {"passage_id": row.passage_id, "encoder_id": encoder_id, "vector": row.vector, "scale": row.scale}
            for row in kept
        ]
        if self._connection.dialect.name != "sqlite":
            self._scoped.upsert(passage_vector, values, ("vector", "scale"))
            return len(values)
        unpack(self._scoped, encoder_id, [row.passage_id for row in kept])
        places = pack(self._scoped, encoder_id, kept)
        self._scoped.insert(
            passage_vector, [value | {"place": places.get(value["passage_id"])} for value in values]
        )
        return len(values)

    def drop_vectors(self, encoder_id: str) -> int:
        """Delete the vectors of an encoder; returns how many."""
        statement = self._scoped.delete(passage_vector).where(passage_vector.c.encoder_id == encoder_id)
        return self._connection.execute(statement).rowcount

    def hydrate(self, ids: Sequence[str]) -> dict[str, FoundPassage]:
        """Id → passage with its owners, in the order of ``ids``; ids that are gone are left out."""
        return find_owners(self._scoped, ids)

    def _replace(
        self,
        stored: Sequence[Passage],
        passages: Sequence[NewPassage],
        owner_of: Callable[[Passage], Mapping[str, Any]],
    ) -> tuple[str, ...]:
        matching = match_in_order(stored, passages, _identity, lambda new: _identity(_bare(new)))
        self._scoped.delete_ids(passage, [each.id for each in matching.left])
        ids: list[str] = []
        inserted: list[tuple[str, IndexedPassage]] = []
        updated: list[tuple[str, Mapping[str, Any]]] = []
        for new, known in matching.pairs:
            if known is None:
                ids.append(new_passage_id())
                inserted.append((ids[-1], new if isinstance(new, IndexedPassage) else index_passage(new)))
                continue
            ids.append(known.id)
            values = passage_values(_bare(new))
            if values != passage_values(known):
                updated.append((known.id, values))
        self._scoped.update_ids(passage, updated)
        self._insert(inserted, owner_of)
        return tuple(ids)

    def _of_these(self, entry_ids: Sequence[str]) -> tuple[Passage, ...]:
        statement = self._scoped.select(*PASSAGE, of=passage)
        found = (
            row
            for piece in chunks(entry_ids)
            for row in self._connection.execute(statement.where(passage.c.entry_id.in_(piece)))
        )
        return _in_order(found)

    def _insert(
        self, rows: Sequence[tuple[str, IndexedPassage]], owner_of: Callable[[Passage], Mapping[str, Any]]
    ) -> None:
        no_owner = {"resource_id": None, "entry_id": None, "file_id": None}
        self._scoped.insert(
            passage,
            [
                {
                    "id": each,
                    **no_owner,
                    **owner_of(new.passage),
                    **passage_values(new.passage),
                    "length": new.length,
                }
                for each, new in rows
            ],
        )
        postings: list[tuple[str | int, ...]] = []
        for each, new in rows:
            length, kind = new.length, KIND_CODES[new.passage.kind]
            postings.extend((term, each, tf, length, kind) for term, tf in new.terms.items())
        # Sorted as the table is, so that neighbouring rows are written together.
        postings.sort()
        self._scoped.insert_plain(posting, ("term", "passage_id", "tf", "length", "kind"), postings)

    def _missing(self, encoder_id: str, languages: Collection[str], *columns: Any) -> Select[Any]:
        vectors = select(passage_vector.c.passage_id).where(
            linked(passage_vector, "passage_id", passage), passage_vector.c.encoder_id == encoder_id
        )
        hidden = select(recall_entry.c.id).where(linked(passage, "entry_id", recall_entry), ~recall_entry.c.shown)
        statement = self._scoped.select(*columns, of=passage).where(~vectors.exists(), ~hidden.exists())
        spoken = passage.c.language.in_(sorted(languages)) if languages else passage.c.language != NO_LANGUAGE
        return statement.where(passage.c.language.is_(None) | spoken)


@cache
def _of_entries() -> Select[Any]:
    """The passages of the entries of the source ``resource_id``."""
    entries = find_where((recall_entry.c.id,), recall_entry, ("resource_id",))
    return select(*PASSAGE).where(within(passage), passage.c.entry_id.in_(entries))


def _in_order(rows: Iterable[Any]) -> tuple[Passage, ...]:
    return tuple(sorted((to_passage(row) for row in rows), key=lambda each: each.ordinal))


def _bare(new: NewPassage) -> Passage:
    return new.passage if isinstance(new, IndexedPassage) else new


def _identity(each: Passage) -> tuple[str | None, str, str, str | None, Kind | None]:
    # Postings and vectors are made of header and text, stemmed by language, weighed by kind: while these stand,
    # so do they.
    return each.entry_id, each.header, each.text, each.language, each.kind
