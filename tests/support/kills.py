"""A kill at a chosen moment of a workflow or transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event

from memu import Interceptor, StepEvent

__all__ = ["KillAtStatement", "KillAtStep", "KilledError", "listening"]


class KilledError(BaseException):
    """Stands for a kill: nothing catches it."""


@dataclass
class KillAtStep(Interceptor):
    """Kills after so many step events (before and after each step count)."""

    left: int
    seen: int = 0

    async def before(self, event: StepEvent) -> None:
        self.count()

    async def after(self, event: StepEvent) -> None:
        self.count()

    def count(self) -> None:
        self.seen += 1
        self.left -= 1
        if self.left == 0:
            raise KilledError


@dataclass
class KillAtStatement:
    """Kills before the statement of this number, in whatever transaction it stands.

    note: called at the kill itself: what is asynchronous may go on for a moment, as no killed process does.
    """

    left: int
    seen: int = 0
    note: Callable[[], None] | None = None

    def __call__(self, *_: Any) -> None:
        self.seen += 1
        self.left -= 1
        if self.left == 0:
            if self.note is not None:
                self.note()
            raise KilledError


@contextmanager
def listening(kill: KillAtStatement) -> Iterator[None]:
    """Let ``kill`` see every statement."""
    event.listen(Engine, "before_cursor_execute", kill)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", kill)
