"""Checks of entries and pages: everything shown stands on a page, and every block is backed by a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from memu.doctor.checked import Checked, ScopeRows
from memu.doctor.remedies import RESTORE
from memu.doctor.text_checks import find_changed_entries, says_its_entries
from memu.memorize.fold.blocks import parse_blocks
from memu.records import Finding, RecallFile, Severity, Workspace

__all__ = ["check_entries", "check_pages"]


def check_entries(rows: ScopeRows) -> Checked:
    """Entries that no search finds, or that are not as they were stored; shown ones on no page and hidden ones on
    one, where pages are settled."""
    findings: list[Finding] = []
    count = 0
    for workspace in rows.workspaces:
        count += rows.repository.entries.count(workspace.id)
        lost = rows.repository.inspection.without_passage(workspace.id)
        findings += _report_entries(rows, workspace, lost, "have no passage; no search finds them")
        faults: dict[str, list[str]] = {}
        for path, fault in find_changed_entries(rows, workspace):
            faults.setdefault(fault, []).append(path)
        for fault, paths in faults.items():
            findings += _report_entries(rows, workspace, paths, fault)
        if workspace.assigned == workspace.version:
            findings += _misplaced(rows, workspace)
    return Checked(check="entries", count=count, findings=tuple(findings))


def _misplaced(rows: ScopeRows, workspace: Workspace) -> Iterator[Finding]:
    inspection = rows.repository.inspection
    shown, hidden = inspection.shown_without_page(workspace.id), inspection.hidden_with_page(workspace.id)
    yield from _report_entries(rows, workspace, shown, "are shown but stand on no page")
    yield from _report_entries(rows, workspace, hidden, "are hidden but stand on a page")


def _report_entries(rows: ScopeRows, workspace: Workspace, paths: Sequence[str], fault: str) -> Iterator[Finding]:
    for path, number in sorted(Counter(paths).items()):
        yield Finding(
            check="entries",
            severity=Severity.ERROR,
            subject=path,
            message=f"{number} of its entries {fault}.",
            remedy=rows.remedies.rebuild(workspace.root),
        )


def check_pages(rows: ScopeRows) -> Checked:
    """Every page that does not wait to be folded: it rests on entries, marks and links agree, and so do words."""
    queued = {page.file_id for page in rows.repository.queue.list()}
    marks = rows.repository.inspection.marks()
    lost = rows.repository.inspection.pages_without_passage()
    pages = rows.repository.pages.list()
    settled = [page for page in pages if page.id not in queued]
    findings = [finding for page in settled for finding in _look_at_page(rows, page, marks, lost)]
    return Checked(check="pages", count=len(pages), findings=tuple(findings))


def _look_at_page(
    rows: ScopeRows, page: RecallFile, marks: Mapping[str, Sequence[str]], lost: Collection[str]
) -> Iterator[Finding]:
    faults = list(_faults(page.content, marks.get(page.id, ())))
    if page.id in lost:
        faults.append("It has no passage; no search finds it by its name.")
    if not faults and not says_its_entries(rows, page):
        faults.append("Its words are not those that its entries gave it.")
    if not faults:
        return
    roots = [found.workspace.root for found in rows.repository.entries.of_page(page.id)]
    remedy = rows.remedies.rebuild(min(filter(None, roots), default="")) if roots else RESTORE
    for fault in faults:
        yield Finding(
            check="pages",
            severity=Severity.ERROR,
            subject=f"{page.track.value}/{page.name}",
            message=fault,
            remedy=remedy,
        )


def _faults(content: str, linked: Sequence[str]) -> Iterator[str]:
    """What is wrong with a page of this content whose links bear these marks."""
    if not linked:
        yield "It rests on no entry and does not wait to be folded."
        return
    blocks = parse_blocks(content)
    cited = {mark for block in blocks for mark in block.marks}
    if dead := sorted(cited - set(linked)):
        yield f"It cites {_listed(dead)}, which no entry bears."
    if uncited := sorted(set(linked) - cited - {""}):
        yield f"Entries marked {_listed(uncited)} are cited by no block."
    if unmarked := sum(not mark for mark in linked):
        yield f"{unmarked} of its entries bear no mark."
    if bare := sum(not block.marks for block in blocks):
        yield f"{bare} of its blocks cite nothing."


def _listed(marks: Sequence[str]) -> str:
    more = f" and {len(marks) - 3} more" if len(marks) > 3 else ""
    return ", ".join(f"[^{mark}]" for mark in marks[:3]) + more
