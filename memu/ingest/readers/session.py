"""Logs of coding agents: what was asked, said and done, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from memu.ingest.document import Block, Document, Source
from memu.ingest.marks import is_own_prompt
from memu.ingest.readers.assembly import HEAD, assemble, count_odd
from memu.ingest.sessions.blocks import turn_blocks
from memu.ingest.sessions.borders import START, Border
from memu.ingest.sessions.dialects import DIALECTS, Dialect, find_dialect
from memu.ingest.sessions.events import Event, EventKind, SessionTurn, Turn
from memu.ingest.sessions.log_records import Record, are_lines, read_log, read_records
from memu.ingest.sessions.turns import cut_turns, find_open
from memu.records import Kind

__all__ = ["SessionReader", "find_log"]

_LONGER_HEAD = 1 << 20


class SessionReader:
    """Claude Code, Codex, Gemini CLI, pi, and records of role and content with tools (``sessions.dialects``)."""

    name = "session"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD]
        if "{" not in head or '"' not in head:
            return False
        if head.lstrip()[:1] not in ("{", "[") and not are_lines(source.text):
            return False
        return find_log(source.text)[0] is not None

    def read(self, source: Source) -> Document:
        dialect, _ = find_log(source.text)
        damage: Counter[str] = Counter()
        reading = _Reading(dialect, START, damage, bordered=are_lines(source.text))
        return reading.read(source, read_records(source.text, damage))

    def read_on(self, source: Source, border: Border) -> Document:
        """What a log's lines from a border on tell, with their turns, lines and damage only."""
        dialect = next((each for each in DIALECTS if each.name == border.dialect), None)
        damage: Counter[str] = Counter()
        reading = _Reading(dialect, border, damage, bordered=True)
        return reading.read(source, read_log(source.text, damage, border.line))


def find_log(text: str) -> tuple[Dialect | None, int]:
    """The dialect of a log, and how many of its first lines told it.

    Of lines, those are looked at that begin in the head, and more of them where programs wrote much for themselves
    before anything was said.
    """
    if not are_lines(text):
        return find_dialect(list(read_records(text[:HEAD], Counter()))), text.count("\n", 0, HEAD) + 1
    for size in (HEAD, _LONGER_HEAD):
        end = text.find("\n", size)
        head = text if end < 0 else text[:end]
        dialect = find_dialect(list(read_log(head, Counter())))
        if dialect is not None or end < 0:
            break
    return dialect, head.count("\n") + 1


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


class _Reading:
    """One reading of a log, or of its end. ``bordered``: whether it is lines, at which it may be cut."""

    def __init__(self, dialect: Dialect | None, start: Border, damage: Counter[str], *, bordered: bool) -> None:
        self._dialect = dialect
        self._start = start
        self._damage = damage
        self._bordered = bordered
        self._told = _Told(own_run=start.own_run, asked=start.asked)
        # As it was before the line that is being read, if its first event is the last one that was told.
        self._before: Border | None = None
        self._border: Border | None = None

    def read(self, source: Source, records: Iterable[Record]) -> Document:
        turns: list[SessionTurn] = []
        blocks: list[Block] = []
        since = self._start.since
        for turn in cut_turns(self._tell(records), self._start.turn, since):
            turns.append(turn.facts)
            blocks += turn_blocks(turn)
            since = _find_since(turn, since)
            # What comes of an open call is told behind, and the call is needed to tell it.
            if self._before is not None and not find_open(turn.events):
                self._border = replace(self._before, turn=turn.facts.number + 1, since=since)
        times = [turn.began for turn in turns if turn.began is not None]
        document = assemble(
            source,
            kind=Kind.SESSION,
            title=self._told.titles[0] if self._told.titles else None,
            # A model wrote the summary; nobody has named the session.
            titled=False,
            blocks=blocks,
            happened_at=min(times) if times else None,
            damage=self._damage,
            turns=turns,
            own_run=self._told.own_run,
            before=self._start.line - 1,
        )
        return replace(document, border=self._close(document, blocks))

    def _tell(self, records: Iterable[Record]) -> Iterator[Event]:
        line = 0
        for record in records if self._dialect is not None else ():
            for event in self._dialect.read(record) if self._dialect is not None else ():
                self._before = self._note(record) if record.lines.start != line else None
                line = record.lines.start
                self._told.listen(event)
                yield event
        self._before = None

    def _note(self, record: Record) -> Border | None:
        if not self._bordered or self._dialect is None:
            return None
        told = self._told
        return Border(
            dialect=self._dialect.name,
            line=record.lines.start,
            titled=self._start.titled or bool(told.titles),
            asked=told.asked,
            own_run=told.own_run,
            damage=tuple(self._damage.items()),
        )

    def _close(self, document: Document, blocks: Iterable[Block]) -> Border | None:
        """The border with the damage in the texts before it: all that was counted without that behind it."""
        border = self._border
        if border is None:
            return None
        behind = count_odd(block for block in blocks if block.event and block.event.turn >= border.turn)
        damage = Counter(dict(document.damage))
        damage.subtract(self._damage)
        damage.subtract(behind)
        damage.update(dict(border.damage))
        damage.update(dict(self._start.damage))
        return replace(border, damage=tuple(sorted((name, count) for name, count in damage.items() if count)))


def _find_since(turn: Turn, since: int) -> int:
    return max((event.lines.end + 1 for event in turn.events if event.kind is EventKind.NOTE), default=since)
