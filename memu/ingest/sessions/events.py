"""What happens in an agent's session: events, and the turns that they make up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memu.records import LineSpan

__all__ = [
    "CALLS",
    "WORDLESS",
    "Event",
    "EventKind",
    "EventMark",
    "Outcome",
    "SessionTurn",
    "Turn",
    "is_turn",
    "place_turn",
    "read_turn",
]


_PLACE = re.compile(r"turn (\d{1,9})(, event \d{1,9})?")


class EventKind(StrEnum):
    """What an event is. The last six give no words to a turn: they end, interrupt, cost, name or instruct."""

    PROMPT = "prompt"
    ANSWER = "answer"
    COMMAND = "command"
    WRITE = "write"
    TOOL = "tool"
    PLAN = "plan"
    OUTPUT = "output"
    NOTE = "note"
    END = "end"
    STOP = "stop"
    BREAK = "break"
    COST = "cost"
    TITLE = "title"
    RULES = "rules"


CALLS = frozenset({EventKind.COMMAND, EventKind.WRITE, EventKind.TOOL, EventKind.PLAN})
"""What an agent does; an output answers one of them."""

WORDLESS = frozenset(EventKind) - CALLS - {EventKind.PROMPT, EventKind.ANSWER, EventKind.OUTPUT, EventKind.NOTE}
"""Events that become no block."""


class Outcome(StrEnum):
    """How a turn ended. One that nothing ended is unfinished, whatever came after it."""

    COMPLETED = "completed"
    UNFINISHED = "unfinished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that a record tells.

    text: the record's own words, verbatim once their JSON is undone; lines: where they stand.
    tool: the tool's name. call: the id that joins a call and its output. source: the record's id, "" without one.
    exit: a command's exit code; failed: whether the log says that it went wrong; refused: that a person, or the
    program, did not let it be done. cost: USD.
    leaf: of a title, the record that it was written after. since: of a note, the first line that it covers.
    """

    kind: EventKind
    lines: LineSpan
    text: str = ""
    time: datetime | None = None
    tool: str = ""
    call: str = ""
    source: str = ""
    exit: int | None = None
    failed: bool = False
    refused: bool = False
    cost: float = 0.0
    leaf: str = ""
    since: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurn:
    """A turn without its words: from 1 on, how it ended, how long it took, what it cost in USD."""

    number: int
    lines: LineSpan
    outcome: Outcome
    began: datetime | None = None
    ended: datetime | None = None
    cost: float = 0.0

    @property
    def place(self) -> str:
        """Where the turn stands, as citations and references have it."""
        return place_turn(self.number)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn with its events, those that hold words.

    open: the calls of the turn before that nothing had answered when this turn began; their outputs are among the
    events here.
    """

    facts: SessionTurn
    events: tuple[Event, ...]
    open: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMark:
    """What a block of a session is a part of: the event ``number`` of a turn, both counted from 1.

    exit, failed, refused: of a call, as its output says. late: of a call that was made in the turn before.
    open: nothing of the turn says what came of the call.
    since: of a note, the first line of the stretch that it covers.
    """

    turn: int
    number: int
    kind: EventKind
    exit: int | None = None
    failed: bool = False
    refused: bool = False
    late: bool = False
    open: bool = False
    since: int = 0

    @property
    def place(self) -> str:
        """Where the event stands, as citations and references have it."""
        return f"{place_turn(self.turn)}, event {self.number}"


def place_turn(number: int) -> str:
    """Where a turn as a whole stands.

    >>> place_turn(3)
    'turn 3'
    """
    return f"turn {number}"


def read_turn(place: str | None) -> int | None:
    """The number of the turn at, or in, a place; None where it names none.

    >>> read_turn("turn 3"), read_turn("turn 3, event 12"), read_turn("page 4")
    (3, 3, None)
    """
    match = _PLACE.fullmatch(place or "")
    return int(match[1]) if match else None


def is_turn(place: str | None) -> bool:
    """Whether a turn as a whole stands at a place, and no event of it."""
    match = _PLACE.fullmatch(place or "")
    return match is not None and match[2] is None
