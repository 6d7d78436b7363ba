"""Libraries' warnings about what they read are kept from an app's users, and its own filters from harm."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["silenced"]

_FILTERS = threading.Lock()


@contextmanager
def silenced() -> Iterator[None]:
    """Ignore warnings inside the block. One thread at a time: the filters are the whole process's, and of two that
    changed them at once, one would put back what the other had changed."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
