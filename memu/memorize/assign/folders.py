"""The folder that says most about a file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath

from memu.memorize.assign.dates import split_date
from memu.memorize.assign.stop_phrases import is_stop_phrase
from memu.memorize.facts import without_numbers

__all__ = ["nearest_folder"]


def nearest_folder(path: str) -> str | None:
    """The name of the innermost folder around ``path`` that is no stop phrase, number or date; None if none is.

    >>> nearest_folder("billing/docs/2024/03/a.md"), nearest_folder("notes/a.md")
    ('billing', None)
    """
    return _nearest(PurePosixPath(path).parent)


@lru_cache(maxsize=16384)
def _nearest(folder: PurePosixPath) -> str | None:
    for part in reversed(folder.parts):
        name = without_numbers(part.strip("._- ")).strip("._- ")
        if name and not is_stop_phrase(split_date(name)[0]):
            return name
    return None
