"""What a scope's rows should never look like, asked of the database in bulk. Nothing is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, LargeBinary, and_, case, func, or_, select, type_coerce

from memu.records import Passage
from memu.storage.pack_inspection import PackFaults, find_pack_faults
from memu.storage.rows import PASSAGE, to_passage
from memu.storage.scoped import Group, chunks, linked
from memu.storage.tables import (
    encoder,
    passage,
    passage_vector,
    posting,
    recall_entry,
    recall_file,
    recall_file_entry,
    resource,
)
from memu.storage.words import KIND_CODES

__all__ = ["Inspection", "StoredTerms"]

_LARGEST_SCALE = 1e30
_ENDS = tuple((name, end) for name in ("length", "kind") for end in ("min", "max"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTerms:
    """A passage and what the word index holds of it: term → weighted frequency."""

    passage: Passage
    terms: Mapping[str, int]


class Inspection(Group):
    """Questions whose answer is empty in a healthy scope."""

    def shown_without_page(self, workspace_id: str) -> tuple[str, ...]:
        """The source's path of each entry that is shown and stands on no page."""
        return self._placed(workspace_id, recall_entry.c.shown & ~self._on_page())

    def hidden_with_page(self, workspace_id: str) -> tuple[str, ...]:
        """The source's path of each entry that is not shown and yet stands on a page."""
        return self._placed(workspace_id, ~recall_entry.c.shown & self._on_page())

    def without_passage(self, workspace_id: str) -> tuple[str, ...]:
        """The source's path of each entry that has no passage, or whose source has none."""
        own = select(passage.c.id).where(linked(passage, "entry_id", recall_entry)).correlate(recall_entry)
        source = select(passage.c.id).where(
            passage.c.scope_id == recall_entry.c.scope_id, passage.c.resource_id == recall_entry.c.resource_id
        )
        return self._placed(workspace_id, ~own.exists() | ~source.correlate(recall_entry).exists())

    def unlike_their_passage(self, workspace_id: str) -> tuple[str, ...]:
        """The source's path of each entry whose own passage has another text or other lines."""
        same = and_(
            passage.c.text == recall_entry.c.text,
            func.coalesce(passage.c.line_start, 0) == func.coalesce(recall_entry.c.line_start, 0),
            func.coalesce(passage.c.line_end, 0) == func.coalesce(recall_entry.c.line_end, 0),
        )
        own = select(passage.c.id).where(linked(passage, "entry_id", recall_entry))
        return self._placed(workspace_id, own.where(~same).correlate(recall_entry).exists())

    def headed_unlike_their_entry(self, workspace_id: str) -> tuple[str, ...]:
        """The source's path of each entry whose passage has another heading than its label, or another track."""
        same = and_(passage.c.heading == recall_entry.c.label, passage.c.track == recall_entry.c.track)
        own = select(passage.c.id).where(linked(passage, "entry_id", recall_entry))
        return self._placed(workspace_id, own.where(~same).correlate(recall_entry).exists())

    def outside_their_source(self, workspace_id: str) -> tuple[str, ...]:
        """The source's path of each entry whose lines are none, or beyond all that its source's passages have."""
        last = select(func.max(passage.c.line_end)).where(
            passage.c.scope_id == recall_entry.c.scope_id, passage.c.resource_id == recall_entry.c.resource_id
        )
        start, end = recall_entry.c.line_start, recall_entry.c.line_end
        return self._placed(
            workspace_id, or_(start < 1, end < start, end > last.correlate(recall_entry).scalar_subquery())
        )

    def pages_without_passage(self) -> frozenset[str]:
        """The ids of pages that no search finds by their name."""
        own = select(passage.c.id).where(linked(passage, "file_id", recall_file)).correlate(recall_file)
        statement = self._scoped.select(recall_file.c.id, of=recall_file).where(~own.exists())
        return frozenset(self._connection.execute(statement).scalars())

    def marks(self) -> dict[str, tuple[str, ...]]:
        """Page id → the mark of each of its links, "" for one that was never folded."""
        found: dict[str, list[str]] = defaultdict(list)
        statement = self._scoped.select(
            recall_file_entry.c.file_id, recall_file_entry.c.mark, of=recall_file_entry
        )
        for page, mark in self._connection.execute(statement):
            found[page].append(mark)
        return {page: tuple(sorted(marks)) for page, marks in found.items()}

    def wrongly_counted(self) -> tuple[str, ...]:
        """The passages whose postings do not add up to their length, or repeat another length or kind."""
        columns = posting.c
        # Summed first, in the order of the index by passage: joined row by row, SQLite would walk the terms.
        sums = (
            self._scoped.select(
                columns.scope_id,
                columns.passage_id,
                func.sum(columns.tf).label("total"),
                *(getattr(func, end)(columns[name]).label(f"{end}_{name}") for name, end in _ENDS),
                of=posting,
            )
            .group_by(columns.scope_id, columns.passage_id)
            .subquery()
        )
        kind = case({each.value: code for each, code in KIND_CODES.items() if each}, value=passage.c.kind, else_=0)
        wanted = {"length": passage.c.length, "kind": kind}
        statement = (
            self._scoped.select(passage.c.id, of=passage)
            .outerjoin(sums, linked(sums, "passage_id", passage))
            .where(
                or_(
                    func.coalesce(sums.c.total, 0) != passage.c.length,
                    *(sums.c[f"{end}_{name}"] != wanted[name] for name, end in _ENDS),
                )
            )
            .order_by(passage.c.id)
        )
        return tuple(self._connection.execute(statement).scalars())

    def indexed(self, *, after: str, limit: int) -> tuple[StoredTerms, ...]:
        """At most ``limit`` passages by id, those after the id ``after``, with their postings."""
        key = passage.c.id
        statement = self._scoped.select(*PASSAGE, of=passage).where(key > after).order_by(key).limit(limit)
        passages = [to_passage(row) for row in self._connection.execute(statement)]
        terms: dict[str, dict[str, int]] = {each.id: {} for each in passages}
        columns = (posting.c.passage_id, posting.c.term, posting.c.tf)
        for piece in chunks(list(terms)):
            rows = self._scoped.select(*columns, of=posting).where(posting.c.passage_id.in_(piece))
            for each, term, tf in self._connection.execute(rows):
                terms[each][term] = tf
        return tuple(StoredTerms(passage=each, terms=terms[each.id]) for each in passages)

    def unusable_vectors(self) -> tuple[str, ...]:
        """The passages with a vector of another size than its encoder's, of length zero, or without a scale."""
        scale = passage_vector.c.scale
        scaled = and_(scale > 0, scale < _LARGEST_SCALE)
        statement = (
            self._scoped.select(passage_vector.c.passage_id, of=passage_vector)
            .join(encoder, encoder.c.id == passage_vector.c.encoder_id)
            .where(or_(~scaled, self._misshapen()))
            .order_by(passage_vector.c.passage_id)
        )
        return tuple(self._connection.execute(statement).scalars())

    def pack_faults(self) -> PackFaults:
        """Where the packed vectors of an embedded store differ from its rows."""
        return find_pack_faults(self._scoped)

    def vectors_by_encoder(self) -> dict[str, int]:
        """Encoder id → how many vectors of its the scope has."""
        statement = self._scoped.select(passage_vector.c.encoder_id, func.count(), of=passage_vector)
        rows = self._connection.execute(statement.group_by(passage_vector.c.encoder_id))
        return {each: int(count) for each, count in rows}

    def rarity(self, terms: Sequence[str]) -> dict[str, int]:
        """Term → how many passages of the scope have it; terms of none are left out."""
        found: dict[str, int] = {}
        for piece in chunks(sorted(set(terms))):
            statement = self._scoped.select(posting.c.term, func.count(), of=posting)
            rows = self._connection.execute(statement.where(posting.c.term.in_(piece)).group_by(posting.c.term))
            found.update((term, int(count)) for term, count in rows)
        return found

    def _placed(self, workspace_id: str, wanted: ColumnElement[bool]) -> tuple[str, ...]:
        statement = (
            self._scoped.select(resource.c.path, of=recall_entry)
            .join(resource, linked(recall_entry, "resource_id", resource))
            .where(resource.c.workspace_id == workspace_id, wanted)
        )
        return tuple(sorted(self._connection.execute(statement).scalars()))

    def _on_page(self) -> ColumnElement[bool]:
        links = select(recall_file_entry.c.file_id).where(linked(recall_file_entry, "entry_id", recall_entry))
        return links.correlate(recall_entry).exists()

    def _misshapen(self) -> ColumnElement[bool]:
        if self._connection.dialect.name == "postgresql":
            vector = passage_vector.c.vector
            return or_(func.vector_dims(vector) != encoder.c.dimension, func.vector_norm(vector) == 0)
        # As the bytes that they are: the column type would look at each one.
        stored = type_coerce(passage_vector.c.vector, LargeBinary)
        return or_(func.length(stored) != encoder.c.dimension, stored == func.zeroblob(func.length(stored)))
