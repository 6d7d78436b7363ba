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
from memu.memorize.kept_points import Added, Grown, LogTrace
from memu.providers.meter import Meter
from memu.records import (
    ExportReport,
    FileProblem,
    PageChanges,
    Passage,
    RecallFile,
    Scope,
    State,
    SyncReport,
    Track,
    Workspace,
)

if TYPE_CHECKING:
    from memu.memorize.fold.entries import PageEntry
    from memu.memorize.fold.render import Rendered

__all__ = ["AppendState", "AssignState", "EmbedState", "FoldState", "MemorizeState", "Outcome", "SyncState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one file ended in this sync. ``dropped``: what a model said that its source does not back, by reason.

    unread: the file could not be read or understood; what was stored of it before stands.
    damage: how much of it had to be passed over, by what was wrong.
    """

    path: str
    state: State
    reason: str | None = None
    redactions: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    unread: bool = False
    damage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncState:
    """One sync of one folder.

    only: a stored path; the sync looks at this file or folder and leaves the rest alone.
    removals: whether files that are gone are forgotten.
    retry_failed: whether failed files are tried again before they are due.
    meter: counts the calls of this sync and keeps it within its caps; what is left is done by the next one.
    synthesize: whether a model is to write an overview above each list of pages.
    offered: the names of pages that the model may put entries on.
    unpatched: what was done without the model that should have, pages, their names or overviews, and why.
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
    meter: Meter = field(default_factory=Meter)
    synthesize: bool = False
    workspace: Workspace | None = None
    run_id: str = ""
    began: datetime | None = None
    scan: Scan | None = None
    untrusted: tuple[str, ...] = ()
    diff: Diff | None = None
    never_read: frozenset[str] = frozenset()
    offered: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    pages: PageChanges = PageChanges()
    unpatched: tuple[FileProblem, ...] = ()
    vectors_missing: int = 0
    degraded: str | None = None
    export: ExportReport | None = None
    report: SyncReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorizeState:
    """One file on its way into the store. What it stores is a pure function of the file's bytes and path, and of
    what a model made of them.

    untrusted: whether anybody may have written it; it teaches no skill and sets no rule then.
    damage: what was wrong with the file's bytes before a reader saw them.
    lost: why the model gave nothing for some of its ``chunks``; quotes stand in for them.
    prompts: by which replies are known that were made use of, or asked for. perceived: by which one that stays.
    read_by: the model that read all of it, "" where none did. extractor: what made the candidates, where that is
        not the one that needs no model. log: what a log's next reading has to know of this one.
    """

    scope: Scope
    workspace_id: str
    root: Path
    file: FoundFile
    began: datetime
    untrusted: bool = False
    offered: tuple[str, ...] = ()
    meter: Meter = field(default_factory=Meter)
    data: bytes = b""
    content_hash: str = ""
    text: str = ""
    damage: Mapping[str, int] = field(default_factory=dict)
    redactions: Mapping[str, int] = field(default_factory=dict)
    skipped: str | None = None
    document: Document | None = None
    language: str | None = None
    candidates: tuple[Candidate, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    chunks: int = 0
    read_by: str = ""
    extractor: str = ""
    prompts: tuple[str, ...] = ()
    perceived: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    forgotten: Forgotten = Forgotten()
    log: LogTrace = LogTrace()
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendState:
    """A log that may only have grown, on its way into the store.

    grown: what was written behind its kept point. added: what of the source's rows is to be in the place of those
    behind the point. outcome: None where the log has to be read anew.
    """

    scope: Scope
    workspace_id: str
    root: Path
    file: FoundFile
    began: datetime
    untrusted: bool = False
    grown: Grown | None = None
    added: Added | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignState:
    """The pages of one workspace's entries, settled over all its sources.

    version: the workspace's, as it was when its sources were loaded. standing: the pages that are written.
    failed: why a model did not say which new names of pages mean one thing. tried: how many times in a row it did
    not. due: whether it is asked again about names that stand apart for it.
    """

    scope: Scope
    workspace_id: str
    meter: Meter = field(default_factory=Meter)
    version: int = 0
    standing: frozenset[tuple[Track, str]] = frozenset()
    sources: tuple[AssignSource, ...] = ()
    candidates: tuple[AssignCandidate, ...] = ()
    assignment: Assignment | None = None
    queued: int = 0
    failed: str | None = None
    tried: int = 0
    due: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldState:
    """One queued page. ``page`` is as it was loaded: saving names its version.

    marks: by which the page cites entries as it stands; "" of those that it does not cite yet.
    ticket: that by which it is taken off the queue.
    change: "created", "changed" or "removed"; None while the page stayed as it was.
    prompts: hashes of what a model was asked for it. failed: why the model gave no use.
    tried: how many times in a row a model gave no use for the page as it stands. due: whether it is asked again.
    insist: whether it is asked before it is due.
    waiting: whether the page is to be folded again, with the model that could not be asked this time.
    """

    scope: Scope
    file_id: str
    ticket: str
    meter: Meter = field(default_factory=Meter)
    page: RecallFile | None = None
    insist: bool = False
    marks: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[PageEntry, ...] = ()
    tried: int = 0
    due: bool = True
    name: str = ""
    rendered: Rendered | None = None
    model: str = ""
    prompts: tuple[str, ...] = ()
    failed: str | None = None
    waiting: bool = False
    saved: bool = False
    change: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedState:
    """Vectors for the passages of one scope that have none; ``meter`` says how many calls may be made."""

    scope: Scope
    meter: Meter = field(default_factory=Meter)
    missing: int = 0
    degraded: str | None = None
