"""Which of the files that a sync would read it will find shut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from memu.errors import ReadError
from memu.ingest.found import FoundFile
from memu.ingest.paths import read_head
from memu.records import FileProblem

__all__ = ["find_unread"]


def find_unread(root: Path, files: Iterable[FoundFile]) -> Iterator[FileProblem]:
    """The files that cannot be opened, each with the reason that reading it would give."""
    for file in files:
        try:
            read_head(root, file.path, size=1)
        except ReadError as error:
            yield FileProblem(path=file.path, reason=str(error))
