"""``memu mcp``."""

from __future__ import annotations

import asyncio
import importlib.util

import click

from memu.cli.options import Common, common_options
from memu.errors import ExtraMissing
from memu.extras import install_command

__all__ = ["mcp"]


@click.command("mcp")
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="HTTP on 127.0.0.1; 0: any free port."
)
@click.option("--allow-sync", is_flag=True, help="Offer a tool that syncs the workspaces already known.")
@common_options
def mcp(port: int | None, allow_sync: bool, common: Common) -> int:
    """Offer the memory to other agents as a server of the Model Context Protocol, over stdio.

    Its tools are search, get and sync_status, all in the one scope that --user names.
    """
    if importlib.util.find_spec("mcp") is None:
        raise ExtraMissing(f"`memu mcp` needs the MCP SDK: {install_command('mcp')}")
    asyncio.run(_serve(common, port, allow_sync=allow_sync))
    return 0


async def _serve(common: Common, port: int | None, *, allow_sync: bool) -> None:
    from memu.mcp.server import LOOPBACK, listen, make_server, serve_http, serve_stdio
    from memu.mcp.tools import Toolbox

    async with common.open_service() as memu:
        # A wrong scope is told now, not to the first client.
        await memu.list_workspaces(user=common.user)
        server = make_server(Toolbox(memu, common.user, allow_sync=allow_sync))
        if port is None:
            await serve_stdio(server)
            return
        with listen(port) as listening:
            common.notice(f"Serving http://{LOOPBACK}:{listening.getsockname()[1]}/mcp")
            await serve_http(server, listening)
