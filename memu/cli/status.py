"""``memu status``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import click

from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.cli.report import SHOWN_AT_MOST, grouped_problems
from memu.records import SyncRun, WorkspaceStatus

__all__ = ["describe_status", "is_healthy", "status"]

UNHEALTHY = 1


@click.command("status")
@common_options
def status(common: Common) -> int:
    """How each workspace stands. Exit code 1 when a file stands as failed or the last sync did not end well."""

    async def fetch() -> tuple[WorkspaceStatus, ...]:
        async with common.open_service() as memu:
            return await memu.status(user=common.user)

    found = asyncio.run(fetch())
    if common.as_json:
        write_json({"schema": 1, "workspaces": [one.to_dict() for one in found]})
    elif not found:
        common.notice("No workspace in this scope.")
    else:
        print_lines(line for one in found for line in describe_status(one))
    return 0 if all(is_healthy(one) for one in found) else UNHEALTHY


def is_healthy(one: WorkspaceStatus) -> bool:
    """Whether nothing stands as failed and the last sync that ended raised no error."""
    return not one.failed and not (one.last_run and one.last_run.error)


def describe_status(one: WorkspaceStatus) -> Iterator[Line]:
    """One workspace as lines for people."""
    yield one.workspace.name or one.workspace.root, "bold"
    yield f"  extractor {one.extractor} · encoder {one.encoder or 'none (words only)'}", "dim"
    yield f"  sources: {_counts(one.sources)}", ""
    yield f"  entries: {one.entries} · pages: {_counts(one.pages)}", ""
    yield f"  last sync: {_run(one.last_run)}", ""
    if one.last_run and (one.last_good_run is None or one.last_good_run.id != one.last_run.id):
        yield f"  last good sync: {_run(one.last_good_run)}", "yellow"
    if one.queued or one.vectors_missing:
        yield f"  left for the next sync: {one.queued} pages, {one.vectors_missing} vectors", "yellow"
    for what, problems, style in (("skipped", one.skipped, ""), ("failed", one.failed, "red")):
        for reason, paths in list(grouped_problems(problems).items())[:SHOWN_AT_MOST]:
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            yield f"  {what}: {reason}: {', '.join(paths[:3])}{more}", style


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none"


def _run(run: SyncRun | None) -> str:
    if run is None:
        return "never"
    ended = f"{run.state} {run.ended_at:%Y-%m-%d %H:%M} UTC" if run.ended_at else f"{run.state}, not ended"
    return f"{ended}: {run.error}" if run.error else ended
