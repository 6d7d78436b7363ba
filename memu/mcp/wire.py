"""Standard input that can be told to end, so that a signal ends the server although a thread waits for a line."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

__all__ = ["Wire", "open_input"]


class Wire(io.RawIOBase):
    """Bytes of a descriptor until its end, or until ``end``. Closes nothing but its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._ended, self._end = os.pipe()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        ready, _, _ = select.select([self._descriptor, self._ended], [], [])
        if self._ended in ready:
            return 0
        data = os.read(self._descriptor, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def end(self) -> None:
        """Whoever reads, or will, is at the end."""
        os.write(self._end, b".")

    def release(self) -> None:
        os.close(self._ended)
        os.close(self._end)


@contextmanager
def open_input() -> Iterator[tuple[anyio.AsyncFile[str] | None, Wire | None]]:
    """Standard input as lines, and what ends it; None where it cannot be waited for together with a pipe."""
    if sys.platform == "win32":
        yield None, None
        return
    wire = Wire(0)
    text = io.TextIOWrapper(io.BufferedReader(wire), encoding="utf-8", errors="replace")
    try:
        yield anyio.wrap_file(text), wire
    finally:
        wire.release()
