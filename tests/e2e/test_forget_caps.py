"""P4, P5: what a forget asks of models is capped and counted as a sync's is; no cap keeps a word. Over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.colleague import good
from support.server import ScriptedServer, chat, scripted_server
from support.stores import Bench

from memu import ForgetReceipt, MemoryService, Settings
from memu.cli.forget import describe_receipt
from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.transport import Transport

pytestmark = pytest.mark.e2e

FILES = {
    "a.md": "# Deploys\n\nDeploys go out on Tuesdays at nine.\n\nThe quokka is asked before the gateway opens.\n",
    "b.md": "# Ferry\n\nThe ferry needs twelve minutes.\n\nA quokka sells the tickets.\n",
}

NEEDED = len(FILES)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(chat(good)) as scripted:
        yield scripted


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.write(FILES)
    return made


@asynccontextmanager
async def opened(bench: Bench, server: ScriptedServer) -> AsyncIterator[MemoryService]:
    model = HttpChatModel(Transport(Endpoint(model="m", base_url=server.base_url)))
    async with bench.open(encoder=None, settings=Settings.load(), models=model) as memu:
        yield memu


@pytest.mark.parametrize("calls", [None, 0, 1, 2, 3])
async def test_p5_a_forget_asks_no_more_than_its_cap_and_counts_what_it_asked(
    calls: int | None, bench: Bench, server: ScriptedServer
) -> None:
    async with opened(bench, server) as memu:
        await memu.memorize_workspace(bench.work)
        server.asked.clear()
        receipt = await memu.forget(match="quokka", max_calls=calls)
        made = len(server.asked)
        assert (receipt.usage.calls, receipt.to_dict()["usage"]["calls"]) == (made, made)
        assert (receipt.usage.prompt_tokens > 0) is (made > 0)
        # Both sources are read again; no page has anything to be worded.
        assert made == (NEEDED if calls is None else min(calls, NEEDED))
        assert len(receipt.unread) == NEEDED - made
        assert not bench.holding("quokka")
        told = "\n".join(line for line, _ in describe_receipt(receipt))
        assert (f"{made} model call" in told) is (made > 0)
        # What the cap left is done by the next sync, and then nothing is left.
        assert (await memu.memorize_workspace(bench.work)).ok
        server.asked.clear()
        await memu.memorize_workspace(bench.work)
    assert not server.asked
    assert not bench.holding("quokka")


@pytest.mark.parametrize("dry_run", [True, False])
async def test_a_workspace_that_goes_counts_too_and_a_dry_run_asks_nothing(
    dry_run: bool, bench: Bench, server: ScriptedServer
) -> None:
    bench.write({"c.md": FILES["a.md"] + "\nBackups are kept for thirty days.\n"}, folder="other")
    async with opened(bench, server) as memu:
        await memu.memorize_workspace(bench.work)
        await memu.memorize_workspace(bench.base / "other")
        server.asked.clear()
        receipt = await memu.remove_workspace(str(bench.base / "other"), dry_run=dry_run, max_calls=0)
    assert isinstance(receipt, ForgetReceipt)
    assert not server.asked
    assert receipt.usage.calls == 0
    assert json.dumps(receipt.to_dict())
