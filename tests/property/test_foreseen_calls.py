"""F13: a sync makes no more calls of a chat model than its plan said, step by step, whatever the model replies."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.amounts import some
from support.colleague import WRONG, Write, good, merging, read_prompt, replies_of, wordy
from support.stores import Bench

from memu import SyncPlan, SyncReport
from memu.memorize.candidate import Candidate
from memu.memorize.page_bounds import bound_names
from memu.providers.fakes import ScriptedChatModel
from memu.records import LineSpan, MemoryType, Origin, Track

pytestmark = pytest.mark.property

STEPS = ("extract", "names", "fold", "overview")
_numbers = itertools.count()


def scattering(messages: Any) -> str:
    """As ``good``, but each fact is on a page of its own, whose name is like the others'."""
    prompt = read_prompt(messages)
    if prompt.kind != "extract":
        return good(messages)
    items = [{**each, "page": f"Release topic {next(_numbers)}"} for each in replies_of(prompt)]
    return json.dumps({"entries": [{**each, "page": f"{each['page']} {part}"} for each in items for part in "ab"]})


def reluctant(messages: Any) -> str:
    """Of no use the first time it is asked, each time."""
    told = "\n".join(each.content for each in messages)
    again = "could not be used" in told or len(messages) > 2
    return good(messages) if again else "I would rather not."


WRITERS: dict[str, Write] = {
    "good": good,
    "wordy": wordy,
    "merging": merging,
    "scattering": scattering,
    "reluctant": reluctant,
    **WRONG,
}
SENTENCES = [
    "Deploys go out on Tuesdays after the stand-up.",
    "We decided to keep one DNS zone for all environments.",
    "Nobody touches the gateway on a Friday afternoon.",
    "Backups are kept for thirty days and tested each month.",
    "The ferry needs twelve minutes and the bridge opens at noon.",
]
PATHS = ["one/a.md", "one/b.md", "one/deep/c.md", "one/d.html", "one/tool.py", "two/a.md", "two/b.md"]
TEXTS = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5)
STEP = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), TEXTS),
    st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just(())),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
)
ROUND = st.tuples(
    st.lists(STEP, max_size=4),
    st.sampled_from(["one", "two"]),
    st.sampled_from([*WRITERS]),
    st.one_of(st.none(), st.integers(0, 8)),
    st.booleans(),
)


@contextmanager
def made_bench() -> Iterator[Bench]:
    place = Path(tempfile.mkdtemp(prefix="memu-foreseen-"))
    try:
        for folder in ("one", "two"):
            (place / folder).mkdir()
        yield Bench(place)
    finally:
        shutil.rmtree(place)


def change(base: Path, kind: str, path: str, other: Any) -> None:
    file = base / path
    if kind == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "\n\n".join(other)
        wrapped = f"<html><body><p>{text}</p></body></html>" if path.endswith(".html") else f"# Notes\n\n{text}\n"
        file.write_text(f'"""{text}"""\n' if path.endswith(".py") else wrapped, encoding="utf-8")
    elif kind == "delete":
        file.unlink(missing_ok=True)
    elif file.exists() and Path(other).suffix == file.suffix:
        (base / other).parent.mkdir(parents=True, exist_ok=True)
        file.replace(base / other)


async def plan_and_sync(
    bench: Bench, folder: Path, write: Write, cap: int | None, synthesize: bool
) -> tuple[SyncPlan, SyncReport]:
    async with bench.open(models=ScriptedChatModel(usual=write), encoder=None) as memu:
        plan = await memu.plan_workspace(folder, allow_empty=True, synthesize=synthesize)
        report = await memu.memorize_workspace(folder, allow_empty=True, synthesize=synthesize, max_calls=cap)
    return plan, report


def check(plan: SyncPlan, report: SyncReport) -> None:
    made = {step: report.by_step[step].calls for step in STEPS if step in report.by_step}
    assert {step for step, calls in made.items() if calls > plan.calls_by_step.get(step, 0)} == set(), (plan, made)
    assert report.usage.calls <= plan.model_calls == sum(plan.calls_by_step.values())
    assert plan.likely_calls <= plan.model_calls


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rounds=st.lists(ROUND, min_size=1, max_size=4))
def test_f13_no_sync_makes_more_calls_than_its_plan_said(rounds: list[Any]) -> None:
    with made_bench() as bench:
        for steps, folder, writer, cap, synthesize in rounds:
            for step in steps:
                change(bench.base, *step)
            check(*asyncio.run(plan_and_sync(bench, bench.base / folder, WRITERS[writer], cap, synthesize)))


@pytest.mark.parametrize("writer", some(WRITERS))
async def test_f13_a_first_sync_and_one_change_keep_to_the_plan_and_an_idle_one_is_told_so(writer: str) -> None:
    with made_bench() as bench:
        for number in range(6):
            change(bench.base, "write", f"one/{number}.md", [f"{text[:-1]} ({number})." for text in SENTENCES])
        folder = bench.base / "one"
        plan, report = await plan_and_sync(bench, folder, WRITERS[writer], None, True)
        check(plan, report)
        assert plan.likely_calls >= 6
        change(bench.base, "write", "one/0.md", SENTENCES[:1])
        check(*await plan_and_sync(bench, folder, WRITERS[writer], None, True))
        if writer != "good":
            return
        plan, report = await plan_and_sync(bench, folder, good, None, True)
        assert (plan.model_calls, plan.likely_calls, report.usage.calls) == (0, 0, 0)
        (folder / "1.md").rename(folder / "renamed.md")
        plan, report = await plan_and_sync(bench, folder, good, None, False)
        assert (plan.calls_by_step["extract"], report.usage.calls) == (0, 0)


def candidate(page: str | None, track: Track, origin: Origin) -> Candidate:
    return Candidate(
        text="Something is so.",
        lines=LineSpan(1, 1),
        memory_type=MemoryType.KNOWLEDGE,
        track=track,
        page_hint=page,
        origin=origin,
    )


CANDIDATES = st.lists(
    st.builds(
        candidate, st.sampled_from([None, "A", "B", "C", "D"]), st.sampled_from(Track), st.sampled_from(Origin)
    ),
    max_size=12,
)


@given(given=CANDIDATES, most=st.integers(2, 6))
def test_p5_a_bound_on_pages_loses_no_candidate_and_leaves_quotes_alone(given: list[Candidate], most: int) -> None:
    bound = bound_names(given, most)
    pages = {(each.track, each.page_hint) for each in bound if each.origin is Origin.MODEL}
    assert len(pages) <= most
    before = {(each.track, each.page_hint) for each in given if each.origin is Origin.MODEL}
    assert pages <= before
    assert len(pages) == min(most, len(before))
    assert [(each.text, each.track, each.origin) for each in bound] == [
        (each.text, each.track, each.origin) for each in given
    ]
    assert [each for each in bound if each.origin is not Origin.MODEL] == [
        each for each in given if each.origin is not Origin.MODEL
    ]
    if len(before) <= most:
        assert list(bound) == given
