"""``memu db upgrade``, ``memu db current`` and ``memu db check``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from memu.cli.output import print_lines, write_json

if TYPE_CHECKING:
    from memu.schema import SchemaVersion

__all__ = ["db"]


@click.group("db")
def db() -> None:
    """The database schema of a store."""


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
    """Exit with code 0 if the schema is the one this memu needs, else 4."""
    from memu.schema import check_schema

    version = check_schema(_named(url))
    return _show(version, f"{version.store}: {version.found}, up to date", as_json=as_json)


def _named(url: str | None) -> str | None:
    from memu import Settings

    return Settings.load(db=url).db


def _show(version: SchemaVersion, line: str, *, as_json: bool) -> int:
    if as_json:
        write_json({"schema": 1, **dataclasses.asdict(version)})
    else:
        print_lines([(line, "")])
    return 0
