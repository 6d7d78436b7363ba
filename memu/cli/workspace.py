"""``memu workspace list`` and ``memu workspace remove``."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
from pathlib import Path
from typing import Any

import click

from memu.cli.forget import describe_receipt, exit_code
from memu.cli.options import Common, cap_options, common_options
from memu.cli.output import print_lines, write_json
from memu.errors import NotFound
from memu.records import ForgetReceipt, Workspace

__all__ = ["workspace"]


@click.group("workspace")
def workspace() -> None:
    """The synced folders of a scope."""


@workspace.command("list")
@common_options
def list_workspaces(common: Common) -> int:
    """List the synced folders."""

    async def fetch() -> tuple[Workspace, ...]:
        async with common.open_service() as memu:
            return await memu.list_workspaces(user=common.user)

    found = asyncio.run(fetch())
    if common.as_json:
        write_json({"schema": 1, "workspaces": [dataclasses.asdict(one) for one in found]})
    elif not found:
        common.notice("No workspace in this scope.")
    else:
        print_lines((f"{one.id}  {one.name or '-'}  {one.root or '(in no folder)'}", "") for one in found)
    return 0


@workspace.command("remove")
@click.argument("reference")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option(
    "--purge", is_flag=True, help="Then rewrite the store's file, so that no byte is left (vacuum a server)."
)
@click.option("--wait", is_flag=True, help="Wait for a sync that runs.")
@cap_options
@click.option("--yes", is_flag=True, help="Do not ask.")
@common_options
def remove_workspace(reference: str, dry_run: bool, yes: bool, common: Common, **how: Any) -> int:
    """Forget a synced folder and all that came from it. REFERENCE is its id, name or root.

    The folder itself is left as it is.
    """
    asyncio.run(_require(reference, common))
    if not (yes or dry_run):
        if not sys.stdin.isatty():
            raise click.UsageError("Nobody is there to ask; say --yes.", click.get_current_context())
        click.confirm(f"Forget all that came from {reference}?", abort=True, err=True)

    async def remove() -> ForgetReceipt:
        async with common.open_service() as memu:
            return await memu.remove_workspace(reference, user=common.user, dry_run=dry_run, **how)

    receipt = asyncio.run(remove())
    if common.as_json:
        write_json(receipt.to_dict())
    else:
        print_lines(describe_receipt(receipt))
    return exit_code(receipt)


async def _require(reference: str, common: Common) -> None:
    """Nobody is asked about a workspace that is not there."""
    async with common.open_service() as memu:
        known = await memu.list_workspaces(user=common.user)
    root = str(Path(reference).expanduser().resolve())
    if not any(reference in (one.id, one.name, one.root) or one.root == root for one in known):
        names = ", ".join(one.name or one.root for one in known) or "none"
        raise NotFound(f"There is no workspace {reference!r} in this scope; there are: {names}.")
