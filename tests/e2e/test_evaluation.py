"""How well a store answers, told by questions whose answers' places are known; on both databases."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.postgres import Server
from support.stores import Bench

from memu import ConfigurationError, LineSpan, Question
from memu.cli.app import run

pytestmark = pytest.mark.e2e

FILES = {
    "deploys.md": "# Deploys\n\nDeploys always go out on Tuesdays at nine.\n\n## Gateway\n\nWe left it alone.\n",
    "ferry.md": "# Ferry\n\nThe ferry needs twelve minutes to cross the bay.\n",
    "tide.md": "# Tide\n\nThe tide must be high when a ship comes in.\n",
}
RIGHT = [
    {"query": "when do deploys go out", "path": "deploys.md", "lines": [3, 3]},
    {"query": "minutes of the ferry", "path": "ferry.md"},
]
WRONG = [
    {"query": "when do deploys go out", "path": "deploys.md", "lines": [900, 901]},
    {"query": "when do deploys go out", "path": "nowhere.md"},
]


@pytest.fixture
def bench(tmp_path: Path, store_server: Server | None) -> Bench:
    made = Bench(tmp_path, server=store_server)
    made.write(FILES)
    return made


async def test_recall_is_told_by_side_and_layer(bench: Bench) -> None:
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        rows = bench.rows()
        report = await memu.evaluate([*RIGHT, *WRONG])
        assert bench.rows() == rows
    assert report.questions == 4
    assert set(report.recall) == {"words", "vectors", "fused"}
    assert {frozenset(layers) for layers in report.recall.values()} == {
        frozenset({"all", "file", "entry", "resource"})
    }
    # The wrong ones are found nowhere; of the right ones each layer holds the place.
    assert report.recall["words"]["all"] == (0.5, 0.5, 0.5)
    assert report.recall["words"]["file"][2] == report.recall["words"]["entry"][2] == 0.5
    assert report.at(10) == report.recall["fused"]["all"][2]
    assert report.missed == tuple((each["query"], each["path"]) for each in WRONG)
    assert report.unknown == ("nowhere.md",)
    with pytest.raises(ConfigurationError, match="not at 3"):
        report.at(3)


async def test_without_an_encoder_words_alone_are_told_and_another_scope_knows_nothing(bench: Bench) -> None:
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        report = await memu.evaluate([Question(query="ferry", path="ferry.md", lines=LineSpan(3, 3))])
        assert (set(report.recall), report.at(1), report.missed) == ({"words"}, 1.0, ())
        other = await memu.evaluate(RIGHT, user={"user_id": "bob"})
        assert (other.at(10), other.unknown) == (0.0, ("deploys.md", "ferry.md"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "no question"),
        ([{"query": "a"}], "'path'"),
        ([{"query": " ", "path": "a.md"}], "'query'"),
        ([{"query": "a", "path": "a.md", "answer": 1}], "'answer'"),
        ([{"query": "a", "path": "a.md", "lines": [3]}], r"\[first, last\]"),
        ([{"query": "a", "path": "a.md", "lines": [True, 3]}], r"\[first, last\]"),
        ([{"query": "a", "path": "a.md", "lines": [4, 3]}], "end before they begin"),
        (["a"], "no str"),
    ],
)
async def test_what_is_no_question_is_refused_in_words(given: list[Any], told: str, tmp_path: Path) -> None:
    async with Bench(tmp_path).open() as memu:
        with pytest.raises(ConfigurationError, match=told):
            await memu.evaluate(given)


async def test_the_command_ends_with_1_below_a_floor(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
    file = bench.base / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, [*RIGHT, *WRONG])) + "\n\n", encoding="utf-8")

    def told(*more: str) -> tuple[int, str, str]:
        code = run(["eval", str(file), "--db", bench.url, *more])
        return code, *capsys.readouterr()

    code, out, _ = await asyncio.to_thread(told)
    assert code == 0
    assert "recall@1" in out
    assert "missed: when do deploys go out  (nowhere.md)" in out
    assert (await asyncio.to_thread(told, "--floor", "0.5", "--at", "1"))[0] == 0
    code, out, err = await asyncio.to_thread(told, "--floor", "0.6", "--json")
    assert (code, json.loads(out)["recall"]["words"]["all"]["10"]) == (1, 0.5)
    assert "below the floor of 0.6" in err
    file.write_text('{"query": "a", "path": "b"}\n{"query": }\n', encoding="utf-8")
    code, _, err = await asyncio.to_thread(told)
    assert code == 2
    assert "line 2" in err
