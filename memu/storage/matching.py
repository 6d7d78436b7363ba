"""Replacing a row of things by difference: what stays is kept, only what differs is written."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Matching", "match_in_order"]

Old = TypeVar("Old")
New = TypeVar("New")


@dataclass(frozen=True, slots=True)
class Matching(Generic[Old, New]):
    """``pairs``: every new thing in order with the old one that it continues, or None; ``left``: the others."""

    pairs: tuple[tuple[New, Old | None], ...]
    left: tuple[Old, ...]


def match_in_order(
    old: Sequence[Old],
    new: Sequence[New],
    key_of_old: Callable[[Old], Hashable],
    key_of_new: Callable[[New], Hashable],
) -> Matching[Old, New]:
    """Pair things of equal key, first with first where a key occurs more than once."""
    waiting: defaultdict[Hashable, deque[Old]] = defaultdict(deque)
    for each in old:
        waiting[key_of_old(each)].append(each)
    pairs: list[tuple[New, Old | None]] = []
    for item in new:
        same = waiting.get(key_of_new(item))
        pairs.append((item, same.popleft() if same else None))
    return Matching(tuple(pairs), tuple(each for rest in waiting.values() for each in rest))
