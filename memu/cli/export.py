"""``memu export``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import click

from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.records import ExportReport

__all__ = ["export"]


@click.command("export")
@click.option(
    "--force",
    multiple=True,
    metavar="PATH",
    help="Take over this file of the tree, though it was written or edited by hand; may be given again.",
)
@common_options
def export(force: Sequence[str], common: Common) -> int:
    """Write the Markdown tree again from the store: pages, MEMORY.md, SKILL.md and INDEX.md."""

    async def run_export() -> ExportReport:
        async with common.open_service() as memu:
            return await memu.export_memory_files(user=common.user, force=force)

    report = asyncio.run(run_export())
    if common.as_json:
        write_json(report.to_dict())
    else:
        print_lines(_describe(report))
    return 0


def _describe(report: ExportReport) -> Iterator[Line]:
    counts = f"{len(report.written)} written, {report.unchanged} unchanged, {len(report.removed)} removed"
    yield f"{report.tree}: {counts}", "bold"
    for path in report.kept:
        yield f"kept your own {path}; memu's went beside it (export --force {path} takes over)", "yellow"
