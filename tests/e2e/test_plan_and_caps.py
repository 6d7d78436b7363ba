"""F13, P5: a plan says what a sync would do and writes nothing; caps stop cleanly; failures are retried."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.stores import Bench, on_both

from memu import MemoryService
from memu.errors import ProviderError, RootError
from memu.ingest.document import Document
from memu.memorize.candidate import Extraction
from memu.memorize.extractors.policies import extract
from memu.memorize.extractors.protocol import NO_CONTEXT, ExtractContext
from memu.providers.fakes import HashingEncoder, ScriptedChatModel

pytestmark = pytest.mark.e2e

FILES = {
    "a.md": "# Bridge\n\nThe bridge opens at noon on every market day.\n",
    "b.md": "# Ferry\n\nThe ferry needs twelve minutes for the crossing.\n",
    "c.md": "# Tunnel\n\nThe tunnel was closed after the flood.\n",
}


@dataclass
class Failing:
    """An extractor whose model fails on some files; it notes which it was asked for."""

    paths: set[str]
    name: str = "failing"
    asked: list[str] = field(default_factory=list)

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        self.asked.append(path)
        if path in self.paths:
            raise ProviderError(f"The model did not answer for {path}.")
        return extract(document, path)


@pytest.fixture
def folder(bench: Bench) -> Path:
    bench.work.mkdir()
    for name, text in FILES.items():
        (bench.work / name).write_text(text, encoding="utf-8")
    return bench.work


async def test_a_file_that_had_failed_and_is_read_now_is_told_of(folder: Path, bench: Bench) -> None:
    failing = Failing({"b.md"})
    async with bench.open(extractor=failing) as memu:
        first = await memu.memorize_workspace(folder)
        assert [problem.path for problem in first.failed] == ["b.md"]
        failing.paths.clear()
        again = await memu.memorize_workspace(folder, retry_failed=True)
    assert (again.added, again.modified, again.unchanged) == ((), ("b.md",), 2)


@pytest.mark.parametrize("name", ["documents", "chats/sessions"])
async def test_what_is_to_be_encoded_is_foreseen_within_a_factor_of_two(bench: Bench, name: str) -> None:
    shutil.copytree(Path(__file__).parents[1] / "data" / name, bench.work)
    encoder = HashingEncoder()
    async with bench.open(encoder=encoder) as memu:
        plan = await memu.plan_workspace(bench.work)
        await memu.memorize_workspace(bench.work)
    encoded = sum(map(len, encoder.asked))
    assert encoded / 2 < plan.encoder_texts < 2 * encoded
    assert plan.encoder_tokens > plan.encoder_texts
    assert plan.prompt_tokens == 0


@on_both
async def test_f13_a_plan_lists_what_a_sync_would_do_and_writes_nothing(folder: Path, bench: Bench) -> None:
    async with bench.open(encoder=HashingEncoder()) as memu:
        first = await memu.plan_workspace(folder)
        assert first.added == ("a.md", "b.md", "c.md")
        assert first.encoder_texts >= 3
        assert await memu.list_workspaces() == ()
        await memu.memorize_workspace(folder)
        (folder / "a.md").write_text(FILES["a.md"].replace("noon", "dawn"), encoding="utf-8")
        (folder / "b.md").rename(folder / "ferry.md")
        (folder / "c.md").unlink()
        (folder / "d.md").write_text("# Road\n\nThe road is wide.\n", encoding="utf-8")
        before = bench.rows()
        plan = await memu.plan_workspace(folder)
        assert bench.rows() == before
        assert (plan.added, plan.modified, plan.deleted) == (("d.md",), ("a.md",), ("c.md",))
        assert plan.moved == (("b.md", "ferry.md"),)
        assert plan.pages == ("memory/General",)
        assert plan.model_calls == 0
        report = await memu.memorize_workspace(folder)
    assert (report.added, report.modified, report.moved, report.deleted) == (
        plan.added,
        plan.modified,
        plan.moved,
        plan.deleted,
    )


async def test_a_plan_refuses_what_the_sync_would_refuse(folder: Path) -> None:
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        await memu.memorize_workspace(folder)
        for name in FILES:
            (folder / name).unlink()
        with pytest.raises(RootError, match="--allow-empty"):
            await memu.plan_workspace(folder)
        assert (await memu.plan_workspace(folder, allow_empty=True)).deleted == tuple(sorted(FILES))


@on_both
async def test_f1_one_failing_file_stops_no_other_and_only_it_is_tried_again(folder: Path, bench: Bench) -> None:
    extractor = Failing({"b.md"})
    async with bench.open(encoder=None, extractor=extractor) as memu:
        report = await memu.memorize_workspace(folder)
        assert [(problem.path, problem.reason) for problem in report.failed] == [
            ("b.md", "The model did not answer for b.md.")
        ]
        assert not report.ok
        assert sorted(entry.path or "" for entry in await memu.list_entries()) == ["a.md", "c.md"]
        extractor.asked.clear()
        extractor.paths.clear()
        again = await memu.memorize_workspace(folder)
        assert (extractor.asked, again.failed, again.unchanged) == (["b.md"], (), 2)
        assert len(await memu.list_entries()) == 3


async def test_p5_retries_keep_growing_distance_unless_asked(folder: Path) -> None:
    extractor = Failing({"b.md"})
    async with MemoryService.open(folder=folder, encoder=None, extractor=extractor) as memu:
        for _ in range(2):
            await memu.memorize_workspace(folder)
        extractor.asked.clear()
        waiting = await memu.memorize_workspace(folder)
        assert extractor.asked == []
        assert [problem.path for problem in waiting.failed] == ["b.md"]
        await memu.memorize_workspace(folder, retry_failed=True)
        assert extractor.asked == ["b.md"]
        (folder / "b.md").write_text(FILES["b.md"] + "\nIt is blue.\n", encoding="utf-8")
        extractor.paths.clear()
        assert (await memu.memorize_workspace(folder)).failed == ()


async def test_what_is_skipped_for_its_content_is_neither_added_nor_modified(folder: Path) -> None:
    (folder / "d.md").write_bytes(b"\x00\x01\x02\xff" * 64)
    (folder / "e.md").write_text("", encoding="utf-8")
    (folder / "f.md").write_text("---\nname: General\ngenerator: memu\n---\n\n# General\n", encoding="utf-8")
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        report = await memu.memorize_workspace(folder)
        assert report.added == ("a.md", "b.md", "c.md")
        assert [problem.path for problem in report.skipped if problem.path != ".memu/"] == ["d.md", "e.md", "f.md"]
        (folder / "e.md").write_text("\n\n", encoding="utf-8")
        (folder / "a.md").write_text("", encoding="utf-8")
        (folder / "b.md").write_text(FILES["b.md"] + "\nIt is blue.\n", encoding="utf-8")
        again = await memu.memorize_workspace(folder)
    assert (again.added, again.modified) == ((), ("b.md",))


@on_both
async def test_after_a_first_sync_that_was_cut_short_its_files_are_new_and_not_modified(
    folder: Path, bench: Bench
) -> None:
    async with bench.open(encoder=None, models=ScriptedChatModel()) as memu:
        assert len((await memu.memorize_workspace(folder, max_calls=0)).waiting) == 3
        plan = await memu.plan_workspace(folder)
        assert (plan.added, plan.modified) == (("a.md", "b.md", "c.md"), ())
        report = await memu.memorize_workspace(folder)
        assert (report.added, report.modified) == (("a.md", "b.md", "c.md"), ())
        (folder / "a.md").write_text(FILES["a.md"] + "\nIt is red.\n", encoding="utf-8")
        edited = await memu.memorize_workspace(folder)
    assert (edited.added, edited.modified) == ((), ("a.md",))


@on_both
async def test_a_cap_of_calls_stops_cleanly_and_the_next_sync_goes_on(folder: Path, bench: Bench) -> None:
    model = ScriptedChatModel()
    async with bench.open(encoder=HashingEncoder(), models=model) as memu:
        capped = await memu.memorize_workspace(folder, max_calls=2)
        assert (capped.usage.calls, len(model.asked)) == (2, 2)
        assert len(capped.added) == 3
        assert len(capped.waiting) == 1
        done = await memu.memorize_workspace(folder)
        assert (done.waiting, done.vectors_missing, len(model.asked)) == ((), 0, 3)


@on_both
async def test_with_no_call_left_words_answer_and_vectors_are_made_by_the_next_sync(
    folder: Path, bench: Bench
) -> None:
    async with bench.open(encoder=HashingEncoder()) as memu:
        capped = await memu.memorize_workspace(folder, max_calls=0)
        assert (capped.usage.calls, capped.waiting) == (0, ())
        assert capped.vectors_missing > 0
        assert "cap" in (capped.degraded or "")
        assert len(await memu.list_entries()) == 3
        assert (await memu.memorize_workspace(folder)).vectors_missing == 0
