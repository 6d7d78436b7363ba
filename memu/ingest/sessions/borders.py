"""Where a log may be cut: before the last turn that the next one has not closed yet.

What lies before a border stays as it is, however the log grows. Whoever read it needs no more than this to go on.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["START", "Border"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """The line at which a turn begins that may still go on, and what the lines before it tell of those after.

    dialect: its name. line: of the turn's first event, which is the first of that line, from 1 on.
    turn: the number of the turn. since: the first line that no note covers yet.
    titled, asked, own_run: whether a title was told, a person asked, memu itself asked the model.
    damage: how much before the border had to be passed over, by what was wrong.
    """

    dialect: str = ""
    line: int = 1
    turn: int = 1
    since: int = 1
    titled: bool = False
    asked: bool = False
    own_run: bool = False
    damage: tuple[tuple[str, int], ...] = ()


START = Border()
"""The beginning of a log."""
