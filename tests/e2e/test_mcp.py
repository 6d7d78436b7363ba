"""Other agents ask memu over the Model Context Protocol, with the SDK's own client.

P6: one scope, settled at the start. P5: what fails says so, in memu's words. P12: it answers by words alone.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from support.warm_start import run_python

from memu import MemoryService
from memu.mcp.server import LOOPBACK, listen, make_server, serve_http
from memu.mcp.tools import Toolbox
from memu.mcp.wire import Wire

pytestmark = pytest.mark.e2e

ALICE = {"user_id": "alice"}
READING = {"search", "get", "sync_status"}


def write_notes(folder: Path, whose: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "deploy.md").write_text(
        f"# Deploys\n\n- {whose} deploys the harbour service on Tuesdays.\n", "utf-8"
    )
    return folder


@pytest.fixture
async def store(tmp_path: Path) -> str:
    """One store with the notes of two users, each in a folder of their own."""
    url = f"sqlite:///{tmp_path / 'memory.sqlite3'}"
    async with MemoryService.open(url, encoder=None) as memu:
        for user in ("alice", "bob"):
            await memu.memorize_workspace(write_notes(tmp_path / user, user), user={"user_id": user})
    return url


@asynccontextmanager
async def asked_in_process(url: str, *, allow_sync: bool = False) -> AsyncIterator[Client]:
    async with (
        MemoryService.open(url, encoder=None) as memu,
        Client(make_server(Toolbox(memu, ALICE, allow_sync=allow_sync))) as client,
    ):
        yield client


async def ask(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """A tool's structured answer, held to the schema that the server gives for it."""
    result = await client.call_tool(tool, arguments)
    told = " ".join(getattr(part, "text", "") for part in result.content)
    assert not result.is_error, told
    assert told
    schemas = {each.name: each.output_schema for each in (await client.list_tools()).tools}
    jsonschema.validate(result.structured_content, schemas[tool])
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    return " ".join(getattr(part, "text", "") for part in result.content)


async def test_p6_all_tools_over_stdio_as_a_host_starts_them(store: str, tmp_path: Path) -> None:
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memu", "mcp", "--db", store, "--user", "user_id=alice", "--allow-sync", "--quiet"],
        env={**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": ""},
        cwd=tmp_path,
    )
    async with Client(started, mode="legacy", read_timeout_seconds=60) as client:
        assert {each.name for each in (await client.list_tools()).tools} == READING | {"sync"}
        found = await ask(client, "search", query="when is the harbour service deployed?")
        assert {hit["path"] for hit in found["hits"]} <= {"deploy.md", None}
        assert "alice" in str(found)
        assert "bob" not in str(found)
        for hit in found["hits"]:
            assert "alice" in (await ask(client, "get", reference=hit["reference"]))["text"]
        status = await ask(client, "sync_status")
        assert [each["sources"] for each in status["workspaces"]] == [{"done": 1}]

        (tmp_path / "alice" / "lunch.md").write_text("# Lunch\n\n- Lunch is at half past twelve.\n", "utf-8")
        assert (await ask(client, "sync"))["added"] == ["lunch.md"]
        assert "half past twelve" in str(await ask(client, "search", query="lunch"))
        bobs = str(tmp_path / "bob")
        assert "No workspace" in await refused(client, "sync", workspace=bobs)


async def test_tools_that_only_read_say_so_and_sync_is_offered_only_if_allowed(store: str) -> None:
    async with asked_in_process(store) as client:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        assert set(tools) == READING
        for tool in tools.values():
            assert tool.description
            assert tool.annotations
            assert tool.annotations.read_only_hint
            assert tool.annotations.idempotent_hint
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema
        with pytest.raises(MCPError, match="no tool 'sync'"):
            await client.call_tool("sync", {})
    async with asked_in_process(store, allow_sync=True) as client:
        sync = next(each for each in (await client.list_tools()).tools if each.name == "sync")
        assert sync.annotations
        assert not sync.annotations.read_only_hint
        assert sync.annotations.idempotent_hint


async def test_p6_no_parameter_names_a_scope_or_a_place(store: str) -> None:
    needed = {"search": {"query": "harbour"}, "get": {"reference": "deploy.md"}, "sync_status": {}, "sync": {}}
    async with asked_in_process(store, allow_sync=True) as client:
        for tool, arguments in needed.items():
            for name in ("user", "user_id", "where", "across", "scope", "db", "folder"):
                told = await refused(client, tool, **arguments, **{name: "bob"})
                assert f"there is no parameter '{name}'" in told
                assert "bob" not in told


async def test_p5_what_cannot_be_done_is_a_tools_error_in_memus_words(store: str) -> None:
    cases: tuple[tuple[str, dict[str, object], str], ...] = (
        ("search", {}, "query: Field required"),
        ("search", {"query": "   "}, "query: "),
        ("search", {"query": "harbour", "max_hits": 0}, "max_hits: "),
        ("search", {"query": "harbour", "layers": ["pages"]}, "layers.0: "),
        ("get", {"reference": "memory/Nothing"}, "Nothing in user_id=alice is called 'memory/Nothing'"),
        ("get", {"reference": "deploy.md#L90"}, "it has no L90"),
        ("sync", {"workspace": "elsewhere"}, "No workspace 'elsewhere' is known here"),
    )
    async with asked_in_process(store, allow_sync=True) as client:
        for tool, arguments, told in cases:
            assert told in await refused(client, tool, **arguments), (tool, arguments)


async def test_a_long_text_is_cut_and_says_so(store: str, tmp_path: Path) -> None:
    async with MemoryService.open(store, encoder=None) as memu:
        (tmp_path / "alice" / "long.md").write_text("# Long\n\n" + "word by word\n" * 3000, "utf-8")
        await memu.memorize_workspace(tmp_path / "alice", user=ALICE)
    async with asked_in_process(store) as client:
        whole = await ask(client, "get", reference="deploy.md")
        found = await ask(client, "get", reference="long.md", max_words=50)
    assert (whole["cut"], found["cut"], len(found["text"].split())) == (False, True, 50)


async def test_over_http_another_host_or_origin_is_refused(store: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    taken = {"Accept": "application/json, text/event-stream"}
    async with MemoryService.open(store, encoder=None) as memu:
        with listen(0) as listening:
            port = listening.getsockname()[1]
            url = f"http://{LOOPBACK}:{port}/mcp"
            serving = asyncio.create_task(serve_http(make_server(Toolbox(memu, ALICE)), listening))
            async with Client(url, read_timeout_seconds=60) as client:
                assert "alice" in str(await ask(client, "search", query="harbour"))
            async with httpx.AsyncClient(trust_env=False, headers=taken) as web:
                for name, value, code in (
                    ("Host", f"evil.example:{port}", 421),
                    ("Host", f"{LOOPBACK}.evil.example:{port}", 421),
                    ("Origin", "http://evil.example", 403),
                    ("Origin", f"http://evil.example:{port}", 403),
                    ("Origin", "null", 403),
                ):
                    answer = await web.post(url, json=call, headers={name: value})
                    assert answer.status_code == code, (name, value, answer.text)
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def test_input_ends_when_told_although_somebody_waits_for_a_line() -> None:
    """A signal ends the server while nobody writes to it; what was written before is read."""
    incoming, outgoing = os.pipe()
    wire = Wire(incoming)
    lines = io.TextIOWrapper(io.BufferedReader(wire), encoding="utf-8")
    os.write(outgoing, "grüße\nhalf".encode())
    assert lines.readline() == "grüße\n"
    with ThreadPoolExecutor(1) as waiting:
        last = waiting.submit(lines.readline)
        wire.end()
        assert last.result(timeout=10) == "half"
    wire.release()
    os.close(incoming)
    os.close(outgoing)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None\nfrom memu.cli import main\nmain()"
    ended = run_python(code, "mcp", cwd=tmp_path, environment={**os.environ})
    assert ended.returncode == 2
    assert "pip install '.[mcp]'" in ended.stderr
    assert not ended.stdout


def test_without_a_store_it_does_not_start(tmp_path: Path) -> None:
    code = "from memu.cli import main\nmain()"
    ended = run_python(code, "mcp", cwd=tmp_path, environment={**os.environ, "MEMU_ENCODER": "none"})
    assert ended.returncode == 4
    assert "Sync a folder first" in ended.stderr
    assert not list(tmp_path.iterdir())
