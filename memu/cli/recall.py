"""``memu recall``."""

from __future__ import annotations

import asyncio

import click

from memu.cli.options import Common, common_options
from memu.cli.output import write_json, write_text
from memu.records import Listing

__all__ = ["recall"]


@click.command("recall")
@click.option("--last", default=1, show_default=True, type=click.IntRange(min=1), help="So many turns.")
@common_options
def recall(last: int, common: Common) -> int:
    """Show the last turns of the newest agent session, quoted, with where they stand."""
    found = asyncio.run(_fetch(common, last))
    if common.as_json:
        write_json({"schema": 1, **found.to_dict()})
    else:
        write_text(found.text)
    return 0


async def _fetch(common: Common, last: int) -> Listing:
    async with common.open_service() as memu:
        return await memu.recall(last=last, user=common.user)
