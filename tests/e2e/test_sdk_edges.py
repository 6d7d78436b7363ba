"""The edges of the SDK: closed services, wrong arguments and failing parts each end in words."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memu import Interceptor, MemoryService, StepEvent
from memu.errors import ConfigurationError, NotFound, RootError, StoreError
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e

TEXT = "# Pump\n\nThe pump was repaired on 2 March 2024.\n"
VERBS: dict[str, tuple[Any, ...]] = {
    "memorize_workspace": (".",),
    "plan_workspace": (".",),
    "memorize": ("pump.md",),
    "retrieve_workspace": ("pump",),
    "export_memory_files": (),
    "get": ("pump.md",),
    "recall": (),
    "evaluate": ([{"query": "pump", "path": "pump.md"}],),
    "list_files": (),
    "list_entries": (),
    "list_resources": (),
    "status": (),
    "examine": (),
    "list_workspaces": (),
    "remove_workspace": (".",),
    "reindex": (),
    "import_memu": ("sqlite://",),
    "forget": ("pump.md",),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "pump.md").write_text(TEXT, encoding="utf-8")
    return place


def test_every_verb_is_tried_here() -> None:
    verbs = {
        name for name, each in inspect.getmembers(MemoryService, inspect.iscoroutinefunction) if name[0] != "_"
    }
    assert verbs - {"close"} == VERBS.keys()


@pytest.mark.parametrize("verb", VERBS)
async def test_a_closed_service_says_so(folder: Path, verb: str) -> None:
    memu = MemoryService.open(folder=folder, encoder=None)
    await memu.close()
    await memu.close()
    with pytest.raises(StoreError, match="service is closed"):
        await getattr(memu, verb)(*VERBS[verb])


@pytest.mark.parametrize("verb", VERBS)
def test_the_blocking_twin_says_so_too_and_leaves_nothing_unawaited(folder: Path, verb: str) -> None:
    memu = BlockingService.open(folder=folder, encoder=None)
    memu.close()
    memu.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(StoreError, match="service is closed"):
            getattr(memu, verb)(*VERBS[verb])


async def test_one_path_is_remembered_if_it_is_or_was_there(folder: Path) -> None:
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        with pytest.raises(RootError, match="no such file or folder"):
            await memu.memorize(folder / "zzz.md")
        await memu.memorize_workspace(folder)
        for name in ("zzz.md", "pump.md/zzz", "deep/zzz.md"):
            with pytest.raises(NotFound, match="no such file or folder"):
                await memu.memorize(folder / name)
        (folder / "deep").mkdir()
        (folder / "deep" / "gate.md").write_text("# Gate\n\nThe gate was painted green.\n", encoding="utf-8")
        assert (await memu.memorize(folder / "deep")).added == ("deep/gate.md",)
        (folder / "deep" / "gate.md").unlink()
        (folder / "deep").rmdir()
        assert (await memu.memorize(folder / "deep")).deleted == ("deep/gate.md",)
        (folder / "pump.md").unlink()
        assert (await memu.memorize(folder / "pump.md")).deleted == ("pump.md",)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_hits": 0}, "max_hits is 0"),
        ({"max_hits": -1}, "max_hits is -1"),
        ({"max_words": 0}, "max_words is 0"),
        ({"layers": ["page"]}, "no 'page'; there are: file, entry, resource"),
        ({"tracks": ["memory", "skills"]}, "no 'skills'; there are: memory, skill"),
        ({"tracks": "skills"}, "no 'skills'"),
    ],
)
async def test_a_question_out_of_bounds_is_refused(folder: Path, options: dict[str, Any], told: str) -> None:
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        with pytest.raises(ConfigurationError, match=told):
            await memu.retrieve_workspace("pump", **options)
        await memu.memorize_workspace(folder)
        assert (await memu.retrieve_workspace("pump", layers=["entry"], tracks="memory", max_hits=1)).hits


@pytest.mark.parametrize("step", ["read", "extract", "commit"])
async def test_p5_a_file_that_failed_names_the_step_and_quotes_nothing(folder: Path, step: str) -> None:
    async def fail(_state: Any) -> Any:
        raise ValueError("the pump")

    async with MemoryService.open(
        folder=folder, encoder=None, workflows={"memorize": lambda workflow: workflow.replacing(step, fail)}
    ) as memu:
        report = await memu.memorize_workspace(folder)
    assert [problem.reason for problem in report.failed] == [f"ValueError in step '{step}'"]


@dataclass(frozen=True)
class Stumbling(Interceptor):
    hook: str

    async def before(self, event: StepEvent) -> None:
        self._stumble("before", event)

    async def after(self, event: StepEvent) -> None:
        self._stumble("after", event)

    def _stumble(self, hook: str, event: StepEvent) -> None:
        if (hook, event.step) == (self.hook, "extract"):
            raise OSError("no room for the log")


@pytest.mark.parametrize("hook", ["before", "after"])
async def test_an_interceptor_that_fails_is_named(folder: Path, hook: str) -> None:
    async with MemoryService.open(folder=folder, encoder=None, interceptors=[Stumbling(hook)]) as memu:
        report = await memu.memorize_workspace(folder)
    assert [problem.reason for problem in report.failed] == [
        f"OSError in interceptor Stumbling.{hook} at step 'extract'"
    ]


@pytest.mark.parametrize("lines", ["L4", "L999", "L4-L9", "L0", "L3-L2"])
@pytest.mark.parametrize("ending", ["", "\n"])
async def test_lines_that_a_source_does_not_have_are_not_found(folder: Path, lines: str, ending: str) -> None:
    (folder / "pump.md").write_text(TEXT.rstrip("\n") + ending, encoding="utf-8")
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        await memu.memorize_workspace(folder)
        assert (await memu.get("pump.md#L3-L9")).text == "The pump was repaired on 2 March 2024."
        with pytest.raises(NotFound, match="has 3 lines"):
            await memu.get(f"pump.md#{lines}")


def test_a_file_in_place_of_a_folder_is_named_as_such(folder: Path) -> None:
    with pytest.raises(RootError, match=r"is a file; give the folder that holds it"):
        MemoryService.open(folder=folder / "pump.md", encoder=None)


async def test_without_an_encoder_the_reason_holds_installed_or_not(folder: Path) -> None:
    async with MemoryService.open(folder=folder, encoder="none") as memu:
        await memu.memorize_workspace(folder)
        degraded = (await memu.retrieve_workspace("pump")).degraded or ""
    assert "turned off (MEMU_ENCODER=none), or none is installed" in degraded


async def test_a_verb_that_runs_while_the_service_closes_ends(folder: Path) -> None:
    memu = MemoryService.open(folder=folder, encoder=None)
    running = asyncio.create_task(memu.list_workspaces())
    await asyncio.sleep(0)
    await memu.close()
    assert await running == ()
