"""How workspaces stand, and what an examination of a store found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memu.records.kinds import Severity
from memu.records.plain import plain
from memu.records.reports import FileProblem, Usage
from memu.records.rows import Workspace

__all__ = ["Finding", "HealthReport", "SyncRun", "TreeStatus", "WorkspaceStatus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRun:
    """The stored record of one sync. Once ended it names no page, path or text but those of files now failed.

    usage: what was asked of models, by step.
    """

    id: str
    workspace_id: str
    state: str
    started_at: datetime
    ended_at: datetime | None = None
    extractor: str = "extractive"
    encoder: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[FileProblem, ...] = ()
    error: str | None = None
    usage: Mapping[str, Usage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeStatus:
    """How an exported tree stands, told without opening a file of it.

    state: "current"; "stale" (the store changed ``behind`` times since); "changed" (files of it changed since, or
    another memu published it); "missing" (it was published and is gone); "unpublished"; "unreadable".
    """

    tree: str
    state: str
    behind: int = 0
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceStatus:
    """How one workspace stands: for ``memu status`` and for monitors.

    syncing: a sync of it runs now. usage: what the last sync that ended asked of models and encoders.
    blocked: what keeps any sync from writing to the store now.
    confirmed_at: when a scheduled sync last saw that nothing had moved, and ended there without a run of its own.
    unplaced: how many entries no page cites yet. queued, vectors_missing, trees: of the whole scope.
    """

    workspace: Workspace
    last_run: SyncRun | None
    last_good_run: SyncRun | None
    sources: Mapping[str, int]
    failed: tuple[FileProblem, ...]
    skipped: tuple[FileProblem, ...]
    entries: int
    pages: Mapping[str, int]
    queued: int
    vectors_missing: int
    extractor: str
    encoder: str | None
    unplaced: int = 0
    syncing: bool = False
    blocked: str | None = None
    confirmed_at: datetime | None = None
    usage: Usage = Usage()
    trees: tuple[TreeStatus, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no file stands as failed, the last sync neither failed nor was killed nor did anything without
        the model or encoder that should have, and the next one can write."""
        run = self.last_run
        broken = run is not None and (bool(run.error) or (run.state == "running" and not self.syncing))
        broken = broken or (run is not None and bool(run.counts.get("unpatched")))
        return not (self.failed or broken or self.usage.unanswered or self.blocked)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {"schema": 1, "ok": self.ok, **plain(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it should be. ``subject`` is what it is about: a source, a page, a tree, the store.

    An error is wrong data; a warning is work left or something that waits for a person.
    """

    check: str
    severity: Severity
    subject: str
    message: str
    remedy: str

    def to_dict(self) -> dict[str, str]:
        return {name: str(value) for name, value in plain(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """What an examination of the store found. ``checked``: check → how many things it looked at."""

    findings: tuple[Finding, ...] = ()
    checked: Mapping[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing worse than a notice was found."""
        return all(finding.severity is Severity.NOTICE for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"schema": 1, "ok": self.ok, "findings": findings, "checked": dict(self.checked)}
