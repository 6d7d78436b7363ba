"""Events cut into turns. A turn begins with what a person asked and ends where the next begins, whatever ended it.

One that nothing ended is closed by the next message or by a resume. What a log says twice is taken once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from memu.ingest.sessions.events import CALLS, WORDLESS, Event, EventKind, Outcome, SessionTurn, Turn
from memu.records import LineSpan

__all__ = ["cut_turns", "find_open"]

_SAID = frozenset({EventKind.PROMPT, EventKind.ANSWER})
_OPENS = frozenset({EventKind.PROMPT, EventKind.BREAK})
_ASIDE = frozenset({EventKind.TITLE, EventKind.RULES})


def cut_turns(events: Iterable[Event], number: int = 1, since: int = 1) -> Iterator[Turn]:
    """The turns of a session.

    Args:
        events: in the order of the log; titles are used to know the notes of a session that was left.
        number: of the first turn. since: the first line that no note covers yet.
    """
    held = _Gathered()
    left: tuple[Event, ...] = ()
    for event in events:
        if held.holds(event):
            continue
        if event.kind in _OPENS and held.acted and not held.is_same_message(event):
            yield _close(number, held.events, left)
            number += 1
            left = find_open(held.events)
            held = _Gathered()
        if _is_note(event, held):
            event = replace(event, kind=EventKind.NOTE, since=min(since, event.lines.start))
            since = event.lines.end + 1
        if event.kind not in _ASIDE:
            held.add(event)
    if held.acted or any(event.kind is EventKind.NOTE for event in held.events):
        yield _close(number, held.events, left)


@dataclass(slots=True)
class _Gathered:
    """The turn that is being gathered. ``acted``: whether anything but notes is in it."""

    events: list[Event] = field(default_factory=list)
    known: set[tuple[str, ...]] = field(default_factory=set)
    said: set[tuple[EventKind, str]] = field(default_factory=set)
    records: set[str] = field(default_factory=set)
    acted: bool = False
    last: Event | None = None

    def holds(self, event: Event) -> bool:
        """Whether the log repeats itself here: the same record, or the same words with nothing done in between."""
        if event.source and _identify(event) in self.known:
            return True
        if event.kind in _SAID:
            return (event.kind, event.text) in self.said
        return bool(event.call) and (event.kind, event.call, event.text) in self.known

    def is_same_message(self, event: Event) -> bool:
        """Whether this is a further part of the message that opened the turn."""
        last = self.last
        return last is not None and (last.kind, last.lines, last.source) == (event.kind, event.lines, event.source)

    def add(self, event: Event) -> None:
        self.events.append(event)
        self.records.add(event.source)
        self.known.add(_identify(event))
        if event.call:
            self.known.add((event.kind, event.call, event.text))
        if event.kind in _SAID:
            # Who says the same once more after an answer says it anew.
            self.said = {each for each in self.said if each[0] is event.kind} | {(event.kind, event.text)}
        elif event.kind not in WORDLESS:
            self.said.clear()
        if event.kind not in WORDLESS and event.kind is not EventKind.NOTE:
            self.acted = True
            self.last = event


def find_open(events: Iterable[Event]) -> tuple[Event, ...]:
    """The calls among a turn's events that nothing there has answered: what comes of them is told in the next.

    A person who stops the turn stops them too.
    """
    waiting: dict[str, list[Event]] = {}
    for event in events:
        if event.kind is EventKind.STOP:
            waiting.clear()
        elif event.kind is EventKind.OUTPUT:
            # One that names no call answers the last.
            waiting.pop(event.call or next(reversed(waiting), ""), None)
        elif event.kind in CALLS and event.call:
            waiting.setdefault(event.call, []).append(event)
    return tuple(event for some in waiting.values() for event in some)


def _identify(event: Event) -> tuple[str, ...]:
    return (event.source, event.kind, event.call, event.text)


def _is_note(event: Event, held: _Gathered) -> bool:
    """A compaction's or handover's own note; a title counts as one where it was written of what came just before.

    Programs write titles of other sessions into a log too; those name a record that is not in it.
    """
    if event.kind is EventKind.NOTE:
        return bool(event.text.strip())
    return event.kind is EventKind.TITLE and bool(event.leaf) and held.acted and event.leaf in held.records


def _close(number: int, events: list[Event], left: tuple[Event, ...]) -> Turn:
    times = [event.time for event in events if event.time is not None]
    facts = SessionTurn(
        number=number,
        lines=LineSpan(min(event.lines.start for event in events), max(event.lines.end for event in events)),
        outcome=_find_outcome(events),
        began=min(times, default=None),
        ended=max(times, default=None),
        cost=sum(event.cost for event in events),
    )
    return Turn(facts, tuple(event for event in events if event.kind not in WORDLESS), left)


def _find_outcome(events: Iterable[Event]) -> Outcome:
    """Completed where the log says so or the agent had the last word; interrupted where a person stopped it."""
    outcome = Outcome.UNFINISHED
    for event in events:
        if event.kind is EventKind.END:
            outcome = Outcome.COMPLETED
        elif event.kind is EventKind.STOP:
            outcome = Outcome.INTERRUPTED
        elif event.kind is EventKind.ANSWER and outcome is not Outcome.INTERRUPTED:
            outcome = Outcome.COMPLETED
        elif event.kind in CALLS or event.kind is EventKind.OUTPUT:
            outcome = Outcome.INTERRUPTED if outcome is Outcome.INTERRUPTED else Outcome.UNFINISHED
    return outcome
