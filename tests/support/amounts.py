"""How many of many like cases are tried: all in the long form, some in the short one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from typing import Any, TypeVar

__all__ = ["crossed", "some"]

Case = TypeVar("Case")
_ALL = os.environ.get("MEMU_TEST_CASES") == "all"


def some(cases: Iterable[Case]) -> list[Case]:
    """Every second case; all with ``MEMU_TEST_CASES=all``."""
    return list(cases)[:: 1 if _ALL else 2]


def crossed(one: Iterable[Any], other: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pairs of both, such that each value has its turn with every second one of the others; all as ``some``."""
    pairs = itertools.product(enumerate(one), enumerate(other))
    return [(first, second) for (at, first), (by, second) in pairs if _ALL or (at + by) % 2 == 0]
