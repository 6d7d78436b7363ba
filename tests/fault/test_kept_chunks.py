"""P2, P4: of a file that a model read in part, only what it did not read is asked for again; over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.colleague import good, read_prompt
from support.server import Act, Asked, Handler, ScriptedServer, answer, chat, completion, scripted_server
from support.stores import Bench

from memu import MemoryService, Settings, SyncReport
from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.patience import Patience
from memu.providers.transport import Transport

pytestmark = pytest.mark.fault

HASTY = Patience(attempts=1, total=4.0, connect=1.0, read=2.0, first_wait=0.01)
TOPICS = ("lantern", "pigeon", "ferry", "quarry")
BADLY = {
    "prose": chat("I would rather not."),
    "empty": chat(""),
    "cut off": answer(200, completion('{"entries": [', "length")),
    "refused": answer(400, {"error": {"message": "this text is not allowed here"}}),
}


def part(topic: str) -> str:
    """A section that fills most of a chunk."""
    kept = f"is looked after by the people of the harbour, {'and again by them, ' * 5} for as long as it stands"
    return f"## {topic.title()}\n\n" + "\n\n".join(f"The {topic} number {count} {kept}." for count in range(10))


def text(topics: Sequence[str]) -> str:
    return "# Harbour\n\n" + "\n\n".join(map(part, topics)) + "\n"


def extractions(server: ScriptedServer, topic: str = "") -> int:
    """How many times a chunk (that speaks of ``topic``) was asked about."""
    prompts = [read_prompt(asked.body["messages"]) for asked in server.asked]
    return sum(prompt.kind == "extract" and topic in prompt.asked.casefold() for prompt in prompts)


def failing(topic: str, badly: Act) -> Act:
    """Answer well, but to chunks that speak of ``topic``."""

    def act(handler: Handler, asked: Asked, ended: Any) -> None:
        prompt = read_prompt(asked.body["messages"])
        lost = prompt.kind == "extract" and f"the {topic} number" in prompt.asked.casefold()
        (badly if lost else chat(good))(handler, asked, ended)

    return act


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(chat(good)) as scripted:
        yield scripted


@asynccontextmanager
async def opened(bench: Bench, server: ScriptedServer) -> AsyncIterator[MemoryService]:
    model = HttpChatModel(Transport(Endpoint(model="m", base_url=server.base_url), patience=HASTY))
    # About one heading a chunk.
    few = Settings.load(chat_context_tokens=2000)
    async with bench.open(encoder=None, settings=few, models=model) as memu:
        yield memu


async def sync(bench: Bench, server: ScriptedServer) -> SyncReport:
    async with opened(bench, server) as memu:
        return await memu.memorize_workspace(bench.work, retry_failed=True)


@pytest.mark.parametrize("badly", BADLY.values(), ids=BADLY)
@pytest.mark.parametrize("lost", [TOPICS[0], TOPICS[-1]])
async def test_p2_replies_to_the_other_chunks_are_kept_though_pages_came_to_be(
    lost: str, badly: Act, bench: Bench, server: ScriptedServer
) -> None:
    bench.write({"harbour.md": text(TOPICS)})
    server.usual = failing(lost, badly)
    await sync(bench, server)
    assert bench.read("SELECT state FROM resource") == [("partial",)]
    kept = bench.read("SELECT count(*) FROM reply")[0][0]
    assert kept >= len(TOPICS) - 1
    server.usual = chat(good)
    server.asked.clear()
    await sync(bench, server)
    assert extractions(server) == extractions(server, f"the {lost} number") > 0
    assert bench.read("SELECT state FROM resource") == [("done",)]
    assert bench.read("SELECT count(*) FROM reply") == [(0,)]
    server.asked.clear()
    await sync(bench, server)
    assert not server.asked


async def test_p4_replies_to_what_a_file_said_before_are_not_kept(bench: Bench, server: ScriptedServer) -> None:
    bench.write({"harbour.md": text(TOPICS)})
    server.usual = failing("ferry", BADLY["prose"])
    await sync(bench, server)
    assert bench.holding("pigeon")
    bench.write({"harbour.md": text([topic for topic in TOPICS if topic != "pigeon"])})
    await sync(bench, server)
    assert bench.read("SELECT state FROM resource") == [("partial",)]
    assert bench.read("SELECT count(*) FROM reply")[0][0] > 0
    assert not bench.holding("pigeon")
