"""``memu db``: ``upgrade``, ``current``, ``check``, ``maintain`` and ``import-memu``."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from memu.cli.options import Common, common_options
from memu.cli.output import Line, print_lines, write_json
from memu.records import FileProblem, ImportReport

if TYPE_CHECKING:
    from memu.schema import SchemaVersion

__all__ = ["db", "describe_import"]

_SHOWN_AT_MOST = 20


@click.group("db")
def db() -> None:
    """The schema of a store, and the way in from memU."""


def _db_options(command: Callable[..., Any]) -> Callable[..., Any]:
    named = click.option("--db", "url", metavar="URL", help="The database; default: the nearest .memu upwards.")
    as_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
    return named(as_json(command))


@db.command("upgrade")
@_db_options
def upgrade(url: str | None, as_json: bool) -> int:
    """Bring the schema up to date, whole or not at all."""
    from memu.schema import upgrade_schema

    before = upgrade_schema(_named(url))
    done = "was up to date" if before.found == before.wanted else f"upgraded from {before.found or 'nothing'}"
    return _show(before, f"{before.store}: {done}, now {before.wanted}", as_json=as_json)


@db.command("current")
@_db_options
def current(url: str | None, as_json: bool) -> int:
    """Show which version the schema has and which one this memu needs."""
    from memu.schema import read_schema

    version = read_schema(_named(url))
    return _show(
        version, f"{version.store}: {version.found or 'no tables'}, needs {version.wanted}", as_json=as_json
    )


@db.command("check")
@_db_options
def check(url: str | None, as_json: bool) -> int:
    """Exit with code 0 if the store is sound and its schema the one this memu needs, else 4."""
    from memu.schema import check_schema

    version = check_schema(_named(url))
    return _show(version, f"{version.store}: {version.found}, up to date", as_json=as_json)


@db.command("maintain")
@_db_options
def maintain(url: str | None, as_json: bool) -> int:
    """Build the vector indexes that a server's store is worth, and drop broken ones. Others go on meanwhile."""
    from memu.schema import maintain_store

    done = maintain_store(_named(url))
    if as_json:
        write_json({"schema": 1, **dataclasses.asdict(done)})
    else:
        told = {"built": done.built, "kept": done.kept, "dropped": done.dropped}
        parts = [f"{what} {', '.join(names)}" for what, names in told.items() if names]
        print_lines([(f"vector indexes: {'; '.join(parts) or 'none needed'}", "")])
    return 0


@db.command("import-memu")
@click.argument("url", metavar="URL")
@click.option(
    "--vectors-from",
    metavar="ENCODER",
    help="The encoder that its vectors come from, to keep them if it is in use.",
)
@common_options
def import_memu(url: str, vectors_from: str | None, common: Common) -> int:
    """Bring over a database of memU: each of its users' categories, items and their links.

    The database at URL is only read. What is imported lies in no folder; a second run adds what is new since.
    With --user only that user's rows are brought over.
    """

    async def run() -> ImportReport:
        async with common.open_service(makes=True) as memu:
            return await memu.import_memu(url, user=common.user or None, vectors_from=vectors_from)

    report = asyncio.run(run())
    if common.as_json:
        write_json(report.to_dict())
    else:
        print_lines(describe_import(report))
        if not report.trees:
            common.notice("No tree was written; `memu export --out DIR --user …` writes one.")
    return 0 if report.ok else 1


def describe_import(report: ImportReport) -> Iterator[Line]:
    """What was brought over, for people."""
    yield f"{report.source}: {report.scopes} scopes", "bold"
    new = f"{report.pages} pages, {report.entries} entries of {report.sources} sources, {report.links} links"
    yield f"  new: {new}; changed: {report.changed}; as they were: {report.unchanged}", ""
    yield f"  vectors: {report.vectors_kept} kept, {report.vectors_missing} missing", ""
    yield from _problems("not brought over", report.unplaced, "yellow")
    yield from _problems("brought over, but", report.notes, "dim")
    for tree in report.trees:
        yield f"  {tree}", "dim"


def _problems(head: str, found: tuple[FileProblem, ...], style: str) -> Iterator[Line]:
    for each in found[:_SHOWN_AT_MOST]:
        yield f"  {head}: {each.path}: {each.reason}", style
    if len(found) > _SHOWN_AT_MOST:
        yield f"  {head}: {len(found) - _SHOWN_AT_MOST} more; --json lists them all", style


def _named(url: str | None) -> str | None:
    from memu import Settings

    return Settings.load(db=url).db


def _show(version: SchemaVersion, line: str, *, as_json: bool) -> int:
    if as_json:
        write_json({"schema": 1, **dataclasses.asdict(version)})
    else:
        print_lines([(line, "")])
    return 0
