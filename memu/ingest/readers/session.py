"""Logs of coding agents: what was asked, said and done, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from memu.ingest.document import Block, Document, Source
from memu.ingest.marks import is_own_prompt
from memu.ingest.readers.assembly import HEAD, assemble
from memu.ingest.sessions.blocks import turn_blocks
from memu.ingest.sessions.dialects import Dialect, find_dialect
from memu.ingest.sessions.events import Event, EventKind, SessionTurn
from memu.ingest.sessions.log_records import Record, read_records
from memu.ingest.sessions.turns import cut_turns
from memu.records import Kind

__all__ = ["SessionReader"]

_SAMPLE = 40


class SessionReader:
    """Claude Code, Codex, Gemini CLI, pi, and records of role and content with tools (``sessions.dialects``)."""

    name = "session"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD]
        if head.lstrip()[:1] not in ("{", "[") or '"' not in head:
            return False
        return find_dialect(_sample(head)) is not None

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        dialect = find_dialect(_sample(source.text[:HEAD]))
        told = _Told()
        turns: list[SessionTurn] = []
        blocks: list[Block] = []
        events = _read_events(dialect, read_records(source.text, damage), told) if dialect else ()
        for turn in cut_turns(events):
            turns.append(turn.facts)
            blocks += turn_blocks(turn)
        times = [turn.began for turn in turns if turn.began is not None]
        return assemble(
            source,
            kind=Kind.SESSION,
            title=told.titles[0] if told.titles else None,
            # A model wrote the summary; nobody has named the session.
            titled=False,
            blocks=blocks,
            happened_at=min(times) if times else None,
            damage=damage,
            turns=turns,
            own_run=told.own_run,
        )


def _sample(head: str) -> list[Record]:
    return list(islice(read_records(head, Counter()), _SAMPLE))


@dataclass(slots=True)
class _Told:
    """What events say of the session as a whole. ``own_run``: memu itself asked the model here."""

    titles: list[str] = field(default_factory=list)
    own_run: bool = False
    asked: bool = False

    def listen(self, event: Event) -> None:
        if event.kind is EventKind.TITLE and event.text.strip():
            self.titles.append(event.text)
        elif event.kind is EventKind.RULES or (event.kind is EventKind.PROMPT and not self.asked):
            self.own_run = self.own_run or is_own_prompt(event.text)
            self.asked = self.asked or event.kind is EventKind.PROMPT


def _read_events(dialect: Dialect, records: Iterable[Record], told: _Told) -> Iterator[Event]:
    for record in records:
        for event in dialect.read(record):
            told.listen(event)
            yield event
