"""Embeddings over real HTTP, from good servers and bad. FIELD F17, F19, F20, F33, F35, F38; P2, P7, P9, P12."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.server import (
    Act,
    Asked,
    Handler,
    ScriptedServer,
    answer,
    cut_short,
    embed,
    embedding_reply,
    garbage,
    hang,
    reset,
    scripted_server,
)
from support.stores import Bench, on_both, on_server_once

from memu import MemoryService, ProviderError, Settings
from memu.errors import ConfigurationError, EncoderMismatch
from memu.providers.embeddings import HttpEncoder
from memu.providers.endpoint import Endpoint
from memu.providers.fakes import HashingEncoder
from memu.providers.patience import Patience
from memu.providers.transport import Transport

pytestmark = pytest.mark.fault

TEXTS = [f"The lamp {number} stands in room {number % 7}." for number in range(50)]
HASTY = Patience(attempts=2, total=5.0, connect=1.0, read=0.2, first_wait=0.01)
NOTES = {
    f"notes/{name}.md": f"# {name}\n\nThe {name} is kept in the drawer by the window.\n\nIts colour is {colour}.\n"
    for name, colour in [("lamp", "blue"), ("kettle", "red"), ("chair", "green"), ("clock", "white")]
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(embed) as scripted:
        yield scripted


@pytest.fixture
async def connect(server: ScriptedServer) -> AsyncIterator[Callable[..., HttpEncoder]]:
    async with AsyncExitStack() as stack:

        def make(**endpoint: Any) -> HttpEncoder:
            given = {"model": "m", "base_url": server.base_url, **endpoint}
            encoder = HttpEncoder(Transport(Endpoint(**given), patience=HASTY), query_patience=HASTY)
            stack.push_async_callback(encoder.close)
            return encoder

        yield make


Connect = Callable[..., HttpEncoder]


def at_most(count: int, status: int = 400) -> Act:
    """A server that refuses more texts than ``count``."""

    def act(handler: Handler, asked: Asked, ended: Any) -> None:
        many = len(asked.body["input"]) > count
        (answer(status, {"error": {"message": "too many inputs"}}) if many else embed)(handler, asked, ended)

    return act


def refusing(word: str, status: int = 400) -> Act:
    """A server that refuses every text with this word in it."""

    def act(handler: Handler, asked: Asked, ended: Any) -> None:
        bad = any(word in text for text in asked.body["input"])
        (answer(status, {"error": {"message": "bad input"}}) if bad else embed)(handler, asked, ended)

    return act


def altered(change: Callable[[list[dict[str, Any]]], object]) -> Act:
    """A good reply, its data changed."""

    def act(handler: Handler, asked: Asked, ended: Any) -> None:
        reply = embedding_reply(asked.body["input"])
        changed = change(reply["data"])
        answer(200, {**reply, "data": reply["data"] if changed is None else changed})(handler, asked, ended)

    return act


async def test_f33_fifty_short_texts_are_one_call_in_order(server: ScriptedServer, connect: Connect) -> None:
    rows = await connect().encode(TEXTS)
    assert len(server.asked) == 1
    assert np.allclose(rows, await HashingEncoder(16).encode(TEXTS), atol=1e-6)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize("most", [1, 3, 10, 31, 63])
async def test_f33_a_refused_batch_is_halved_and_order_kept(
    server: ScriptedServer, connect: Connect, most: int, status: int
) -> None:
    server.usual = at_most(most, status)
    texts = TEXTS + [text + " Again." for text in TEXTS]
    encoder = connect()
    rows = await encoder.encode(texts)
    assert np.allclose(rows, await HashingEncoder(16).encode(texts), atol=1e-6)
    calls = len(server.asked)
    assert calls <= len(texts) / most * 1.6 + 12
    await encoder.encode(texts)
    refused = [each for each in server.asked[calls:] if len(each.body["input"]) > most]
    assert len(refused) <= 2, "what a server takes is known after the first batches"


async def test_f33_long_texts_go_in_smaller_batches_and_are_cut(server: ScriptedServer, connect: Connect) -> None:
    """F40."""
    await connect().encode(["word " * 10_000] * 30)
    assert len(server.asked) > 1
    assert all(sum(map(len, each.body["input"])) <= 100_000 for each in server.asked)
    await connect().encode_query("word " * 10_000)
    assert len(server.asked[-1].body["input"][0]) <= 8_000


@pytest.mark.parametrize("bad", ["first", "middle", "last"])
async def test_one_text_that_is_refused_costs_only_its_own_vector(
    server: ScriptedServer, connect: Connect, bad: str
) -> None:
    server.usual = refusing("poison")
    place = {"first": 0, "middle": 20, "last": len(TEXTS)}[bad]
    texts = [*TEXTS[:place], "poison", *TEXTS[place:]]
    encoder, rows = connect(), []
    while len(rows) < len(texts):
        rows.extend((await encoder.encode_some(texts[len(rows) :])).rows)
    without = [place for place, row in enumerate(rows) if np.isnan(row).any()]
    assert without == [place]
    assert np.allclose(rows[place - 1], (await HashingEncoder(16).encode([texts[place - 1]]))[0], atol=1e-6)
    assert len(server.asked) < 30
    with pytest.raises(ProviderError, match="no vector"):
        await encoder.encode(texts)


async def test_a_server_that_refuses_every_text_is_a_failure_and_not_asked_for_each(
    server: ScriptedServer, connect: Connect
) -> None:
    server.usual = answer(400, {"error": {"message": "no such model"}})
    with pytest.raises(ProviderError, match="no such model"):
        await connect().encode(TEXTS)
    assert len(server.asked) <= 9


async def test_an_order_of_its_own_is_put_right(server: ScriptedServer, connect: Connect) -> None:
    server.usual = altered(lambda data: data.reverse())
    assert np.allclose(await connect().encode(TEXTS), await HashingEncoder(16).encode(TEXTS), atol=1e-6)


async def test_a_reply_without_places_is_taken_in_order(server: ScriptedServer, connect: Connect) -> None:
    server.usual = altered(lambda data: [{"embedding": each["embedding"]} for each in data])
    assert np.allclose(await connect().encode(TEXTS), await HashingEncoder(16).encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data[:-1], "49 vectors for 50 texts"),
        (lambda data: [*data, data[0]], "51 vectors for 50 texts"),
        (lambda data: [], "0 vectors"),
        (lambda data: [{**each, "index": 0} for each in data], "order"),
        (lambda data: [{**each, "index": str(each["index"])} for each in data], "order"),
        (lambda data: [*data[:-1], {"index": 49}], "no list of vectors"),
        (lambda data: [*data[:-1], {"index": 49, "embedding": None}], "no list of vectors"),
        (lambda data: "x", "no list of vectors"),
        (lambda data: [1] * 50, "no list of vectors"),
        (lambda data: [{**each, "embedding": []} for each in data], "components"),
        (lambda data: [*data[:-1], {"index": 49, "embedding": [1.0, 2.0]}], "components"),
        (lambda data: [{**each, "embedding": ["a"] * 16} for each in data], "other than numbers"),
        (lambda data: [{**each, "embedding": [[1.0]] * 16} for each in data], "other than numbers"),
        (lambda data: [{**each, "embedding": [float("nan")] * 16} for each in data], "NaN"),
        (lambda data: [{**each, "embedding": [0] * 16} for each in data], "all zero"),
        (lambda data: [{**each, "embedding": [1e999] + [1.0] * 15} for each in data], "infinite"),
    ],
)
async def test_f19_a_reply_that_is_not_such_vectors_is_refused_and_named(
    server: ScriptedServer, connect: Connect, change: Any, told: str
) -> None:
    server.usual = altered(change)
    with pytest.raises(ProviderError, match=told) as raised:
        await connect().encode(TEXTS)
    assert "m@localhost" in str(raised.value)


@pytest.mark.parametrize("bad", [[float("nan")] * 16, [0.0] * 16, [None] * 16, [float("inf"), *[1.0] * 15]])
async def test_f19_one_bad_row_among_good_ones_has_no_vector(
    server: ScriptedServer, connect: Connect, bad: list[Any]
) -> None:
    server.usual = altered(lambda data: data[3].update(embedding=bad))
    encoded = await connect().encode_some(TEXTS)
    assert [place for place, row in enumerate(encoded.rows) if np.isnan(row).any()] == [3]


async def test_f19_another_size_than_before_is_refused(server: ScriptedServer, connect: Connect) -> None:
    encoder = connect()
    await encoder.encode(["a lamp"])
    assert encoder.identity.dimension == 16
    server.then(answer(200, embedding_reply(["a lamp"], 8)))
    with pytest.raises(ProviderError, match="8 components, not 16"):
        await encoder.encode(["a lamp"])


async def test_large_numbers_do_not_overflow(server: ScriptedServer, connect: Connect) -> None:
    server.usual = altered(lambda data: [each.update(embedding=[1e300] * 16) for each in data] and None)
    assert np.allclose(await connect().encode(["x"]), 0.25)


async def test_f38_dimensions_are_sent_only_when_set(server: ScriptedServer, connect: Connect) -> None:
    await connect().encode(["a lamp"])
    assert set(server.asked[0].body) == {"model", "input", "encoding_format"}
    asking = connect(dimensions=16)
    assert asking.identity.dimension == 16
    await asking.encode(["a lamp"])
    assert server.asked[1].body["dimensions"] == 16
    with pytest.raises(ProviderError, match="16 components, not 8"):
        await connect(dimensions=8).encode(["a lamp"])


async def test_f38_a_server_that_knows_no_packed_vectors_is_asked_for_plain_ones(
    server: ScriptedServer, connect: Connect
) -> None:
    def plain_only(handler: Handler, asked: Asked, ended: threading.Event) -> None:
        act = answer(400, {"error": "unknown field"}) if "encoding_format" in asked.body else embed
        act(handler, asked, ended)

    server.usual = plain_only
    encoder = connect()
    assert np.allclose(await encoder.encode(TEXTS), await HashingEncoder(16).encode(TEXTS), atol=1e-6)
    assert ["encoding_format" in each.body for each in server.asked] == [True, False]


@pytest.mark.parametrize("sent", ["AAA", "not base64", "AAAAAA==", ""])
async def test_f33_packed_vectors_that_are_none_are_refused(
    server: ScriptedServer, connect: Connect, sent: str
) -> None:
    server.usual = altered(lambda data: [each.update(embedding=sent) for each in data] and None)
    with pytest.raises(ProviderError):
        await connect().encode(["x"])


async def test_calls_are_made_at_once_and_no_text_is_asked_twice(
    server: ScriptedServer, connect: Connect, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    bench.write({"many.md": "".join(f"# Part {at}\n\nThe lamp {at} is in room {at}.\n\n" for at in range(300))})
    meeting = threading.Barrier(3, timeout=10)

    def together(handler: Handler, asked: Asked, ended: threading.Event) -> None:
        # Three calls meet here, or none is answered.
        meeting.wait()
        embed(handler, asked, ended)

    encoder = connect()
    await encoder.encode(["the size is known"])
    server.asked.clear()
    for _ in range(3):
        server.then(together)
    async with bench.open(encoder=encoder) as memu:
        report = await memu.memorize_workspace(bench.work)
    assert report.vectors_missing == 0
    asked = [text for each in server.asked for text in each.body["input"]]
    assert len(asked) == report.usage.texts


async def test_usage_is_what_the_server_says(server: ScriptedServer, connect: Connect) -> None:
    usage = (await connect().encode_some(["one two three", "four"])).usage
    assert (usage.calls, usage.texts, usage.prompt_tokens) == (1, 2, 4)
    server.usual = altered(lambda data: None)
    server.then(answer(200, {"data": embedding_reply(["x"])["data"]}))
    assert (await connect().encode_some(["x"])).usage.prompt_tokens == 0


async def test_identity_is_model_and_host_whatever_the_port(connect: Connect) -> None:
    one, other = (
        connect(base_url="http://127.0.0.1:1/v1").identity,
        connect(base_url="http://localhost:2/v9").identity,
    )
    assert one == other
    assert one.name == "m@localhost"
    assert connect(model="n").identity.fingerprint != one.fingerprint


def test_a_provider_without_embeddings_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match=r"api\.deepseek\.com offers no embeddings"):
        HttpEncoder(Transport(Endpoint(model="m", base_url="https://api.deepseek.com")))


BAD: list[Any] = [
    answer(401, {"error": {"message": "no"}}),
    answer(502),
    answer(429, retry_after="9999"),
    reset,
    hang,
    cut_short,
    garbage(b"<html>"),
    answer(200, {"data": []}),
    altered(lambda data: [{**each, "embedding": [0] * 16} for each in data]),
]


@on_server_once("bad", BAD)
async def test_f17_f20_a_server_that_fails_leaves_words_and_is_healed_by_the_next_sync(
    server: ScriptedServer, connect: Connect, bench: Bench, bad: Act
) -> None:
    """P12: the search answers by words and says why."""
    bench.write(NOTES)
    server.usual = bad
    async with bench.open(encoder=connect()) as memu:
        report = await memu.memorize_workspace(bench.work)
        assert report.failed == ()
        assert report.vectors_missing > 0
        assert "localhost" in (report.degraded or "")
        result = await memu.retrieve_workspace("colour of the kettle")
        assert "notes/kettle.md" in {hit.path for hit in result.hits}
        assert "words only" in (result.degraded or "")
        (status,) = await memu.status()
        assert not status.ok, "F35: a monitor sees it"
        server.usual = embed
        healed = await memu.memorize_workspace(bench.work)
        assert (healed.vectors_missing, healed.degraded) == (0, None)
        (status,) = await memu.status()
        assert status.ok
        result = await memu.retrieve_workspace("colour of the kettle")
        assert any("vector" in hit.ranks for hit in result.hits)


@on_both
async def test_f35_down_at_search_words_answer(server: ScriptedServer, connect: Connect, bench: Bench) -> None:
    bench.write(NOTES)
    async with bench.open(encoder=connect()) as memu:
        await memu.memorize_workspace(bench.work)
    async with bench.open(encoder=connect(base_url="http://127.0.0.1:1/v1")) as memu:
        result = await memu.retrieve_workspace("colour of the kettle")
        assert "notes/kettle.md" in {hit.path for hit in result.hits}
        assert "m at localhost cannot be reached" in (result.degraded or "")


@on_both
async def test_f20_down_at_start_the_index_is_untouched(
    server: ScriptedServer, connect: Connect, bench: Bench
) -> None:
    bench.write(NOTES)
    async with bench.open(encoder=connect()) as memu:
        await memu.memorize_workspace(bench.work)
    async with bench.open(encoder=connect(base_url="http://127.0.0.1:1/v1")) as memu:
        report = await memu.memorize_workspace(bench.work)
        assert (report.vectors_missing, report.degraded) == (0, None)
    async with bench.open(encoder=connect()) as memu:
        result = await memu.retrieve_workspace("colour of the kettle")
        assert any("vector" in hit.ranks for hit in result.hits)


@on_both
async def test_p7_an_unchanged_folder_asks_nothing(server: ScriptedServer, connect: Connect, bench: Bench) -> None:
    """Also in a new process, where no reply has told the dimension yet."""
    bench.write(NOTES)
    async with bench.open(encoder=connect()) as memu:
        await memu.memorize_workspace(bench.work)
    before = len(server.asked)
    async with bench.open(encoder=connect()) as memu:
        assert (await memu.memorize_workspace(bench.work)).usage.calls == 0
    assert len(server.asked) == before


@on_both
async def test_p9_another_model_is_refused_before_anything_is_asked(
    server: ScriptedServer, connect: Connect, bench: Bench
) -> None:
    bench.write(NOTES)
    async with bench.open(encoder=connect()) as memu:
        await memu.memorize_workspace(bench.work)
    before = len(server.asked)
    async with bench.open(encoder=connect(model="other")) as memu:
        with pytest.raises(EncoderMismatch, match="memu reindex"):
            await memu.memorize_workspace(bench.work)
    assert len(server.asked) == before


@on_both
async def test_p9_another_size_behind_the_same_name_is_told_and_keeps_the_index(
    server: ScriptedServer, connect: Connect, bench: Bench
) -> None:
    bench.write(NOTES)
    async with bench.open(encoder=connect()) as memu:
        await memu.memorize_workspace(bench.work)
    bench.write({"new.md": "# New\n\nA shelf was put up in the hall.\n"})

    def smaller(handler: Handler, asked: Asked, ended: Any) -> None:
        answer(200, embedding_reply(asked.body["input"], 8))(handler, asked, ended)

    server.usual = smaller
    async with bench.open(encoder=connect()) as memu:
        report = await memu.memorize_workspace(bench.work)
        assert "(8)" in (report.degraded or "")
        assert report.vectors_missing > 0
        assert "(8)" in ((await memu.retrieve_workspace("shelf")).degraded or "")
    server.usual = embed
    async with bench.open(encoder=connect()) as memu:
        assert (await memu.memorize_workspace(bench.work)).vectors_missing == 0


@on_both
async def test_the_cap_of_calls_holds_and_what_was_answered_is_kept(
    server: ScriptedServer, connect: Connect, bench: Bench
) -> None:
    """P2: no reply that had arrived is paid for again, though the server refuses most batches."""
    bench.write(NOTES)
    server.usual = at_most(3)
    missing: list[int] = []
    async with bench.open(encoder=connect()) as memu:
        for _ in range(30):
            report = await memu.memorize_workspace(bench.work, max_calls=1)
            assert report.usage.calls <= 1
            missing.append(report.vectors_missing)
            if not report.vectors_missing:
                break
    assert missing[-1] == 0
    assert missing == sorted(set(missing), reverse=True)
    answered = [text for each in server.asked if len(each.body["input"]) <= 3 for text in each.body["input"]]
    assert len(answered) == len(set(answered))


async def test_a_failure_in_the_middle_keeps_the_batches_before_it(
    server: ScriptedServer, connect: Connect, bench: Bench
) -> None:
    bench.write(NOTES)
    server.usual = at_most(3)
    encoder = connect()
    await encoder.encode(TEXTS)
    server.then(embed, answer(401))
    async with bench.open(encoder=encoder) as memu:
        first = await memu.memorize_workspace(bench.work)
        assert first.usage.calls == 1
        assert first.usage.unanswered == 1
        second = await memu.memorize_workspace(bench.work)
    assert second.vectors_missing == 0
    assert second.usage.texts == first.vectors_missing


@pytest.mark.parametrize(
    ("given", "name"),
    [({}, "m@localhost"), ({"encoder": "none"}, None)],
)
async def test_only_the_setting_makes_the_endpoint(
    server: ScriptedServer, bench: Bench, given: dict[str, str], name: str | None
) -> None:
    bench.write(NOTES)
    settings = Settings.load(embed_model="m", embed_base_url=server.base_url, **given)
    async with MemoryService.open(bench.url, out=bench.out, settings=settings) as memu:
        report = await memu.memorize_workspace(bench.work)
    assert report.encoder == name
    assert bool(server.asked) == (name is not None)
    assert (report.usage.prompt_tokens > 0) == (name is not None)


def test_the_first_line_of_a_sync_names_the_endpoint(server: ScriptedServer, bench: Bench) -> None:
    bench.write(NOTES)
    key = "sk-not-to-be-seen"
    environment = {"MEMU_CONFIG": "", "MEMU_EMBED_MODEL": "m", "MEMU_EMBED_BASE_URL": server.base_url}
    done = subprocess.run(
        [sys.executable, "-m", "memu", "sync", str(bench.work)],
        env={**environment, "MEMU_EMBED_API_KEY": key, "HTTP_PROXY": "http://127.0.0.1:1", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "encoder m@localhost" in done.stdout.splitlines()[0]
    assert done.stderr == ""
    assert key not in done.stdout
    assert server.asked[0].headers["authorization"] == f"Bearer {key}"
    assert key.encode() not in bench.work.joinpath(".memu", "memu.sqlite3").read_bytes()
