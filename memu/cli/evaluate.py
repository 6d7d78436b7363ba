"""``memu eval FILE``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import IO

import click

from memu import EvalReport, Question
from memu.cli.options import Common, common_options
from memu.cli.output import console, plain, write_json
from memu.errors import ConfigurationError

__all__ = ["evaluate"]

_MISSED_SHOWN = 10


@click.command("eval")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--floor", type=click.FloatRange(0, 1), help="End with 1 if a search's recall is below this.")
@click.option(
    "--at",
    "depth",
    default="10",
    show_default=True,
    type=click.Choice(["1", "5", "10"]),
    help="At so many hits.",
)
@common_options
def evaluate(file: IO[str], floor: float | None, depth: str, common: Common) -> int:
    """Ask the questions of FILE and tell how often their known place is found: recall at 1, 5 and 10 hits.

    FILE has a JSON object a line: {"query": "…", "path": "docs/x.md", "lines": [10, 12]}; lines may be left out.
    "-" reads stdin.
    """
    questions = list(_read(file))

    async def ask() -> EvalReport:
        async with common.open_service() as memu:
            return await memu.evaluate(questions, user=common.user)

    report = asyncio.run(ask())
    recall = report.at(int(depth))
    if common.as_json:
        write_json(report.to_dict())
    else:
        _print(report)
    if floor is not None and recall < floor:
        common.notice(f"recall@{depth} is {recall:.3f}, below the floor of {floor:g}")
        return 1
    return 0


def _read(file: IO[str]) -> Iterator[Question]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            yield Question.of(json.loads(line))
        except (ValueError, ConfigurationError) as error:
            raise ConfigurationError(f"{file.name}, line {number}: {error}") from error


def _print(report: EvalReport) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("side", "layer", "recall@1", "@5", "@10"):
        table.add_column(heading, justify="left" if heading in ("side", "layer") else "right")
    for side, layers in report.recall.items():
        for layer, values in layers.items():
            table.add_row(side, layer, *(f"{value:.3f}" for value in values))
    screen = console()
    screen.print(table)
    screen.print(f"{report.questions} questions; {len(report.missed)} without their place among ten hits")
    for query, path in report.missed[:_MISSED_SHOWN]:
        screen.print(plain(f"  missed: {query}  ({path})"), markup=False, highlight=False, soft_wrap=True)
    if len(report.missed) > _MISSED_SHOWN:
        screen.print(f"  and {len(report.missed) - _MISSED_SHOWN} more (--json lists all)")
    for path in report.unknown:
        screen.print(plain(f"  no such source: {path}"), markup=False, highlight=False, soft_wrap=True)
    if report.degraded:
        screen.print(plain(f"degraded: {report.degraded}"), markup=False, highlight=False, soft_wrap=True)
