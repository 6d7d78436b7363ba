"""``memu reindex``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import click

from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.records import ReindexReport

__all__ = ["describe_reindex", "reindex"]


@click.command("reindex")
@click.option(
    "--encoder",
    metavar="ENCODER",
    help="auto (MEMU_EMBED_MODEL's endpoint, else the embedded one) or an ONNX file; default: MEMU_ENCODER.",
)
@click.option("--wait", is_flag=True, help="Wait for another run of this command.")
@click.option("--max-calls", type=click.IntRange(min=0), help="At most so many calls; the next run goes on.")
@click.option("--max-cost", type=click.FloatRange(min=0), help="No call that would pass so many USD.")
@common_options
def reindex(encoder: str | None, wait: bool, max_calls: int | None, max_cost: float | None, common: Common) -> int:
    """Encode the texts of the whole store anew, every user's, and search the new vectors from then on.

    Until all are there the old ones are searched, and words answer throughout. What was begun and killed is gone
    on with.
    """

    async def run() -> ReindexReport:
        async with common.open_service(encoder=encoder) as memu:
            return await memu.reindex(wait=wait, max_calls=max_calls, max_cost=max_cost)

    report = asyncio.run(run())
    if common.as_json:
        write_json(report.to_dict())
    else:
        print_lines(describe_reindex(report))
    return 0 if report.ok else 1


def describe_reindex(report: ReindexReport) -> Iterator[Line]:
    """What it came to, for people."""
    if report.switched:
        before = f"; before: {report.previous}" if report.previous else ""
        yield f"Vectors of {report.encoder} are searched now{before}.", "bold"
    elif report.ok:
        yield f"Vectors of {report.encoder} are searched, as before.", "bold"
    else:
        yield f"Not complete: {report.degraded} Run it again to go on.", "yellow"
    told = f"{report.encoded} encoded, {report.vectors} in all, {report.missing} passages without"
    yield f"  {told}; {report.removed} of other encoders dropped", ""
