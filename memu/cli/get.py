"""``memu get``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import click

from memu.cli.damage import describe_damage
from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json, write_text
from memu.records import Listing

__all__ = ["get"]


@click.command("get")
@click.argument("reference", required=False)
@click.option("--entries", is_flag=True, help="List what is remembered instead.")
@click.option("--after", metavar="ID", help="With --entries: go on after this entry.")
@click.option("--limit", type=click.IntRange(min=1), help="With --entries: at most so many.")
@common_options
def get(reference: str | None, entries: bool, after: str | None, limit: int | None, common: Common) -> int:
    """Show the page, source or entry that REFERENCE names.

    REFERENCE is memory/NAME, skill/NAME, a source's PATH, PATH#L10-L12, the id of any of them, or PATH#turn-3 of
    an agent session.
    """
    if entries == (reference is not None):
        raise click.UsageError("Give either a REFERENCE or --entries.", click.get_current_context())
    if reference is None:
        listed = asyncio.run(_list(common, after, limit))
        if not (listed or after):
            common.notice("Nothing is remembered in this scope.")
        _show_entries(listed, as_json=common.as_json)
    else:
        found = asyncio.run(_fetch(common, reference))
        if found.notice and not common.as_json:
            common.notice(f"{found.path}: {found.notice}")
        if found.damage and not common.as_json:
            common.notice(f"{found.path}: passed over: {describe_damage(found.damage)}")
        _show_one(found, as_json=common.as_json)
    return 0


async def _fetch(common: Common, reference: str) -> Listing:
    async with common.open_service() as memu:
        return await memu.get(reference, user=common.user)


async def _list(common: Common, after: str | None, limit: int | None) -> tuple[Listing, ...]:
    async with common.open_service() as memu:
        return await memu.list_entries(user=common.user, after=after, limit=limit)


def _show_one(listing: Listing, *, as_json: bool) -> None:
    if as_json:
        write_json({"schema": 1, **listing.to_dict()})
    else:
        write_text(listing.text)


def _show_entries(entries: tuple[Listing, ...], *, as_json: bool) -> None:
    if as_json:
        write_json([entry.to_dict() for entry in entries])
    else:
        print_lines(line for entry in entries for line in _entry_lines(entry))


def _entry_lines(entry: Listing) -> Iterator[Line]:
    where = entry.lines or entry.place
    source = f"{entry.path or ''}#{where}" if where else entry.path or ""
    yield entry.text, ""
    yield "    " + " · ".join(part for part in (source, entry.page, entry.id) if part), "dim"
