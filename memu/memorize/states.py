"""The states that the write workflows carry: one frozen dataclass each, no service or session inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memu.ingest.diff import Diff
from memu.ingest.document import Document
from memu.ingest.scan import FoundFile, Scan
from memu.memorize.assign.records import AssignCandidate, Assignment, AssignSource
from memu.memorize.candidate import Candidate
from memu.memorize.forget.forgotten import Forgotten
from memu.records import (
    ExportReport,
    PageChanges,
    Passage,
    RecallFile,
    Scope,
    State,
    SyncReport,
    Usage,
    Workspace,
)

if TYPE_CHECKING:
    from memu.memorize.fold.entries import PageEntry
    from memu.memorize.fold.render import Rendered

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
    """One sync of one folder.

    only: a stored path; the sync looks at this file or folder and leaves the rest alone.
    removals: whether files that are gone are forgotten.
    retry_failed: whether failed files are tried again before they are due.
    max_calls: how many model and encoder calls may be made; what is left is done by the next sync.
    began: when the scan began; what it saw is not newer.
    never_read: paths whose rows of an earlier sync hold nothing that was read yet.
    """

    scope: Scope
    folder: Path
    name: str | None = None
    allow_empty: bool = False
    only: str | None = None
    removals: bool = True
    retry_failed: bool = False
    max_calls: int | None = None
    workspace: Workspace | None = None
    run_id: str = ""
    began: datetime | None = None
    scan: Scan | None = None
    diff: Diff | None = None
    never_read: frozenset[str] = frozenset()
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
    began: datetime
    untrusted: bool = False
    data: bytes = b""
    content_hash: str = ""
    text: str = ""
    redactions: Mapping[str, int] = field(default_factory=dict)
    skipped: str | None = None
    document: Document | None = None
    language: str | None = None
    candidates: tuple[Candidate, ...] = ()
    passages: tuple[Passage, ...] = ()
    forgotten: Forgotten = Forgotten()
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignState:
    """The pages of one workspace's entries, settled over all its sources.

    version: the workspace's, as it was when its sources were loaded.
    """

    scope: Scope
    workspace_id: str
    version: int = 0
    sources: tuple[AssignSource, ...] = ()
    candidates: tuple[AssignCandidate, ...] = ()
    assignment: Assignment | None = None
    queued: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldState:
    """One queued page. ``page`` is as it was loaded: saving names its version.

    ticket: that by which it is taken off the queue.
    change: "created", "changed" or "removed"; None while the page stayed as it was.
    """

    scope: Scope
    file_id: str
    ticket: str
    page: RecallFile | None = None
    entries: tuple[PageEntry, ...] = ()
    name: str = ""
    rendered: Rendered | None = None
    saved: bool = False
    change: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedState:
    """Vectors for the passages of one scope that have none; at most ``max_calls`` calls are made."""

    scope: Scope
    max_calls: int | None = None
    usage: Usage = Usage()
    missing: int = 0
    degraded: str | None = None
