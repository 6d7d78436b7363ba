"""P9, F20: a store is encoded anew beside the vectors in use: killed, capped, raced; words answer throughout."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import func, select
from support.kills import KillAtStatement, KilledError, listening
from support.server import Asked, Handler, answer, embed, embedding_reply, later, scripted_server

from memu import (
    BusyError,
    ConfigurationError,
    EncoderMismatch,
    MemoryService,
    ProviderError,
    ReindexReport,
    Settings,
)
from memu.cli.app import run
from memu.providers.embeddings import HttpEncoder
from memu.providers.endpoint import Endpoint
from memu.providers.fakes import FailingEncoder, HashingEncoder, ScriptedChatModel
from memu.providers.protocols import Encoded
from memu.providers.transport import Transport
from memu.records import Usage
from memu.storage.database import Database
from memu.storage.tables import metadata
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.fault

USERS = ({"user_id": "ann"}, {"user_id": "bob"}, None)
EVERY = 3 * int(os.environ.get("MEMU_TEST_CRASH_EVERY", "17"))
QUESTION = "where is the lamp kept?"


class Piecemeal(HashingEncoder):
    """Takes three texts a call, as an endpoint takes some. ``meanwhile`` is called after each."""

    def __init__(
        self, name: str, dimension: int = 16, *, meanwhile: Callable[[], Any] | None = None, **options: Any
    ) -> None:
        super().__init__(dimension, name=name, **options)
        self.meanwhile = meanwhile

    async def encode_some(self, texts: Sequence[str]) -> Encoded:
        rows = await self.encode(texts[:3])
        if self.meanwhile is not None:
            await asyncio.to_thread(self.meanwhile)
        return Encoded(rows=rows, usage=Usage(calls=1, texts=len(rows)))

    @property
    def told(self) -> list[str]:
        """Every text that was encoded but for questions."""
        return [text for call in self.asked for text in call if text != QUESTION]


class Blind(Piecemeal):
    """Has no vector for what holds a word."""

    def __init__(self, name: str, word: str) -> None:
        super().__init__(name)
        self.word = word

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = await super().encode(texts)
        rows[[at for at, text in enumerate(texts) if self.word in text]] = np.nan
        return rows


def fill(url: str, folder: Path) -> None:
    """Three scopes with a few sources each, and the vectors of the encoder "old"."""
    for number, name in enumerate(("lamp", "kettle", "chair", "clock")):
        path = folder / "work" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# {name}\n\nThe {name} is kept in drawer {number} by the window.\n\nIts colour is blue.\n"
        )
    with BlockingService.open(url, out=folder / "out", encoder=Piecemeal("old")) as memu:
        for user in USERS:
            memu.memorize_workspace(folder / "work", user=user)
    shutil.rmtree(folder / "work")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(f"sqlite:///{folder / 'store.sqlite3'}", folder)
    return folder / "store.sqlite3"


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> str:
    """A store of this test's own."""
    return f"sqlite:///{shutil.copy(filled, tmp_path / 'store.sqlite3')}"


@pytest.fixture(params=["sqlite", "postgres"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield request.getfixturevalue("store")
        return
    url: str = request.getfixturevalue("postgres_url")
    fill(url, tmp_path)
    yield url


def open_memu(url: str, encoder: Any, **options: Any) -> MemoryService:
    return MemoryService.open(url, encoder=encoder, **options)


def count_vectors(url: str) -> dict[str, int]:
    """Encoder → how many vectors the rows hold."""
    encoder, vector = metadata.tables["encoder"], metadata.tables["passage_vector"]
    statement = (
        select(encoder.c.name, func.count(vector.c.passage_id))
        .outerjoin_from(encoder, vector, vector.c.encoder_id == encoder.c.id)
        .group_by(encoder.c.name)
    )
    with Database.open(url) as database:
        rows = database.read_now(lambda session: session._connection.execute(statement).all())
    return dict(map(tuple, rows))


async def check(memu: MemoryService) -> None:
    """Nothing is wrong with the vectors of any scope."""
    health = await memu.examine(across=True, thorough=True)
    assert health.checked["vectors"]
    assert not [
        finding for finding in health.findings if finding.check in ("encoder", "vectors", "postings", "file")
    ]


async def answers(url: str, encoder: Any) -> str | None:
    """What a search with this encoder lacks; it must find the thing, with or without vectors."""
    async with open_memu(url, encoder) as memu:
        for user in USERS:
            result = await memu.retrieve_workspace(QUESTION, where=user)
            assert "lamp" in result.hits[0].text
    return result.degraded


async def test_p9_another_encoder_is_refused_with_the_command_and_the_command_works(any_store: str) -> None:
    """Of the same size, too. The folder is gone: what is stored is encoded, and no chat model is asked."""
    model, encoder = ScriptedChatModel(), Piecemeal("new")
    before = count_vectors(any_store)
    async with open_memu(any_store, encoder, models=model) as memu:
        with pytest.raises(EncoderMismatch, match=r"memu reindex --encoder"):
            await memu.plan_workspace(Path.cwd())
        assert "memu reindex" in ((await memu.retrieve_workspace(QUESTION)).degraded or "")
        report = await memu.reindex()
        assert report == ReindexReport(
            encoder="new",
            previous="old",
            switched=True,
            encoded=before["old"],
            vectors=before["old"],
            missing=0,
            removed=before["old"],
            usage=report.usage,
        )
        assert report.usage.texts == before["old"] == len(encoder.told)
        assert count_vectors(any_store) == {"new": before["old"]}
        assert (await memu.retrieve_workspace(QUESTION)).degraded is None
        await check(memu)
        # A second run has nothing to do.
        again = await memu.reindex()
        assert (again.switched, again.encoded, again.removed) == (False, 0, 0)
    assert len(encoder.told) == before["old"]
    assert model.asked == []
    assert "memu reindex" in (await answers(any_store, Piecemeal("old")) or "")


async def test_f20_an_encoder_that_is_down_at_the_start_leaves_the_store_as_it_is(any_store: str) -> None:
    before = count_vectors(any_store)
    async with open_memu(any_store, FailingEncoder(16, name="new")) as memu:
        with pytest.raises(ProviderError):
            await memu.reindex()
    assert count_vectors(any_store) == before
    assert await answers(any_store, Piecemeal("old")) is None


async def test_an_encoder_that_fails_on_the_way_is_gone_on_with(any_store: str) -> None:
    total = count_vectors(any_store)["old"]
    async with open_memu(any_store, Piecemeal("new", fail_after=10)) as memu:
        report = await memu.reindex()
        assert not report.ok
        assert "does not answer" in (report.degraded or "")
        assert (report.switched, report.encoded, report.removed) == (False, 9, 0)
        assert report.missing == total - 9
    assert count_vectors(any_store) == {"old": total, "new": 9}
    # The vectors in use are searched as before, while the others wait.
    assert await answers(any_store, Piecemeal("old")) is None
    encoder = Piecemeal("new")
    async with open_memu(any_store, encoder) as memu:
        assert (await memu.reindex()).switched
    assert len(encoder.told) == total - 9
    assert count_vectors(any_store) == {"new": total}


async def test_p2_killed_at_any_statement_it_goes_on_and_nothing_stored_is_paid_for_again(
    store: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    total = count_vectors(store)["old"]
    kills, at = 0, 1
    while True:
        url = f"sqlite:///{shutil.copy(store.removeprefix('sqlite:///'), tmp_path / f'at-{at}.sqlite3')}"
        first, second = Piecemeal("new"), Piecemeal("new")
        async with open_memu(url, first) as memu:
            try:
                with listening(KillAtStatement(at)):
                    await memu.reindex()
                break
            except KilledError:
                kills += 1
        counted = count_vectors(url)
        switched = await answers(url, Piecemeal("old")) is not None
        if switched:
            assert counted["new"] == total
            assert await answers(url, Piecemeal("new")) is None
        else:
            assert counted["old"] == total
        async with open_memu(url, second) as memu:
            report = await memu.reindex()
            assert report.ok
            await check(memu)
        assert count_vectors(url) == {"new": total}
        # Lost are the calls in flight at most.
        assert len(first.told) + len(second.told) <= total + 3
        assert counted.get("new", 0) + len(second.told) == total
        at += EVERY
    record_property("kills", kills)
    assert kills > 3


async def test_caps_end_it_cleanly(store: str) -> None:
    total = count_vectors(store)["old"]
    encoded = 0
    for _ in range(total):
        async with open_memu(store, Piecemeal("new")) as memu:
            report = await memu.reindex(max_calls=2)
        assert report.usage.calls <= 2
        encoded += report.encoded
        assert await answers(store, None) is not None
        if report.ok:
            break
        assert report.vectors == encoded
    assert encoded == total


async def test_texts_that_come_meanwhile_are_encoded_before_it_changes_over(
    any_store: str, tmp_path: Path
) -> None:
    work = tmp_path / "more"
    work.mkdir()
    added: list[int] = []

    def add() -> None:
        if len(added) < 4:
            added.append(len(added))
            (work / f"{len(added)}.md").write_text(
                f"# Shelf {len(added)}\n\nA shelf was put up on day {len(added)}.\n"
            )
            with BlockingService.open(any_store, out=tmp_path / "out", encoder=Piecemeal("old")) as other:
                assert other.memorize_workspace(work, user={"user_id": f"new {len(added)}"}).ok

    async with open_memu(any_store, Piecemeal("new", meanwhile=add)) as memu:
        report = await memu.reindex()
        assert (report.switched, report.missing) == (True, 0)
        assert len(added) == 4
        assert (await memu.retrieve_workspace("shelf", where={"user_id": "new 4"})).degraded is None
        await check(memu)


async def test_f19_what_has_no_vector_is_counted_and_stops_nothing(store: str) -> None:
    total = count_vectors(store)["old"]
    async with open_memu(store, Blind("new", "kettle")) as memu:
        report = await memu.reindex()
        assert report.switched
        assert report.missing == total - report.vectors > 0
    assert count_vectors(store) == {"new": report.vectors}


async def test_f19_an_encoder_without_any_vector_is_not_changed_over_to(store: str) -> None:
    before = count_vectors(store)
    async with open_memu(store, Blind("new", "")) as memu:
        with pytest.raises(ProviderError, match="no vector"):
            await memu.reindex()
    assert count_vectors(store) == before
    assert await answers(store, Piecemeal("old")) is None


async def test_only_one_at_a_time(store: str) -> None:
    begun = threading.Event()

    def stall() -> None:
        begun.set()
        time.sleep(0.05)

    slow = Piecemeal("new", meanwhile=stall)
    async with open_memu(store, slow) as memu, open_memu(store, Piecemeal("new")) as other:
        running = asyncio.create_task(memu.reindex())
        await asyncio.to_thread(begun.wait, 30)
        with pytest.raises(BusyError, match="re-encoding"):
            await other.reindex()
        waiting = await other.reindex(wait=True)
        assert (await running).switched
        assert not waiting.switched
        assert waiting.ok


async def test_a_store_without_texts_takes_the_encoder_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    async with open_memu(url, Piecemeal("new")) as memu:
        report = await memu.reindex()
        assert (report.ok, report.vectors, report.previous) == (True, 0, None)


async def test_there_has_to_be_an_encoder(store: str) -> None:
    async with open_memu(store, None) as memu:
        with pytest.raises(ConfigurationError, match="no encoder"):
            await memu.reindex()


def connect(base_url: str, model: str = "m") -> HttpEncoder:
    return HttpEncoder(Transport(Endpoint(model=model, base_url=base_url)))


async def test_another_size_behind_the_same_name_is_another_encoder(store: str) -> None:
    total = count_vectors(store)["old"]

    def smaller(handler: Handler, asked: Asked, ended: Any) -> None:
        answer(200, embedding_reply(asked.body["input"], 8))(handler, asked, ended)

    with scripted_server() as server:
        async with open_memu(store, connect(server.base_url)) as memu:
            assert (await memu.reindex()).switched
        server.usual = smaller
        async with open_memu(store, connect(server.base_url)) as memu:
            report = await memu.reindex()
            assert (report.switched, report.encoded, report.removed) == (True, total, total)
            assert (await memu.retrieve_workspace(QUESTION)).degraded is None


async def test_texts_that_may_not_leave_this_machine_are_not_sent(store: str) -> None:
    settings = Settings(
        local_only_scopes=({"user_id": "bob"},), embed_model="m", embed_base_url="https://example.org/v1"
    )
    encoder = Piecemeal("new")
    async with open_memu(store, encoder, settings=settings) as memu:
        with pytest.raises(ConfigurationError):
            await memu.reindex()
    assert encoder.asked == []


def program(store: str, base_url: str, *more: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "MEMU_EMBED_MODEL": "m", "MEMU_EMBED_BASE_URL": base_url}
    command = [sys.executable, "-m", "memu", "reindex", "--encoder", "auto", "--db", store, *more]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_p2_a_process_killed_on_the_way_is_gone_on_with(any_store: str) -> None:
    """F20: by the counts in the rows, and by what the endpoint was asked."""
    total = count_vectors(any_store)["old"]
    with scripted_server(later(0.1, answer_few)) as server:
        process = program(any_store, server.base_url)
        while len(server.asked) < 3 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        asyncio.run(answered(any_store))
        server.usual = embed
        process = program(any_store, server.base_url, "--json")
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert b'"switched": true' in out
    (name,) = count_vectors(any_store)
    assert count_vectors(any_store) == {name: total}
    assert name != "old"


async def answered(url: str) -> None:
    assert await answers(url, Piecemeal("old")) is None


def answer_few(handler: Handler, asked: Asked, ended: Any) -> None:
    """A server that takes four texts a call."""
    act = embed if len(asked.body["input"]) <= 4 else answer(400, {"error": {"message": "too many inputs"}})
    act(handler, asked, ended)


def test_the_command_line_says_what_it_came_to(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reindex", "--db", store]
    assert run([*arguments, "--encoder", "none"]) == 2
    assert "no encoder" in capsys.readouterr().err
    assert run([*arguments, "--encoder", str(tmp_path / "no.onnx")]) == 2
    assert run(["reindex", "--db", f"sqlite:///{tmp_path / 'nothing.sqlite3'}"]) == 4
    assert not (tmp_path / "nothing.sqlite3").exists()
    with scripted_server() as server:
        monkeypatch.setenv("MEMU_EMBED_MODEL", "m")
        monkeypatch.setenv("MEMU_EMBED_BASE_URL", server.base_url)
        capsys.readouterr()
        assert run([*arguments, "--max-calls", "1", "--encoder", "auto"]) in (0, 1)
        told = capsys.readouterr().out
        assert ("Run it again" in told) or ("searched now" in told)
        assert run(arguments) == 0
        assert "before: old" in told + capsys.readouterr().out
        assert run([*arguments, "--json"]) == 0
        assert '"switched": false' in capsys.readouterr().out
