"""Whether the packs of an embedded store say what its rows say: looked at a pack at a time. Nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import LargeBinary, and_, func, select, type_coerce

from memu.storage.scoped import Scoped
from memu.storage.tables import encoder, passage_vector, vector_pack
from memu.storage.vector_triggers import SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PackFaults", "find_pack_faults"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFaults:
    """wrong: the passages whose vector no pack holds as it is. strange: how many slots hold what no row says."""

    wrong: tuple[str, ...] = ()
    strange: int = 0


def find_pack_faults(scoped: Scoped) -> PackFaults:
    """Compare every slot with its row. A server has no packs."""
    if scoped.connection.dialect.name != "sqlite":
        return PackFaults()
    wrong, strange = set(_outside(scoped)), 0
    packs = scoped.select(vector_pack, of=vector_pack).order_by(vector_pack.c.encoder_id, vector_pack.c.number)
    # One after another: all of them together may be more than fits into memory.
    for pack in scoped.connection.execute(packs):
        unlike, left = _compare(scoped, pack.scope_id, pack.encoder_id, pack.number, pack.norms, pack.vectors)
        wrong.update(unlike)
        strange += left
    return PackFaults(wrong=tuple(sorted(wrong)), strange=strange)


def _outside(scoped: Scoped) -> Iterator[str]:
    """Passages with a vector that can be compared and lies in no pack that is there."""
    row = passage_vector.c
    stored = type_coerce(row.vector, LargeBinary)
    held = and_(
        vector_pack.c.scope_id == row.scope_id,
        vector_pack.c.encoder_id == row.encoder_id,
        vector_pack.c.number == row.place // SLOTS,
    )
    statement = (
        scoped.select(row.passage_id, of=passage_vector)
        .join(encoder, encoder.c.id == row.encoder_id)
        .where(
            func.length(stored) == encoder.c.dimension,
            stored != func.zeroblob(func.length(stored)),
            row.place.is_(None) | ~select(vector_pack.c.number).where(held).correlate(passage_vector).exists(),
        )
    )
    yield from scoped.connection.execute(statement).scalars()


def _compare(
    scoped: Scoped, scope_id: str, encoder_id: str, number: int, norms: bytes, vectors: bytes
) -> tuple[list[str], int]:
    """The passages of one pack whose slot says something else, and how many slots are left that hold something."""
    import numpy as np

    lengths = np.frombuffer(norms, dtype="<f4")
    size = len(vectors) // max(1, len(lengths))
    row = passage_vector.c
    statement = scoped.select(row.passage_id, row.place, type_coerce(row.vector, LargeBinary), of=passage_vector)
    first = number * SLOTS
    mine = and_(
        row.scope_id == scope_id, row.encoder_id == encoder_id, row.place.between(first, first + SLOTS - 1)
    )
    wrong: list[str] = []
    left = set(np.flatnonzero(lengths).tolist())
    for passage_id, place, vector in scoped.connection.execute(statement.where(mine)):
        slot = place - first
        left.discard(slot)
        held = vectors[slot * size : (slot + 1) * size]
        length = float(lengths[slot]) if slot < len(lengths) else 0.0
        right = float(np.linalg.norm(np.frombuffer(vector, dtype=np.int8).astype(np.float32)))
        if held != vector or abs(length - right) > right * 1e-3:
            wrong.append(passage_id)
    return wrong, len(left)
