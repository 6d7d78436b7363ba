"""P3, P5, P7: names of pages that a bad reply left apart are asked for again, at growing distances. Over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.colleague import Messages, good, only_at, read_prompt
from support.kills import KilledError
from support.server import Act, ScriptedServer, answer, chat, completion, scripted_server
from support.stores import Bench

from memu import Interceptor, MemoryService, Settings, StepEvent, SyncReport
from memu.providers.chat import HttpChatModel
from memu.providers.endpoint import Endpoint
from memu.providers.patience import Patience
from memu.providers.transport import Transport

pytestmark = pytest.mark.fault

HASTY = Patience(attempts=1, total=4.0, connect=1.0, read=2.0, first_wait=0.01)
NAMES = {"release": "Release plan", "shipping": "Release plan of the harbour", "tea": "Tea"}
FILES = {
    "a.md": "# A\n\nThe release goes out on Tuesdays.\n",
    "b.md": "# B\n\nThe shipping waits for the harbour master.\n",
    "c.md": "# C\n\nThe tea is green on most mornings.\n",
}


@dataclass
class KillIn(Interceptor):
    """Kills before or after the step of this name, the first time."""

    step: str
    at_once: bool

    async def before(self, event: StepEvent) -> None:
        if self.at_once and event.step == self.step:
            raise KilledError

    async def after(self, event: StepEvent) -> None:
        if event.step == self.step:
            raise KilledError


def naming(messages: Messages) -> str:
    """A good answer, but pages are named so that two of them may be one, and are."""
    prompt = read_prompt(messages)
    if prompt.kind == "names":
        said = json.loads(good(messages))["verdicts"]
        return json.dumps({"verdicts": [{**each, "same": True} for each in said]})
    if prompt.kind != "extract":
        return good(messages)
    entries = json.loads(good(messages))["entries"]
    for entry in entries:
        entry["page"] = next(page for word, page in NAMES.items() if word in entry["text"])
    return json.dumps({"entries": entries})


def failing(text: str) -> Act:
    return chat(only_at("names", lambda messages: text, naming))


BADLY = {
    "prose": failing("I cannot say."),
    "silent about pairs": failing('{"verdicts": []}'),
    "of other pairs": failing('{"verdicts": [{"pair": 99, "same": true}]}'),
    "both": failing('{"verdicts": [{"pair": 11, "same": true}, {"pair": 11, "same": false}]}'),
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(chat(naming)) as scripted:
        yield scripted


@asynccontextmanager
async def opened(bench: Bench, server: ScriptedServer, **options: Any) -> AsyncIterator[MemoryService]:
    model = HttpChatModel(Transport(Endpoint(model="m", base_url=server.base_url), patience=HASTY))
    given = {"encoder": None, "settings": Settings.load(), "models": model, **options}
    async with bench.open(**given) as memu:
        yield memu


async def sync(bench: Bench, server: ScriptedServer, interceptors: Any = (), **options: Any) -> SyncReport:
    server.asked.clear()
    async with opened(bench, server, interceptors=interceptors) as memu:
        return await memu.memorize_workspace(bench.work, **options)


def kinds(server: ScriptedServer) -> list[str]:
    return [read_prompt(asked.body["messages"]).kind for asked in server.asked]


def pages(bench: Bench) -> set[str]:
    return {row[0] for row in bench.read("SELECT name FROM recall_file")}


async def fresh(tmp_path: Path, server: ScriptedServer) -> dict[str, bytes]:
    other = Bench(tmp_path / "fresh")
    other.write(FILES)
    await sync(other, server)
    return other.trees()


@pytest.mark.parametrize("badly", BADLY.values(), ids=BADLY)
async def test_p3_a_later_good_sync_joins_what_a_bad_reply_left_apart(
    badly: Act, bench: Bench, server: ScriptedServer, tmp_path: Path
) -> None:
    bench.write(FILES)
    server.usual = badly
    report = await sync(bench, server)
    assert [problem.path for problem in report.unpatched] == ["names of pages"]
    assert pages(bench) == set(NAMES.values())
    server.usual = chat(naming)
    healed = await sync(bench, server)
    assert healed.ok
    assert kinds(server).count("names") == 1
    assert "extract" not in kinds(server)
    assert len(pages(bench)) == 2
    # P7: then nothing is asked.
    assert (await sync(bench, server)).ok
    assert not server.asked
    assert bench.trees() == await fresh(tmp_path, server)


async def test_p5_it_is_asked_at_growing_distances_and_said_until_it_is_settled(
    bench: Bench, server: ScriptedServer
) -> None:
    bench.write(FILES)
    server.usual = BADLY["prose"]
    await sync(bench, server)
    await sync(bench, server)
    assert kinds(server) == ["names"]
    # Twice in vain: it waits, says so, and costs nothing.
    waiting = await sync(bench, server)
    assert not server.asked
    assert ["2 times" in problem.reason for problem in waiting.unpatched] == [True]
    async with opened(bench, server) as memu:
        (status,) = await memu.status()
    assert not status.ok
    await sync(bench, server, retry_failed=True)
    assert kinds(server) == ["names"]
    # A minute later, and not before, it is due again: three times in vain are two minutes.
    for minutes, asked in ((1, []), (3, ["names"])):
        newest = "SELECT counts FROM sync_run ORDER BY started_at DESC LIMIT 1"
        (past,) = bench.read(newest)[0]
        counts = json.loads(past) if isinstance(past, str) else past
        assert counts["names_failed"] == 3
        bench.change(
            "UPDATE sync_run SET counts = ? WHERE id = (SELECT id FROM sync_run ORDER BY started_at DESC LIMIT 1)",
            json.dumps({**counts, "names_asked": counts["names_asked"] - 60 * minutes}),
        )
        server.usual = chat(naming)
        healed = await sync(bench, server)
        assert [kind for kind in kinds(server) if kind == "names"] == asked
    assert healed.ok
    assert len(pages(bench)) == 2


@pytest.mark.parametrize("step", ["names", "settle", "apply", "fold", "export", "report"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_p2_killed_anywhere_what_is_unsettled_is_not_taken_for_settled(
    step: str, before: bool, bench: Bench, server: ScriptedServer, tmp_path: Path
) -> None:
    bench.write(FILES)
    for act in (BADLY["prose"], BADLY["prose"], chat(naming)):
        server.usual = act
        with pytest.raises(KilledError):
            await sync(bench, server, interceptors=(KillIn(step, before),), retry_failed=True)
    server.usual = chat(naming)
    await sync(bench, server, retry_failed=True)
    assert len(pages(bench)) == 2
    assert (await sync(bench, server)).ok
    assert not server.asked
    assert bench.trees() == await fresh(tmp_path, server)


async def test_p4_names_of_pages_that_are_gone_are_asked_about_no_more(
    bench: Bench, server: ScriptedServer
) -> None:
    bench.write(FILES)
    server.usual = answer(200, completion(""))
    server.usual = BADLY["prose"]
    await sync(bench, server)
    for path in ("a.md", "b.md"):
        (bench.work / path).unlink()
    assert (await sync(bench, server)).ok
    assert "names" not in kinds(server)
    assert not bench.holding("shipping")
    assert "names_failed" not in str(bench.read("SELECT counts FROM sync_run ORDER BY started_at DESC LIMIT 1"))
