"""Reading the vectors of an embedded store: packed many in a row, they are looked at all at once.

A row's ``place`` says which slot of which pack holds its vector (``vector_packing`` writes them).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, select

from memu.storage.question import length_of
from memu.storage.scoped import Scoped, chunks
from memu.storage.statements import listed, within
from memu.storage.tables import passage_vector, vector_pack
from memu.storage.vector_triggers import SLOTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Place", "Scan", "find_places", "scan"]

_NORM_BYTES = 4

Place = tuple[str, int]
"""Scope and ``place``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The cosines of all packed vectors, shape (n,), and where each lies."""

    cosines: NDArray[np.float64]
    places: NDArray[np.int64]
    # The first index of each scope's, in the order of the scopes.
    starts: tuple[tuple[int, str], ...]

    def place(self, at: int) -> Place:
        """Where the vector of an index lies."""
        scope_id = next(scope_id for start, scope_id in reversed(self.starts) if start <= at)
        return scope_id, int(self.places[at])

    def among(self, places: Iterable[Place]) -> NDArray[np.int64]:
        """The indices of these places."""
        import numpy as np

        of_scope: dict[str, list[int]] = defaultdict(list)
        for scope_id, place in places:
            of_scope[scope_id].append(place)
        ends = [start for start, _ in self.starts[1:]] + [len(self.places)]
        parts = [
            start + np.flatnonzero(np.isin(self.places[start:end], of_scope[scope_id]))
            for (start, scope_id), end in zip(self.starts, ends, strict=True)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


def scan(scoped: Scoped, encoder_id: str, asked: NDArray[np.float32]) -> Scan:
    """The cosine of each packed vector of an encoder with one of whole numbers; none where sizes differ."""
    import numpy as np

    size = len(asked)
    block = np.empty((SLOTS, size), dtype=np.float32)
    dots: list[NDArray[np.float32]] = []
    norms: list[bytes] = []
    packs: list[tuple[str, int, int]] = []
    # One after another, so that none is long out of the processor's cache when it is looked at.
    for scope_id, number, stored_norms, vectors in scoped.run(_packs(), encoder_id=encoder_id):
        slots = len(stored_norms) // _NORM_BYTES
        if len(vectors) != slots * size:
            continue
        # Into the same floats again and again: they stay in the processor's cache.
        floats = block[:slots]
        np.copyto(floats, np.frombuffer(vectors, dtype=np.int8).reshape(slots, size))
        dots.append(floats @ asked)
        norms.append(stored_norms)
        packs.append((scope_id, number, slots))
    if not packs:
        return Scan(cosines=np.empty(0, np.float64), places=np.empty(0, np.int64), starts=())
    every, lengths, places = np.concatenate(dots), np.frombuffer(b"".join(norms), dtype="<f4"), _places_of(packs)
    starts = _starts_of(packs)
    if not lengths.all():
        held = np.flatnonzero(lengths)
        every, lengths, places = every[held], lengths[held], places[held]
        starts = [(int(np.searchsorted(held, start)), scope_id) for start, scope_id in starts]
    cosines = every.astype(np.float64) / (lengths.astype(np.float64) * length_of(asked))
    return Scan(cosines=cosines, places=places, starts=tuple(starts))


def find_places(scoped: Scoped, encoder_id: str, places: Sequence[Place]) -> dict[Place, str]:
    """Place → passage id."""
    wanted = set(places)
    found: dict[Place, str] = {}
    for piece in chunks(sorted({place for _, place in wanted})):
        rows = scoped.run(_placed(), encoder_id=encoder_id, places=piece)
        found.update(((scope_id, place), each) for scope_id, place, each in rows if (scope_id, place) in wanted)
    return found


@cache
def _packs() -> Select[Any]:
    """All packs of an encoder: (scope, number, norms, vectors)."""
    columns = vector_pack.c
    return (
        select(columns.scope_id, columns.number, columns.norms, columns.vectors)
        .where(within(vector_pack), columns.encoder_id == bindparam("encoder_id"))
        .order_by(columns.scope_id, columns.number)
    )


@cache
def _placed() -> Select[Any]:
    """(scope, place, passage id) of ``places``."""
    columns = passage_vector.c
    return select(columns.scope_id, columns.place, columns.passage_id).where(
        within(passage_vector), columns.encoder_id == bindparam("encoder_id"), listed(columns.place, "places")
    )


def _places_of(packs: Sequence[tuple[str, int, int]]) -> NDArray[np.int64]:
    """The place of each slot of (scope, number, slots) in a row."""
    import numpy as np

    sizes = np.array([slots for _, _, slots in packs])
    ahead = np.cumsum(sizes) - sizes
    first = np.array([number for _, number, _ in packs]) * SLOTS - ahead
    places: NDArray[np.int64] = np.repeat(first, sizes) + np.arange(sizes.sum())
    return places


def _starts_of(packs: Sequence[tuple[str, int, int]]) -> list[tuple[int, str]]:
    """The index of the first slot of each scope."""
    found: list[tuple[int, str]] = []
    count = 0
    for scope_id, _, slots in packs:
        if not found or found[-1][1] != scope_id:
            found.append((count, scope_id))
        count += slots
    return found
