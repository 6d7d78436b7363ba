"""What a reader makes of a source: a title and a row of blocks, each knowing its lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from memu.ingest.sessions.borders import Border
from memu.ingest.sessions.events import EventMark, SessionTurn
from memu.records import Kind, LineSpan

__all__ = ["Block", "BlockKind", "Document", "Reader", "Row", "Source"]


class BlockKind(StrEnum):
    """The form that a block has in its source."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    BULLET = "bullet"
    STEP = "step"
    FENCE = "fence"
    QUOTE = "quote"
    TABLE = "table"
    COMMENT = "comment"
    SIGNATURE = "signature"
    DOCSTRING = "docstring"
    TURN = "turn"
    ROW = "row"
    LOG_LINE = "log_line"
    DATA = "data"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file's decoded, redacted text. ``path`` is workspace-relative POSIX; lines end in ``\\n`` only."""

    path: str
    text: str


class Row(NamedTuple):
    """From the character ``start`` on, a block's text is from the raw lines ``first`` to ``last``."""

    start: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a document.

    ``text`` is what the source says, verbatim after its encoding is undone (JSON strings unescaped, HTML
    entities resolved, list markers and ``#`` left out); ``lines`` are where it stands in the raw file.

    heading: the headings above it, outermost first, without the document's title.
    depth: nesting of a bullet or step (0 outermost), the level of a heading (1 outermost), or 0 for a table's
        first row (its header, where it has one) and 1 for the others.
    number: of a step, as the source counts it; None where it does not say.
    parent: text of the bullet or step that it is nested under; of a table's row, its header row.
    language: of a fence, its info string's first word, lower case.
    speaker, role, time: of a chat or meeting turn; role is "user", "assistant", "system", "tool" or "".
    place: where it stands when there are no lines (page, sheet, cell, timestamp); of a session its turn and event.
    event: of a session, which event it is a part of.
    level: of a log line: "error", "warning", "info", "debug" or "".
    rows: which of the lines each part of the text is from, in order; empty where that is not known. They go with
        the text: ``retold`` gives another one.
    """

    kind: BlockKind
    text: str
    lines: LineSpan | None
    heading: tuple[str, ...] = ()
    depth: int = 0
    number: int | None = None
    parent: str | None = None
    language: str = ""
    speaker: str | None = None
    role: str = ""
    time: datetime | None = None
    place: str | None = None
    level: str = ""
    rows: tuple[Row, ...] = ()
    event: EventMark | None = None

    def retold(self, text: str) -> Block:
        """The block with this text; rows that the difference touches become one."""
        if text == self.text:
            return self
        return replace(self, text=text, rows=_shift(self.rows, self.text, text) if self.rows else ())

    def moved(self, place: Callable[[LineSpan], LineSpan]) -> Block:
        """The block at the lines that ``place`` makes of its own."""
        if self.lines is None:
            return self
        spans = ((row.start, place(LineSpan(row.first, row.last))) for row in self.rows)
        rows = tuple(Row(start, span.start, span.end) for start, span in spans)
        return replace(self, lines=place(self.lines), rows=rows)


def _shift(rows: tuple[Row, ...], old: str, new: str) -> tuple[Row, ...]:
    same = _count_same(old, new)
    after = min(min(len(old), len(new)) - same, _count_same(old[::-1], new[::-1]))
    shifted: list[Row] = []
    for row in rows:
        if row.start <= same:
            shifted.append(row)
        elif row.start >= len(old) - after:
            shifted.append(row._replace(start=row.start + len(new) - len(old)))
        else:
            shifted[-1] = shifted[-1]._replace(last=max(shifted[-1].last, row.last))
    return tuple(shifted)


def _count_same(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source as read.

    title: what a person called it (front matter, first heading, chat name), else the file's stem made readable;
        ``titled`` tells which. tags and category come from front matter only, as written. description is a
        summary that the source itself states, or "". happened_at comes from content or path only, never from
        the file system. damage counts what had to be passed over ("bad_record": 2). turns: of a session, in order;
        own_run: it is one of memu's own, with a model. border: of a session's log, up to where it stands however
        it grows. conversations: it holds conversations, each a whole of its own, which the outermost headings
        name and the places tell apart.
    """

    kind: Kind
    title: str
    titled: bool
    blocks: tuple[Block, ...]
    tags: tuple[str, ...] = ()
    category: str | None = None
    description: str = ""
    happened_at: datetime | None = None
    links: tuple[str, ...] = ()
    damage: tuple[tuple[str, int], ...] = ()
    turns: tuple[SessionTurn, ...] = ()
    own_run: bool = False
    border: Border | None = None
    conversations: bool = False

    def map_text(self, change: Callable[[str], str]) -> Document:
        """The same document with ``change`` applied to every string that came from the source."""

        def maybe(text: str | None) -> str | None:
            return None if text is None else change(text)

        def told(block: Block) -> Block:
            retold = block.retold(change(block.text))
            heading = tuple(map(change, block.heading))
            parent, speaker, place = maybe(block.parent), maybe(block.speaker), maybe(block.place)
            # Nearly every block stays as it is.
            if (heading, parent, speaker, place) == (block.heading, block.parent, block.speaker, block.place):
                return retold
            return replace(retold, heading=heading, parent=parent, speaker=speaker, place=place)

        return replace(
            self,
            title=change(self.title),
            tags=tuple(map(change, self.tags)),
            category=maybe(self.category),
            description=change(self.description),
            links=tuple(map(change, self.links)),
            blocks=tuple(map(told, self.blocks)),
        )


class Reader(Protocol):
    """Reads one family of formats. Stateless; found by content first and by suffix second.

    A reader never raises on damaged input: it reads what it can and counts the rest in ``Document.damage``.
    """

    @property
    def name(self) -> str:
        """A short name for reports ("markdown")."""

    @property
    def suffixes(self) -> frozenset[str]:
        """Lower-case suffixes with their dot that this reader takes when no content speaks for another."""

    def recognises(self, source: Source) -> bool:
        """Whether the content alone shows that this reader should take it. Looks at a bounded head only."""

    def read(self, source: Source) -> Document:
        """The document."""
