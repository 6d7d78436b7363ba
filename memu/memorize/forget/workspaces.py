"""Taking a whole workspace out of memory, with all that only it said; nothing is forgotten for the future."""

from __future__ import annotations

from dataclasses import replace

from memu.memorize.forget.errand import Forgetter
from memu.memorize.forget.receipts import compare_pages, name_trees, read_pages
from memu.memorize.forget.removal import find_others, name_pages
from memu.memorize.settlement import remove_workspace
from memu.records import ForgetReceipt, Scope, Workspace
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["forget_workspace"]


async def forget_workspace(
    forgetter: Forgetter, scope: Scope, workspace: Workspace, *, dry_run: bool, wait: bool
) -> ForgetReceipt:
    """Remove it; the folder itself is not touched. Killed, the next sync folds and exports what is left.

    Raises:
        BusyError: a sync of it runs.
    """
    database = forgetter.database

    def describe(session: Session) -> ForgetReceipt:
        return _describe(session.within(scope), workspace, dry_run=dry_run)

    if dry_run:
        return await database.read(describe)
    async with database.lock(forgetter.lock_name(scope, workspace.root), wait_seconds=None if wait else 0):
        receipt, before = await database.read(describe), await read_pages(database, scope)
        await database.write(lambda session: remove_workspace(session.within(scope), workspace.id))
        unpatched = await forgetter.fold(scope)
        pages = compare_pages(before, await read_pages(database, scope))
    receipt = replace(receipt, pages=pages, unpatched=unpatched)
    return replace(name_trees(receipt, await forgetter.export(scope)), usage=forgetter.meter.usage)


def _describe(repository: Repository, workspace: Workspace, *, dry_run: bool) -> ForgetReceipt:
    """What goes with the workspace, and what of it other sources of the scope say too."""
    going = repository.resources.of_workspace(workspace.id)
    gone = repository.entries.of_workspace(workspace.id)
    staying = [
        resource
        for other in repository.workspaces.list()
        if other.id != workspace.id
        for resource in repository.resources.of_workspace(other.id)
    ]
    return ForgetReceipt(
        what="workspace",
        dry_run=dry_run,
        entries=len(gone),
        texts=tuple(sorted({entry.text for entry in gone})) if dry_run else (),
        removed=tuple(sorted(each.path for each in going)),
        stays=tuple(find_others(repository, gone, staying)),
        pages=name_pages(repository, {entry.id for entry in gone}),
    )
