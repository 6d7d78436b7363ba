"""What *assign* is given and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memu.records import Kind, LineSpan, MemoryType, Origin, Track

__all__ = ["AssignCandidate", "AssignSource", "AssignedPage", "Assignment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignSource:
    """One source of the workspace. ``facts`` is what ``facts_of`` gave for it."""

    path: str
    kind: Kind
    title: str
    content_hash: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignCandidate:
    """One remembered thing of the source at ``path``. The id is only handed through, it decides nothing."""

    id: str
    path: str
    ordinal: int
    text_key: str
    lines: LineSpan | None = None
    track: Track = Track.MEMORY
    memory_type: MemoryType = MemoryType.KNOWLEDGE
    page_hint: str | None = None
    section: str | None = None
    origin: Origin = Origin.QUOTE

    @property
    def place_key(self) -> tuple[str, int, int]:
        """Where it stands in the workspace: by path, then line, then the order of extraction."""
        return self.path, self.lines.start if self.lines else 0, self.ordinal


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedPage:
    """One page and the ids of what stands on it, in (path, line) order."""

    track: Track
    folded_name: str
    name: str
    entry_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Every page by track and folded name, and the ids of what is shown on none."""

    pages: tuple[AssignedPage, ...] = ()
    hidden: frozenset[str] = frozenset()
