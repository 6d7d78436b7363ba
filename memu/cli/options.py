"""The options that every command takes, and the service that they open."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memu.cli.output import print_notice

if TYPE_CHECKING:
    from memu import Interceptor, MemoryService, Settings

__all__ = ["Common", "cap_options", "common_options"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What the common options said. ``user`` are the scope's fields, empty for the empty scope."""

    db: str | None
    out: str | None
    user: Mapping[str, str]
    as_json: bool
    quiet: bool
    local_only: bool

    def open_service(
        self,
        folder: Path | None = None,
        interceptors: Sequence[Interceptor] = (),
        *,
        encoder: str | None = None,
        makes: bool = False,
    ) -> MemoryService:
        """The service on the store that these options, the environment or the folder name.

        ``encoder``: another one than the settings name. ``makes``: whether a store that is not there is made, as
        one in ``folder`` always is.

        Raises:
            StoreError: there is none, or nothing in it yet.
        """
        from memu import MemoryService
        from memu.errors import ConfigurationError

        settings = self.load_settings(encoder)
        if settings.out is not None and Path(settings.out).expanduser().is_file():
            raise ConfigurationError(
                f"The tree cannot go to {settings.out}: it is a file; give a folder as --out."
            )
        for notice in settings.notices():
            self.notice(notice)
        if folder is None and not makes:
            _require_store(settings.db)
        return MemoryService.open(
            settings.db, folder=folder, out=settings.out, interceptors=interceptors, settings=settings
        )

    def load_settings(self, encoder: str | None = None) -> Settings:
        """The settings in force. Raises ConfigurationError."""
        from memu import Settings

        return Settings.load(db=self.db, out=self.out, local_only=self.local_only or None, encoder=encoder)

    def notice(self, message: str) -> None:
        """Tell the user on stderr, unless asked to be quiet."""
        if not self.quiet:
            print_notice(message)


def _require_store(db: str | None) -> None:
    """Make sure that there is a store to look at: opening a SQLite one that is not there would make it.

    Raises:
        StoreError: there is none.
    """
    if db is not None and not db.startswith("sqlite"):
        # A server's store is never made, nor upgraded, by opening it.
        return
    from memu.errors import StoreError
    from memu.schema import read_schema

    version = read_schema(db)
    if version.found is None:
        raise StoreError(f"{version.store} holds no memory yet; sync a folder into it first.")


def cap_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--max-calls`` and ``--max-cost``."""
    calls = click.option(
        "--max-calls",
        type=click.IntRange(min=0),
        metavar="N",
        help="Ask models and encoders at most N times; the next sync goes on.",
    )
    cost = click.option(
        "--max-cost",
        type=click.FloatRange(min=0),
        metavar="USD",
        help="Spend at most so much on models whose prices are set; the next sync goes on.",
    )
    return calls(cost(command))


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the common options; they reach it as one argument, ``common``."""

    @click.option("--db", metavar="URL", help="The database; default: .memu/memu.sqlite3 of the workspace.")
    @click.option("--out", metavar="DIR", help="Where the exported tree goes; default: .memu of the workspace.")
    @click.option(
        "--user",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_read_user,
        help="Whose memory (user_id=… or agent_id=…); may be given again.",
    )
    @click.option("--local-only", is_flag=True, help="Refuse every model that is not on this machine.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
    @click.option("--quiet", "-q", is_flag=True, help="No notices and no progress.")
    @functools.wraps(command)
    def with_common(**given: Any) -> Any:
        common = Common(**{field.name: given.pop(field.name) for field in dataclasses.fields(Common)})
        return command(common=common, **given)

    return with_common


def _read_user(_ctx: click.Context, _option: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"{pair!r} is not KEY=VALUE.")
        if name in fields:
            raise click.BadParameter(f"{name!r} is given twice.")
        fields[name] = value
    return fields
