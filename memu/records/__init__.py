"""The words of memu as frozen records: what is stored, reported and found.

Times are timezone-aware datetimes in UTC. Paths are POSIX and relative to the workspace's root. Line numbers
start at 1 and both ends belong to the span. Ids are opaque strings of at most 64 characters.
"""

from __future__ import annotations

from memu.records.answers import Hit, Listing, RetrieveResult
from memu.records.health import Finding, HealthReport, SyncRun, TreeStatus, WorkspaceStatus
from memu.records.kinds import Kind, Layer, LineSpan, MemoryType, Origin, Severity, State, Track
from memu.records.receipts import ForgetReceipt, ImportReport, ReindexReport
from memu.records.reports import ExportReport, FileProblem, PageChanges, SyncPlan, SyncReport, Usage
from memu.records.rows import (
    IMPORTED,
    EncoderIdentity,
    OverviewSentence,
    Passage,
    RecallEntry,
    RecallFile,
    RecallFileEntry,
    Resource,
    Workspace,
)
from memu.records.scope import EMPTY_SCOPE, Scope, ScopeValue

__all__ = [
    "EMPTY_SCOPE",
    "IMPORTED",
    "EncoderIdentity",
    "ExportReport",
    "FileProblem",
    "Finding",
    "ForgetReceipt",
    "HealthReport",
    "Hit",
    "ImportReport",
    "Kind",
    "Layer",
    "LineSpan",
    "Listing",
    "MemoryType",
    "Origin",
    "OverviewSentence",
    "PageChanges",
    "Passage",
    "RecallEntry",
    "RecallFile",
    "RecallFileEntry",
    "ReindexReport",
    "Resource",
    "RetrieveResult",
    "Scope",
    "ScopeValue",
    "Severity",
    "State",
    "SyncPlan",
    "SyncReport",
    "SyncRun",
    "Track",
    "TreeStatus",
    "Usage",
    "Workspace",
    "WorkspaceStatus",
]
