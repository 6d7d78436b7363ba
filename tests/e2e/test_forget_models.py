"""F46 where a model worded memory: the source's sentences go with the entry, unseen from then on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.citations import check_tree
from support.colleague import good, read_prompt
from support.postgres import Server
from support.stores import Bench

from memu import ForgetReceipt, MemoryService
from memu.providers.fakes import FailingChatModel, ScriptedChatModel
from memu.providers.protocols import ChatMessage

pytestmark = pytest.mark.e2e

LANTERN = "The blue lantern is hidden under the bridge in Oslo."
GULLS = "Gulls are fed at the pier every evening."
NOON = "Ships always report to the tower before noon."
WORDS = ("lantern", "oslo")
FIRST = {
    "lantern": "In Oslo a blue lantern lies under the bridge.",
    "gulls": "At the pier gulls are fed each evening.",
}
LATER = {"lantern": "Under Oslo's bridge one finds a lantern that is blue.", "gulls": FIRST["gulls"]}
FILES = {
    "harbour.md": f"# Harbour\n\n{NOON}\n{LANTERN} {GULLS}\n",
    "deploys.md": "# Deploys\n\nDeploys go out on Tuesdays. The gateway is left alone on Fridays.\n",
}


class Rewording:
    """A model that says what it reads in words of its own; ``seen`` is all that it was shown."""

    def __init__(self, words: dict[str, str]) -> None:
        self.words = words
        self.seen: list[str] = []

    def __call__(self, messages: Sequence[ChatMessage]) -> str:
        self.seen.append(messages[-1].content)
        prompt = read_prompt(messages)
        if prompt.kind != "extract":
            return good(messages)
        entries = json.loads(good(messages))["entries"]
        for entry in entries:
            word = next((word for word in self.words if word in entry["text"].casefold()), None)
            entry["text"] = self.words[word] if word else entry["text"]
            entry["page"] = "Port" if "harbour" in prompt.asked.split("\n")[0] else "Notes"
        return json.dumps({"entries": entries})


@pytest.fixture
def bench(tmp_path: Path, store_server: Server | None) -> Bench:
    made = Bench(tmp_path, server=store_server)
    made.write(FILES)
    return made


def reader(words: dict[str, str] = FIRST) -> ScriptedChatModel:
    return ScriptedChatModel(usual=Rewording(words))


async def texts_of(memu: MemoryService) -> set[str]:
    return {entry.text for entry in await memu.list_entries()}


async def forget_lantern(memu: MemoryService, way: str, **options: Any) -> ForgetReceipt:
    entries = await memu.list_entries()
    entry = next(one for one in entries if "lantern" in one.text)
    if way == "match":
        return await memu.forget(match="LANTERN", **options)
    reference = {"entry": entry.id, "page": entry.page, "source": "harbour.md"}[way]
    return await memu.forget(reference, **options)


async def search(memu: MemoryService) -> str:
    found = await memu.retrieve_workspace("where does the blue lantern of Oslo lie")
    return " ".join(f"{hit.title} {hit.heading} {hit.text}" for hit in found.hits).casefold()


@pytest.mark.parametrize("models", [True, False], ids=["model", "extractive"])
@pytest.mark.parametrize("way", ["entry", "match", "page", "source"])
async def test_f46_no_word_of_it_is_left_and_an_edit_does_not_bring_it_back(
    way: str, models: bool, bench: Bench
) -> None:
    async with bench.open(models=reader() if models else None) as memu:
        await memu.memorize_workspace(bench.work)
        assert len(bench.holding("lantern")) > 3
        await forget_lantern(memu, way, purge=bench.server is None)
        assert bench.holding(*WORDS) == []
        assert not any(word.encode() in bench.raw().lower() for word in WORDS)
        found = await search(memu)
        assert not any(word in found for word in WORDS)
        assert models or check_tree(bench.out / "workspace-memory")[1] == []
    bench.write({"harbour.md": FILES["harbour.md"] + "\nThe keeper paints every door green in May.\n"})
    again = Rewording(LATER)
    async with bench.open(models=ScriptedChatModel(usual=again) if models else None) as memu:
        report = await memu.memorize_workspace(bench.work)
        said = await texts_of(memu)
    assert report.failed == ()
    assert bench.holding(*WORDS) == []
    assert not any(word in shown.casefold() for shown in again.seen for word in WORDS)
    assert any("door green" in text for text in said) is (way != "source")
    # Without a model all of it stands on one page.
    assert any("Deploys go out" in text for text in said) is (models or way != "page")


@pytest.mark.parametrize("way", ["entry", "match"])
async def test_other_facts_of_the_same_lines_survive(way: str, bench: Bench) -> None:
    async with bench.open(models=reader()) as memu:
        await memu.memorize_workspace(bench.work)
        before = await texts_of(memu)
        plan = await forget_lantern(memu, way, dry_run=True)
        done = await forget_lantern(memu, way)
        assert await texts_of(memu) == before - {FIRST["lantern"]}
        source = (await memu.get("harbour.md")).text
    assert set(plan.texts) == {FIRST["lantern"], LANTERN}
    assert (plan.entries, plan.sources, done.texts) == (1, ("harbour.md",), ())
    assert (done.entries, done.sources, done.unread) == (1, ("harbour.md",), ())
    assert GULLS in source
    assert NOON in source
    assert bench.holding("gulls")


async def test_p3_the_rows_are_those_of_a_fresh_store_with_the_same_tombstones(bench: Bench) -> None:
    async with bench.open(models=reader()) as memu:
        await memu.memorize_workspace(bench.work)
        await forget_lantern(memu, "entry")
        before = bench.outcome()
        report = await memu.memorize_workspace(bench.work)
        assert (report.usage.calls, report.modified, report.export.written) == (0, (), ())
    assert bench.outcome() == before
    assert bench.outcome() == (await bench.fresh(models=reader())).outcome()


async def test_what_another_source_says_from_the_same_sentence_goes_though_it_is_worded_otherwise(
    bench: Bench,
) -> None:
    bench.write({"copy.md": f"# Copy\n\n{LANTERN} Ropes are coiled clockwise on deck.\n"})

    def differ(messages: Sequence[ChatMessage]) -> str:
        return Rewording(LATER if "copy.md" in messages[-1].content else FIRST)(messages)

    async with bench.open(models=ScriptedChatModel(usual=differ)) as memu:
        await memu.memorize_workspace(bench.work)
        (bench.work / "copy.md").unlink()
        entry = next(one for one in await memu.list_entries() if one.text == FIRST["lantern"])
        done = await memu.forget(entry.id)
    assert done.entries == 2
    assert done.sources == ("copy.md", "harbour.md")
    assert [problem.path for problem in done.unread] == ["copy.md"]
    assert bench.holding(*WORDS) == []
    assert bench.holding("clockwise")


async def test_the_receipt_of_a_file_names_who_says_the_same_in_other_words(bench: Bench) -> None:
    bench.write({"copy.md": f"# Copy\n\n{LANTERN} Ropes are coiled clockwise on deck.\n"})

    def differ(messages: Sequence[ChatMessage]) -> str:
        return Rewording(LATER if "copy.md" in messages[-1].content else FIRST)(messages)

    async with bench.open(models=ScriptedChatModel(usual=differ)) as memu:
        await memu.memorize_workspace(bench.work)
        done = await memu.forget("harbour.md")
        assert LATER["lantern"] in await texts_of(memu)
    assert (done.removed, done.stays) == (("harbour.md",), ("copy.md#L3",))


@pytest.mark.parametrize("loss", ["gone", "no model", "model down"])
async def test_it_goes_without_the_file_or_the_model_and_the_rest_stays(loss: str, bench: Bench) -> None:
    async with bench.open(models=reader()) as memu:
        await memu.memorize_workspace(bench.work)
    if loss == "gone":
        (bench.work / "harbour.md").unlink()
    models = {"gone": reader(), "no model": None, "model down": FailingChatModel()}[loss]
    async with bench.open(models=models) as memu:
        await forget_lantern(memu, "entry")
        assert bench.holding(*WORDS) == []
        said = " ".join(await texts_of(memu)).casefold()
        assert "gulls are fed" in said
        assert "ships always report" in said
    if loss != "gone":
        again = Rewording(LATER)
        async with bench.open(models=ScriptedChatModel(usual=again)) as memu:
            report = await memu.memorize_workspace(bench.work, retry_failed=True)
            assert report.ok
            assert LATER["gulls"] in await texts_of(memu)
        assert not any("lantern" in shown for shown in again.seen)
        assert bench.holding(*WORDS) == []
        assert bench.outcome() == (await bench.fresh(models=reader())).outcome()


async def test_p4_what_a_model_answered_for_a_partial_source_is_gone_too(bench: Bench) -> None:
    """The reply for a chunk is kept while another chunk of the source is missing."""
    long = "".join(f"Filler sentence number {n} tells of the boats in the bay.\n\n" for n in range(900))
    bench.write({"harbour.md": f"# Harbour\n\n{LANTERN} {GULLS}\n\n## More\n\n{long}"})

    def halting(messages: Sequence[ChatMessage]) -> str:
        first = "lantern" in messages[-1].content
        return Rewording(FIRST)(messages) if first or "harbour.md" not in messages[-1].content else "I cannot."

    async with bench.open(models=ScriptedChatModel(usual=halting)) as memu:
        report = await memu.memorize_workspace(bench.work)
        assert [problem.path for problem in report.failed] == ["harbour.md"]
        assert any(place.startswith("reply: ") for place in bench.holding("lantern"))
    async with bench.open(models=None) as memu:
        await forget_lantern(memu, "entry")
    assert bench.holding(*WORDS) == []


async def test_p7_a_renamed_file_asks_no_model_though_something_was_forgotten(bench: Bench) -> None:
    async with bench.open(models=reader()) as memu:
        await memu.memorize_workspace(bench.work)
        await forget_lantern(memu, "entry")
        for name in ("deploys.md", "harbour.md"):
            before = await texts_of(memu)
            (bench.work / name).rename(bench.work / f"moved-{name}")
            report = await memu.memorize_workspace(bench.work)
            # Words of the second were cut: what a model once made of it is not to be trusted with that.
            assert report.by_step.get("extract") is None if name == "deploys.md" else report.ok
            assert await texts_of(memu) == before
    assert bench.holding(*WORDS) == []
    assert bench.outcome() == (await bench.fresh(models=reader())).outcome()
