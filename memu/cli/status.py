"""``memu status``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import click

from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.cli.report import SHOWN_AT_MOST, grouped_problems
from memu.records import SyncRun, TreeStatus, Usage, WorkspaceStatus

__all__ = ["describe_status", "status"]

UNHEALTHY = 1
_TREES = {
    "current": "up to date",
    "stale": "behind by {tree.behind} changes; memu export writes them anew",
    "changed": "changed since they were published; the next sync looks at them",
    "missing": "gone; memu export writes them anew",
    "unpublished": "never published; memu export writes them",
    "unreadable": "cannot be read",
}


@click.command("status")
@common_options
def status(common: Common) -> int:
    """How each workspace stands. Exit code 1 when a file stands as failed, the last sync did not end well or
    there was none.
    """

    async def fetch() -> tuple[WorkspaceStatus, ...]:
        async with common.open_service() as memu:
            return await memu.status(user=common.user)

    found = asyncio.run(fetch())
    if common.as_json:
        write_json({"schema": 1, "workspaces": [one.to_dict() for one in found]})
    elif not found:
        common.notice("No workspace in this scope: no sync has come so far.")
    else:
        print_lines(line for one in found for line in describe_status(one))
    # A first sync that fails may leave nothing else to be seen.
    return 0 if found and all(one.ok for one in found) else UNHEALTHY


def describe_status(one: WorkspaceStatus) -> Iterator[Line]:
    """One workspace as lines for people."""
    yield one.workspace.name or one.workspace.root, "bold"
    yield f"  extractor {one.extractor} · encoder {one.encoder or 'none (words only)'}", "dim"
    yield f"  sources: {_counts(one.sources)}", ""
    yield f"  entries: {one.entries} · pages: {_counts(one.pages)}", ""
    yield f"  last sync: {_run(one)}", "" if one.ok else "red"
    if one.confirmed_at and one.last_run and one.last_run.ended_at and one.confirmed_at > one.last_run.ended_at:
        yield f"  looked at again {one.confirmed_at:%Y-%m-%d %H:%M} UTC: nothing had moved", ""
    if one.blocked:
        yield f"  no sync can write to the store: {one.blocked}", "red"
    if one.last_run and (one.last_good_run is None or one.last_good_run.id != one.last_run.id):
        yield f"  last good sync: {_ended(one.last_good_run) if one.last_good_run else 'never'}", "yellow"
    if usage := _usage(one.usage):
        yield f"  it asked for: {usage}", "dim"
    for step, spent in sorted(one.last_run.usage.items() if one.last_run else ()):
        yield f"    {step}: {_usage(spent)}", "dim"
    for tree in one.trees:
        yield f"  pages in {tree.tree}: {_TREES[tree.state].format(tree=tree)}", _tree_style(tree)
    if one.unplaced or one.queued or one.vectors_missing:
        left = f"{one.unplaced} entries on no page yet, {one.queued} pages, {one.vectors_missing} vectors"
        yield f"  left for the next sync: {left}", "yellow"
    for what, problems, style in (("skipped", one.skipped, ""), ("failed", one.failed, "red")):
        for reason, paths in list(grouped_problems(problems).items())[:SHOWN_AT_MOST]:
            more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
            yield f"  {what}: {reason}: {', '.join(paths[:3])}{more}", style


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none"


def _run(one: WorkspaceStatus) -> str:
    run = one.last_run
    if run is None:
        return "never"
    if run.state == "running":
        began = f"began {run.started_at:%Y-%m-%d %H:%M} UTC"
        return f"{began} and runs now" if one.syncing else f"{began} and was killed; the next one goes on"
    return f"{_ended(run)}: {run.error}" if run.error else _ended(run)


def _ended(run: SyncRun) -> str:
    return f"{run.state} {run.ended_at:%Y-%m-%d %H:%M} UTC" if run.ended_at else f"{run.state}, not ended"


def _usage(usage: Usage) -> str:
    tokens = usage.prompt_tokens + usage.completion_tokens
    counts = {"calls": usage.calls, "texts encoded": usage.texts, "tokens": tokens}
    counts["calls that were not answered"] = usage.unanswered
    told = [f"{count} {what}" for what, count in counts.items() if count]
    return ", ".join([*told, f"{usage.cost:.4f} USD"] if usage.cost else told)


def _tree_style(tree: TreeStatus) -> str:
    return "" if tree.state == "current" else "yellow"
