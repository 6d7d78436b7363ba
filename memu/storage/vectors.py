"""Vectors as they are stored: one signed byte a component and one scale a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Quantised", "VectorRow", "quantise", "restore"]

_LARGEST = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRow:
    """One passage's vector: ``vector`` holds signed bytes, to be multiplied by ``scale``."""

    passage_id: str
    vector: bytes
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantised:
    """The rows that can be compared, and how many were refused."""

    rows: tuple[VectorRow, ...]
    refused: int


def quantise(passage_ids: Sequence[str], vectors: NDArray[np.float32], dimension: int) -> Quantised:
    """Rows of floats, shape (n, dimension), as bytes with a scale: the largest component becomes ±127.

    A row that holds NaN or infinity or is all zero is refused and counted; so is every row where the array is
    not ``dimension`` wide or not as long as ``passage_ids``.
    """
    import numpy as np

    if vectors.ndim != 2 or vectors.shape != (len(passage_ids), dimension):
        return Quantised(rows=(), refused=len(passage_ids))
    largest = np.abs(vectors.astype(np.float64)).max(axis=1, initial=0.0)
    good = np.isfinite(largest) & (largest > 0)
    scales = np.where(good, largest, 1.0) / _LARGEST
    whole = np.rint(np.where(good[:, None], vectors, 0.0) / scales[:, None]).astype(np.int8)
    rows = tuple(
        VectorRow(passage_id=passage_id, vector=whole[at].tobytes(), scale=float(scales[at]))
        for at, passage_id in enumerate(passage_ids)
        if good[at]
    )
    return Quantised(rows=rows, refused=len(passage_ids) - len(rows))


def restore(vector: bytes, scale: float) -> NDArray[np.float32]:
    """The floats that a stored vector stands for, shape (dimension,)."""
    import numpy as np

    return np.frombuffer(vector, dtype=np.int8).astype(np.float32) * np.float32(scale)
