"""An entry as a page needs it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Self

from memu.memorize.assign.series import place_in_series
from memu.memorize.candidate import BlockShape
from memu.records import Kind, MemoryType, Origin, RecallEntry, Resource

__all__ = ["PageEntry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """One entry with what is known of its source.

    workspace: what orders the workspaces of one scope among one another (name or root); it is never shown.
    order: of what was imported, its place among the sources of one folder, which are one to a page; else "".
    section: a part of the source that the extractor named, shown under the source's title where it differs.
    series, date: the dated series that the source belongs to and its date there, else None.
    """

    id: str
    workspace: str
    path: str
    title: str
    ordinal: int
    text: str
    text_key: str
    order: str = ""
    line: int = 0
    label: str = ""
    block: str = "bullet"
    section: str | None = None
    series: str | None = None
    date: str | None = None
    memory_type: MemoryType = MemoryType.KNOWLEDGE
    happened_at: datetime | None = None
    origin: Origin = Origin.QUOTE
    kind: Kind = Kind.DOCUMENT

    @classmethod
    def of(cls, entry: RecallEntry, resource: Resource, workspace: str) -> Self:
        """The page's view of a stored entry and its source."""
        place = place_in_series(resource.path, resource.kind, resource.facts)
        order = resource.facts.get("order")
        return cls(
            id=entry.id,
            workspace=workspace,
            path=PurePosixPath(resource.path).parent.as_posix() if order else resource.path,
            order=order if isinstance(order, str) else "",
            title=resource.title,
            ordinal=entry.ordinal,
            text=entry.text,
            text_key=entry.text_key,
            line=entry.lines.start if entry.lines else 0,
            label=entry.label,
            block=entry.block,
            section=entry.section,
            series=place.key if place else None,
            date=place.date if place else None,
            memory_type=entry.memory_type,
            happened_at=entry.happened_at,
            origin=entry.origin,
            kind=resource.kind,
        )

    @property
    def shape(self) -> BlockShape:
        """Its form on the page, with number, depth and language."""
        return BlockShape.parse(self.block)

    @property
    def place_key(self) -> tuple[str, str, int, int]:
        """Where it stands: by workspace, path, line, then the order of extraction."""
        path = f"{self.path}/{self.order}" if self.order else self.path
        return self.workspace, path, self.line, self.ordinal

    @property
    def source_key(self) -> tuple[str, str]:
        """What makes two entries come from one source."""
        return self.workspace, self.path

    @property
    def identity(self) -> str:
        """What makes two entries one statement; one without any letter or digit goes by its text."""
        return self.text_key or f"\0{self.text}"
