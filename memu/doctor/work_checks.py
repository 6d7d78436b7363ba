"""Checks of the work itself: sources that wait or failed, pages not settled or folded, syncs that did not end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from memu.doctor.checked import Checked, ScopeRows
from memu.doctor.remedies import Remedies
from memu.records import Finding, Resource, Severity, State, Workspace

__all__ = ["check_runs", "check_sources", "check_work"]

_SHOWN = 3
_EMPTIED = "--allow-empty"
_ABSENT = "there is no such folder"


def check_sources(rows: ScopeRows) -> Checked:
    """Sources that failed, and those that wait."""
    count = 0
    findings: list[Finding] = []
    for workspace in rows.workspaces:
        count += sum(rows.repository.resources.counts(workspace.id).values())
        findings += _unfinished(rows, workspace)
    return Checked(check="sources", count=count, findings=tuple(findings))


def _unfinished(rows: ScopeRows, workspace: Workspace) -> Iterator[Finding]:
    for source in rows.repository.resources.in_state(workspace.id, State.FAILED):
        yield Finding(
            check="sources",
            severity=Severity.WARNING,
            subject=source.path,
            message=_failure(source),
            remedy=rows.remedies.sync(workspace.root, "--retry-failed"),
        )
    # One command is for all of them, and after a full disk they may be many.
    if waiting := rows.repository.resources.in_state(workspace.id, State.PENDING):
        yield Finding(
            check="sources",
            severity=rows.left(workspace.id),
            subject=_named([source.path for source in waiting]),
            message=_tell(len(waiting), "waits to be read.", "files wait to be read."),
            remedy=rows.remedies.sync(workspace.root),
        )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _tell(count: int, one: str, several: str) -> str:
    return f"It {one}" if count == 1 else f"{count} {several}"


def _failure(source: Resource) -> str:
    """What is wrong with it; what merely cannot be looked at was not tried."""
    if not source.attempts:
        return f"It could not be looked at: {source.reason}."
    times = "" if source.attempts == 1 else f" {source.attempts} times"
    return f"It failed{times}: {source.reason}."


def check_work(rows: ScopeRows) -> Checked:
    """Pages that are not settled for the sources as they are, and pages that wait to be folded."""
    findings = [
        Finding(
            check="work",
            severity=rows.left(workspace.id),
            subject=workspace.name or workspace.root,
            message="Sources changed since it was settled which entry stands on which page.",
            remedy=rows.remedies.sync(workspace.root),
        )
        for workspace in rows.workspaces
        if workspace.assigned != workspace.version
    ]
    names = {page.id: f"{page.track.value}/{page.name}" for page in rows.repository.pages.list()}
    queued = rows.repository.queue.list()
    # Any sync of the scope folds its queue.
    root = min((workspace.root for workspace in rows.workspaces if workspace.root), default="")
    if queued:
        findings.append(
            Finding(
                check="work",
                severity=rows.left(),
                subject=_named(sorted(names.get(page.file_id, page.file_id) for page in queued)),
                message=_tell(len(queued), "waits to be folded anew.", "pages wait to be folded anew."),
                remedy=rows.remedies.sync(root),
            )
        )
    return Checked(check="work", count=len(rows.workspaces) + len(queued), findings=tuple(findings))


def check_runs(rows: ScopeRows) -> Checked:
    """The last sync of each workspace: whether it ended, and well."""
    findings = [finding for workspace in rows.workspaces for finding in _look_at_run(rows, workspace)]
    if not rows.workspaces:
        findings.append(
            Finding(
                check="runs",
                severity=Severity.WARNING,
                subject=str(rows.scope),
                message="No sync of a folder has come so far in this scope.",
                remedy="Run `memu sync FOLDER`, if there is one to be synced.",
            )
        )
    return Checked(check="runs", count=len(rows.workspaces), findings=tuple(findings))


def _look_at_run(rows: ScopeRows, workspace: Workspace) -> Iterator[Finding]:
    run = rows.repository.runs.last(workspace.id)
    if run is not None and run.state == "running" and workspace.id not in rows.syncing:
        message = f"The sync of {run.started_at:%Y-%m-%d %H:%M} UTC was killed before its end."
    elif run is not None and run.error:
        message = f"The last sync failed: {run.error}"
    elif workspace.root and rows.is_local and not Path(workspace.root).is_dir():
        yield _absent(rows, workspace)
        return
    else:
        return
    yield Finding(
        check="runs",
        severity=Severity.WARNING,
        subject=workspace.name or workspace.root,
        message=message,
        remedy=_go_on(rows.remedies, workspace.root, run.error or ""),
    )


def _absent(rows: ScopeRows, workspace: Workspace) -> Finding:
    """A folder that is not there: what was deleted from it, and what it became, no sync has seen."""
    return Finding(
        check="runs",
        severity=Severity.WARNING,
        subject=workspace.name or workspace.root,
        message="Its folder is not there, so nothing of it is looked at any more.",
        remedy=_go_on(rows.remedies, workspace.root, _ABSENT),
    )


def _go_on(remedies: Remedies, root: str, error: str) -> str:
    """What comes after a sync that failed: another; of a folder that is empty or not there, only one that may
    believe it."""
    missing = "If its files are only out of reach (a missing mount), bring them back and sync."
    if _EMPTIED in error:
        return f"{missing} If they are gone: {remedies.sync(root, _EMPTIED)}"
    if _ABSENT in error:
        return f"{missing} {remedies.let_go(root)}"
    return remedies.sync(root)
