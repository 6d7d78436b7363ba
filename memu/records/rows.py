"""What the store holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memu.records.kinds import Kind, LineSpan, MemoryType, Origin, State, Track

__all__ = [
    "IMPORTED",
    "EncoderIdentity",
    "OverviewSentence",
    "Passage",
    "RecallEntry",
    "RecallFile",
    "RecallFileEntry",
    "Resource",
    "Workspace",
]

IMPORTED = "memu-import"
"""The name of the workspace that holds what was imported, and the folder that its sources' paths begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One synced folder in a scope. ``name`` is given by the user; without one the real ``root`` identifies it.

    An imported one lies in no folder: its ``root`` is "", no sync looks at it, and its sources are in the store.

    ``version`` grows with every change of its sources; ``assigned`` is the version that pages were last
    settled for, so a crash between the two is seen by the next sync.
    """

    id: str
    name: str | None
    root: str
    version: int = 0
    assigned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One source and its state. ``seen_ns`` is when its bytes were looked at.

    ``stamp`` tells its file from another of equal size and time, and from itself after any change; 0 is unknown.

    ``facts`` holds what *assign* needs to know of it (tags, headings, series); of an imported one its text too.
    """

    id: str
    workspace_id: str
    path: str
    kind: Kind
    title: str
    caption: str = ""
    content_hash: str = ""
    size: int = 0
    mtime_ns: int = 0
    stamp: int = 0
    seen_ns: int = 0
    state: State = State.PENDING
    reason: str | None = None
    attempts: int = 0
    tried_at: datetime | None = None
    language: str | None = None
    happened_at: datetime | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def kept_text(self) -> str | None:
        """The text of a source that lies in no file ("" where words of it were cut); None for any other source."""
        kept = self.facts.get("kept")
        return kept if isinstance(kept, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallEntry:
    """One remembered thing and where it came from.

    ``text`` is the statement itself; ``label`` (heading path, speaker or parent bullet) stands in front of it
    when shown and is not part of the quote. ``block`` is the Markdown form it takes on a page. ``page_hint`` is
    the page that the extractor named, if any; ``shown`` is decided by *assign*. A model's ``text`` (``origin``)
    is its own wording of what stands in ``lines``.
    """

    id: str
    resource_id: str
    ordinal: int
    memory_type: MemoryType
    track: Track
    text: str
    text_key: str
    lines: LineSpan | None = None
    place: str | None = None
    label: str = ""
    block: str = "bullet"
    page_hint: str | None = None
    section: str | None = None
    origin: Origin = Origin.QUOTE
    shown: bool = True
    happened_at: datetime | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFile:
    """One Markdown page. ``content`` holds blocks that end in footnote marks; ``version`` grows with each save.

    described_by: the ids of the entries that a model's ``description`` rests on; None where it is made from counts
        and titles.
    """

    id: str
    track: Track
    folded_name: str
    name: str
    description: str = ""
    described_by: tuple[str, ...] | None = None
    content: str = ""
    version: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewSentence:
    """One sentence of what a model wrote above a list of pages, and the ids of the pages that it rests on."""

    text: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFileEntry:
    """That a page rests on an entry, and the footnote ``mark`` by which the page cites it ("" until folded).

    ``spelling`` is the page's name as the entry's source spells it; the page shows the lowest of all spellings.
    """

    file_id: str
    entry_id: str
    mark: str = ""
    spelling: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The unit of search. Exactly one of the three owner ids is set.

    ``header`` (title, heading path, file path, date, speaker) counts double in word ranking and goes in front of
    ``text`` for the encoder.
    """

    id: str
    ordinal: int
    header: str
    text: str
    heading: str = ""
    resource_id: str | None = None
    entry_id: str | None = None
    file_id: str | None = None
    track: Track | None = None
    kind: Kind | None = None
    language: str | None = None
    lines: LineSpan | None = None
    place: str | None = None
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderIdentity:
    """What makes two vectors comparable: the same name, dimension and fingerprint.

    ``dimension`` is 0 while only a reply could tell it and none has come; it then fits any. ``languages`` are the
    ISO 639-1 codes the encoder knows; empty means every language.
    """

    name: str
    dimension: int
    fingerprint: str
    languages: frozenset[str] = frozenset()
