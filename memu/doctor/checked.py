"""What one check looked at and found, and how many of these become a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from memu.doctor.remedies import Remedies
from memu.records import Finding, HealthReport, Scope, Severity, Workspace
from memu.storage.repository import Repository

__all__ = ["Checked", "ScopeRows", "merge"]

_MOST = 50
_ORDER = {severity: place for place, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One check's outcome: ``count`` is how many things it looked at."""

    check: str
    count: int
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRows:
    """A scope as one transaction sees it. syncing: the ids of the workspaces of which a sync runs now."""

    scope: Scope
    repository: Repository
    workspaces: tuple[Workspace, ...]
    syncing: frozenset[str]
    remedies: Remedies

    @property
    def roots(self) -> Mapping[str, str]:
        """Workspace id → root."""
        return {workspace.id: workspace.root for workspace in self.workspaces}

    @property
    def is_local(self) -> bool:
        """Whether the folders are of this machine: a server's may be synced from others."""
        return self.remedies.url.get_backend_name() == "sqlite"

    def left(self, workspace_id: str | None = None) -> Severity:
        """How bad it is that work is left, in a workspace or in the whole scope: while a sync runs, not at all."""
        syncing = workspace_id in self.syncing if workspace_id else bool(self.syncing)
        return Severity.NOTICE if syncing else Severity.WARNING


def merge(checks: Iterable[tuple[Scope | None, Checked]]) -> HealthReport:
    """One report, the worst first. Where several scopes were examined, each finding names its own."""
    items = list(checks)
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    several = len({scope for scope, _ in items if scope is not None}) > 1
    for scope, checked in items:
        counts[checked.check] += checked.count
        suffix = f" ({scope})" if several and scope is not None else ""
        findings += (replace(each, subject=f"{each.subject}{suffix}") for each in _bound(checked))
    findings.sort(key=lambda each: (_ORDER[each.severity], each.check, each.subject))
    return HealthReport(findings=tuple(findings), checked=dict(sorted(counts.items())))


def _bound(checked: Checked) -> tuple[Finding, ...]:
    """At most so many findings of one check, and one that counts the others."""
    left = checked.findings[_MOST:]
    if not left:
        return checked.findings
    worst = min(left, key=lambda each: _ORDER[each.severity])
    more = replace(worst, subject="more", message=f"{len(left)} more of this kind are not listed.")
    return (*checked.findings[:_MOST], more)
