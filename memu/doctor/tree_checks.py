"""Checks of exported trees: published at all, up to date, and every file as the manifest has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from memu.doctor.checked import Checked
from memu.doctor.remedies import NOTHING_TO_DO, Remedies
from memu.export.examination import TreeExamination
from memu.records import Finding, Severity, TreeStatus

__all__ = ["check_tree"]

_STATES = {
    "unpublished": "It was never published.",
    "missing": "It was published and is gone.",
    "unreadable": "It cannot be read.",
}


def check_tree(status: TreeStatus, examined: TreeExamination, remedies: Remedies, left: Severity) -> Checked:
    """``examined`` is looked at only where the tree is there; ``left`` is how bad it is to be behind the store."""
    export = remedies.export(Path(status.tree).parent)
    if status.state in _STATES:
        found = [_finding(status.tree, left, _STATES[status.state], export)]
        return Checked(check="export", count=1, findings=tuple(found))
    findings: list[Finding] = []
    if status.state == "stale":
        message = f"The store changed {status.behind} times since it was published."
        findings.append(_finding(status.tree, left, message, export))
    findings += _files(status.tree, examined, export)
    return Checked(check="export", count=max(1, examined.owned), findings=tuple(findings))


def _files(tree: str, examined: TreeExamination, export: str) -> Iterator[Finding]:
    if examined.unmarked:
        yield _finding(tree, Severity.WARNING, f"{examined.trouble}.", export)
        return
    if examined.trouble:
        remedy = "Move the tree away, then publish it anew. " + export
        yield _finding(tree, Severity.ERROR, f"{examined.trouble}.", remedy)
        return
    if examined.unfinished:
        yield _finding(
            tree, Severity.WARNING, "Publishing was killed before its end; every file is whole.", export
        )
    for path in examined.missing:
        yield _finding(f"{tree}/{path}", Severity.WARNING, "The file is gone.", export)
    for path in examined.changed:
        yield _finding(
            f"{tree}/{path}",
            Severity.WARNING,
            "The file was changed by hand; it is yours from now on, and memu's own will go beside it.",
            f"{export} To give the file back to memu, add `--force {path}`.",
        )
    for path in examined.leftovers:
        yield _finding(f"{tree}/{path}", Severity.WARNING, "A killed publish left this temporary file.", export)
    if examined.extra:
        named = _listed(examined.extra)
        yield _finding(
            tree, Severity.NOTICE, f"Files that are not memu's: {named}.", f"{NOTHING_TO_DO} They stay."
        )


def _finding(subject: str, severity: Severity, message: str, remedy: str) -> Finding:
    return Finding(check="export", severity=severity, subject=subject, message=message, remedy=remedy)


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
