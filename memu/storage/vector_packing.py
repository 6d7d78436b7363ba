"""Writing the packs of an embedded store: its vectors once more, beside the rows that they are made of.

A slot is filled here, by the transaction that writes the row, and freed by the database itself when the row goes
(``vector_triggers``). So packs say what the rows say at the end of every transaction, whoever wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Delete, Select, Update, bindparam, delete, func, or_, select, update

from memu.storage.scoped import Scoped, chunks
from memu.storage.statements import listed, within
from memu.storage.tables import encoder, passage_vector, vector_pack
from memu.storage.vector_triggers import SLOTS
from memu.storage.vectors import VectorRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["pack", "unpack"]

# A pack with fewer is filled up; one with more is left, or an insertion after scattered deletions would write all.
_WELL_HELD = SLOTS * 3 // 4
_NORM_BYTES = 4


def pack(scoped: Scoped, encoder_id: str, rows: Sequence[VectorRow]) -> dict[str, int]:
    """Write vectors into slots; returns passage id → ``place`` of those that can be compared.

    None of them may have a place already.
    """
    import numpy as np

    dimension = scoped.connection.execute(_dimension(), {"encoder_id": encoder_id}).scalar_one_or_none()
    good = [row for row in rows if len(row.vector) == dimension and any(row.vector)]
    if not good or dimension is None:
        return {}
    placed: dict[str, int] = {}
    waiting = iter(good)
    for opened in _open_packs(scoped, encoder_id, int(dimension)):
        filled = list(zip(np.flatnonzero(opened.norms == 0).tolist(), waiting, strict=False))
        if not filled:
            break
        slots = [slot for slot, _ in filled]
        whole = np.frombuffer(b"".join(row.vector for _, row in filled), dtype=np.int8)
        opened.vectors[slots] = whole.reshape(len(slots), -1)
        opened.norms[slots] = np.linalg.norm(opened.vectors[slots].astype(np.float32), axis=1)
        opened.save(scoped, encoder_id)
        placed.update((row.passage_id, opened.number * SLOTS + slot) for slot, row in filled)
    return placed


def unpack(scoped: Scoped, encoder_id: str, passage_ids: Sequence[str]) -> None:
    """Delete the vectors that these passages have of an encoder; their slots are free from now on."""
    for piece in chunks(passage_ids):
        known = scoped.run(_known(), encoder_id=encoder_id, passages=piece).scalars().all()
        if known:
            given = {"the_scope": scoped.scope_id, "the_encoder": encoder_id}
            scoped.connection.execute(_forget(), [{**given, "the_passage": each} for each in known])


@dataclass(slots=True, kw_only=True)
class _OpenPack:
    """A pack to be filled: ``norms`` (SLOTS,), 0 where a slot is free, and ``vectors`` (SLOTS, dimension)."""

    number: int
    is_new: bool
    norms: NDArray[np.float32]
    vectors: NDArray[np.int8]

    def save(self, scoped: Scoped, encoder_id: str) -> None:
        """Write it back, as long as its last slot that is in use."""
        held = self.norms.nonzero()[0]
        size = int(held[-1]) + 1
        values = {
            "held": len(held),
            "norms": self.norms[:size].astype("<f4").tobytes(),
            "vectors": self.vectors[:size].tobytes(),
        }
        if self.is_new:
            scoped.insert(vector_pack, [{"encoder_id": encoder_id, "number": self.number, **values}])
            return
        key = {"the_scope": scoped.scope_id, "the_encoder": encoder_id, "the_number": self.number}
        scoped.connection.execute(_rewrite(), {**key, **{f"new_{name}": each for name, each in values.items()}})


def _open_packs(scoped: Scoped, encoder_id: str, dimension: int) -> Iterator[_OpenPack]:
    """The packs with room, then new ones without end."""
    import numpy as np

    def make(number: int, is_new: bool) -> _OpenPack:
        norms, vectors = np.zeros(SLOTS, np.float32), np.zeros((SLOTS, dimension), np.int8)
        return _OpenPack(number=number, is_new=is_new, norms=norms, vectors=vectors)

    last = scoped.run(_last(), encoder_id=encoder_id).scalar_one()
    for number in scoped.run(_with_room(), encoder_id=encoder_id).scalars().all():
        row = scoped.run(_one_pack(), encoder_id=encoder_id, number=number).one()
        opened = make(number, is_new=False)
        size = len(row.norms) // _NORM_BYTES
        opened.norms[:size] = np.frombuffer(row.norms, dtype="<f4")
        opened.vectors[:size] = np.frombuffer(row.vectors, dtype=np.int8).reshape(size, dimension)
        yield opened
    number = -1 if last is None else int(last)
    while True:
        number += 1
        yield make(number, is_new=True)


@cache
def _dimension() -> Select[Any]:
    return select(encoder.c.dimension).where(encoder.c.id == bindparam("encoder_id"))


@cache
def _one_pack() -> Select[Any]:
    columns = vector_pack.c
    return select(columns.norms, columns.vectors).where(
        within(vector_pack), columns.encoder_id == bindparam("encoder_id"), columns.number == bindparam("number")
    )


@cache
def _last() -> Select[Any]:
    """The highest number of an encoder's packs."""
    return select(func.max(vector_pack.c.number)).where(
        within(vector_pack), vector_pack.c.encoder_id == bindparam("encoder_id")
    )


@cache
def _with_room() -> Select[Any]:
    """The numbers of an encoder's packs that take more: shorter than others, or with much that is free."""
    columns = vector_pack.c
    room = or_(columns.held <= _WELL_HELD, func.length(columns.norms) < SLOTS * _NORM_BYTES)
    of_encoder = columns.encoder_id == bindparam("encoder_id")
    return select(columns.number).where(within(vector_pack), of_encoder, room).order_by(columns.number)


@cache
def _rewrite() -> Update:
    columns = vector_pack.c
    return (
        update(vector_pack)
        .where(
            columns.scope_id == bindparam("the_scope"),
            columns.encoder_id == bindparam("the_encoder"),
            columns.number == bindparam("the_number"),
        )
        .values(held=bindparam("new_held"), norms=bindparam("new_norms"), vectors=bindparam("new_vectors"))
    )


@cache
def _known() -> Select[Any]:
    """Those of ``passages`` that have a vector of an encoder."""
    columns = passage_vector.c
    return select(columns.passage_id).where(
        within(passage_vector),
        listed(columns.passage_id, "passages"),
        columns.encoder_id == bindparam("encoder_id"),
    )


@cache
def _forget() -> Delete:
    columns = passage_vector.c
    return delete(passage_vector).where(
        columns.scope_id == bindparam("the_scope"),
        columns.passage_id == bindparam("the_passage"),
        columns.encoder_id == bindparam("the_encoder"),
    )
