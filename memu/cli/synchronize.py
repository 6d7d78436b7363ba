"""``memu memorize-workspace FOLDER``, also ``memu sync``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memu.cli.options import Common, cap_options, common_options
from memu.cli.output import print_lines, print_notice, write_json
from memu.idle import IdleWatch
from memu.records import SyncPlan, SyncReport

__all__ = ["PARTIAL", "memorize_workspace"]

PARTIAL = 1


@click.command("memorize-workspace")
@click.argument("folder", type=click.Path(path_type=Path, readable=False))
@click.option("--workspace", "name", metavar="NAME", help="Know the workspace by this name, wherever it lies.")
@click.option("--allow-empty", is_flag=True, help="Accept a folder that has become empty: forget its sources.")
@click.option("--wait", is_flag=True, help="Wait for another sync of this workspace instead of ending busy.")
@click.option("--retry-failed", is_flag=True, help="Try failed files again now, not when they are due.")
@cap_options
@click.option("--synthesize", is_flag=True, help="Have a model write an overview above the lists of pages.")
@click.option("--dry-run", is_flag=True, help="Say what a sync would do, and write nothing.")
@common_options
def memorize_workspace(folder: Path, dry_run: bool, common: Common, **how: Any) -> int:
    """Sync FOLDER: remember what is new, forget what is gone, export the pages.

    Exit code 1 means that some files failed; they are listed, and tried again by later syncs.
    """
    # Loaded late: a sync that ends early is done before half of this is.
    if dry_run:
        import asyncio

        return _show_plan(asyncio.run(_plan(folder, common, how)), common)
    asked = {"out": common.out, "local_only": common.local_only, **how}
    watch = IdleWatch(folder, common.user, asked) if _is_scheduled(common, how) else None
    if watch and watch.stands():
        return 0
    import asyncio

    report = asyncio.run(_sync(folder, common, how))
    if watch and common.load_settings().db is None:
        from memu.settings import config_file

        watch.keep(report, config_file())
    return _show_report(report, common)


def _is_scheduled(common: Common, how: dict[str, Any]) -> bool:
    """Whether nothing is to be said of a sync that finds nothing to do, and its store is the folder's own."""
    return common.quiet and not common.as_json and common.db is None and not how["retry_failed"]


async def _plan(folder: Path, common: Common, how: dict[str, Any]) -> SyncPlan:
    wanted = {name: how[name] for name in ("name", "allow_empty", "retry_failed", "synthesize")}
    async with common.open_service(folder) as memu:
        return await memu.plan_workspace(folder, user=common.user, **wanted)


async def _sync(folder: Path, common: Common, how: dict[str, Any]) -> SyncReport:
    from memu.cli.progress import sync_progress

    with sync_progress(quiet=common.quiet) as interceptors:
        async with common.open_service(folder, interceptors) as memu:
            return await memu.memorize_workspace(folder, user=common.user, **how)


def _show_plan(plan: SyncPlan, common: Common) -> int:
    from memu.cli.report import describe_plan

    if common.as_json:
        write_json(plan.to_dict())
    else:
        print_lines(describe_plan(plan))
    return PARTIAL if plan.failed else 0


def _show_report(report: SyncReport, common: Common) -> int:
    from memu.cli.report import describe_sync

    if common.as_json:
        write_json(report.to_dict())
    elif common.quiet:
        # A scheduler mails what is printed: say only what somebody has to look at.
        for problem in report.failed:
            print_notice(f"{problem.path}: {problem.reason}")
    else:
        print_lines(describe_sync(report))
    return 0 if report.ok else PARTIAL
