"""Vectors as embedding servers answer them: plain or packed, in any order, and held to be what was asked for."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read_vectors"]


def read_vectors(reply: Mapping[str, Any], count: int, dimension: int) -> NDArray[np.float32]:
    """The vectors in the order of the texts, as unit rows; a single row that is NaN or zero is all NaN.

    Raises:
        ValueError: their number, order or size is not what it must be, or no row can be used; says what is wrong.
    """
    import numpy as np

    vectors = _in_order(reply.get("data"), count)
    sizes = {len(vector) for vector in vectors}
    if len(sizes) > 1 or 0 in sizes:
        raise ValueError(f"vectors of {', '.join(map(str, sorted(sizes)))} components")
    if dimension and sizes != {dimension}:
        raise ValueError(f"vectors of {sizes.pop()} components, not {dimension}")
    try:
        rows = np.array(vectors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("vectors that hold something other than numbers") from None
    if rows.ndim != 2:
        raise ValueError("vectors that hold something other than numbers")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    usable = np.isfinite(largest) & (largest > 0)
    if not usable.any():
        raise ValueError("vectors that are NaN, infinite or all zero")
    rows = np.where(usable, rows / np.where(usable, largest, 1.0), np.nan)
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _in_order(data: object, count: int) -> list[Sequence[Any] | NDArray[np.float32]]:
    """The vectors of a reply by their ``index``; in the order given where it names none."""
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise ValueError("something that is no list of vectors")
    if len(data) != count:
        raise ValueError(f"{len(data)} vectors for {count} texts")
    places = [each.get("index") for each in data]
    if any(place is not None for place in places):
        if sorted(place for place in places if isinstance(place, int)) != list(range(count)):
            raise ValueError("vectors whose order cannot be told")
        data = sorted(data, key=lambda each: int(each["index"]))
    return [_unpack(each.get("embedding")) for each in data]


def _unpack(vector: object) -> Sequence[Any] | NDArray[np.float32]:
    """The components of a vector: a list of them, or base64 of float32, little end first."""
    import numpy as np

    if isinstance(vector, list):
        return vector
    try:
        return np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError("something that is no list of vectors") from None
