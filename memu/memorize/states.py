"""The states that the write workflows carry: one frozen dataclass each, no service or session inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memu.ingest.diff import Diff
from memu.ingest.document import Document
from memu.ingest.scan import FoundFile, Scan
from memu.memorize.assign import Assignment
from memu.memorize.candidate import Candidate
from memu.memorize.fold.render import Rendered
from memu.records import (
    ExportReport,
    FileProblem,
    PageChanges,
    Passage,
    RecallFile,
    Scope,
    State,
    SyncReport,
    Usage,
    Workspace,
)
from memu.storage.entries import PlacedEntry

__all__ = ["AssignState", "EmbedState", "FoldState", "MemorizeState", "Outcome", "SyncState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one file ended in this sync."""

    path: str
    state: State
    reason: str | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncState:
    """One sync of one folder."""

    scope: Scope
    folder: Path
    name: str | None = None
    allow_empty: bool = False
    removals: bool = True
    only: str | None = None
    workspace: Workspace | None = None
    run_id: str = ""
    scan: Scan | None = None
    diff: Diff | None = None
    outcomes: tuple[Outcome, ...] = ()
    pages: PageChanges = PageChanges()
    usage: Usage = Usage()
    vectors_missing: int = 0
    degraded: str | None = None
    export: ExportReport | None = None
    report: SyncReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorizeState:
    """One file on its way into the store. What it stores is a pure function of the file's bytes and path."""

    scope: Scope
    workspace_id: str
    root: Path
    file: FoundFile
    data: bytes = b""
    content_hash: str = ""
    text: str = ""
    redactions: Mapping[str, int] = field(default_factory=dict)
    document: Document | None = None
    language: str | None = None
    candidates: tuple[Candidate, ...] = ()
    passages: tuple[Passage, ...] = ()
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignState:
    """The pages of one workspace's entries, settled over all its sources."""

    scope: Scope
    workspace: Workspace
    version: int = 0
    assignment: Assignment | None = None
    moved: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldState:
    """One queued page. ``page`` is as it was loaded: saving names its version."""

    scope: Scope
    file_id: str
    page: RecallFile | None = None
    ticket: str = ""
    entries: tuple[PlacedEntry, ...] = ()
    rendered: Rendered | None = None
    saved: bool = False
    change: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedState:
    """Vectors for the passages of one scope that have none."""

    scope: Scope
    encoder_id: str = ""
    usage: Usage = Usage()
    missing: int = 0
    degraded: str | None = None
    problems: tuple[FileProblem, ...] = ()
