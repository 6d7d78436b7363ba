"""What is told of a request to forget: counts, paths and pages; words only in a dry run."""

from __future__ import annotations

from dataclasses import replace

from memu.memorize.forget.removal import Removal
from memu.records import ExportReport, ForgetReceipt, PageChanges, Scope
from memu.storage.database import Database
from memu.storage.repository import Repository

__all__ = ["add_removal", "compare_pages", "describe_removal", "describe_scope", "name_trees", "read_pages"]


def describe_removal(removal: Removal, *, dry_run: bool = False) -> ForgetReceipt:
    """What a removal does; only a dry run quotes."""
    return ForgetReceipt(
        what=removal.selection.what,
        dry_run=dry_run,
        entries=len(removal.gone),
        texts=tuple(sorted(removal.texts)) if dry_run else (),
        sources=tuple(sorted(each.resource.path for each in removal.cuts)),
        removed=tuple(sorted(each.path for each in removal.sources)),
        stays=removal.stays,
        pages=removal.pages,
    )


def add_removal(done: ForgetReceipt, more: Removal) -> ForgetReceipt:
    """The receipt with what went in one more round."""
    sources = {*done.sources, *(each.resource.path for each in more.cuts)}
    return replace(done, entries=done.entries + len(more.gone), sources=tuple(sorted(sources)))


async def read_pages(database: Database, scope: Scope) -> dict[str, str]:
    """The pages of a scope as they are now: name → content."""
    pages = await database.read(lambda session: session.within(scope).pages.list())
    return {f"{page.track.value}/{page.name}": page.content for page in pages}


def compare_pages(before: dict[str, str], after: dict[str, str]) -> PageChanges:
    """How two states of the pages differ, each given as name → content."""
    return PageChanges(
        created=tuple(sorted(after.keys() - before.keys())),
        changed=tuple(sorted(name for name, content in after.items() if before.get(name, content) != content)),
        removed=tuple(sorted(before.keys() - after.keys())),
    )


def describe_scope(repository: Repository, *, dry_run: bool) -> ForgetReceipt:
    """What goes with a whole scope."""
    workspaces = repository.workspaces.list()
    resources = (each for one in workspaces for each in repository.resources.of_workspace(one.id))
    return ForgetReceipt(
        what="scope",
        dry_run=dry_run,
        entries=repository.entries.count(),
        removed=tuple(sorted(each.path for each in resources)),
        pages=PageChanges(removed=tuple(f"{page.track.value}/{page.name}" for page in repository.pages.list())),
    )


def name_trees(receipt: ForgetReceipt, reports: tuple[ExportReport, ...]) -> ForgetReceipt:
    """The receipt with the trees that were brought up to date, and the files in them that are not memu's."""
    kept = (f"{report.tree}/{path}" for report in reports for path in report.kept)
    return replace(receipt, trees=tuple(report.tree for report in reports), kept_files=tuple(sorted(kept)))
