"""P2, P4, P5, P7 as a machine with a model that is right, wordy, wrong, slow or dead at random, call by call.

Each text holds a word of its own. After every sync that ends, no word of a text that is gone is in any row or
page, whatever the model did; after a calm one the entries are those of a fresh store, and so is every exported
byte where the model was only ever good or silent.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from support.citations import check_tree
from support.colleague import WRONG, Write, good, merging, patient, wordy
from support.kills import KillAtStep, KilledError
from support.postgres import SERVERS, Server
from support.stores import Bench

from memu import SyncReport
from memu.errors import ProviderError
from memu.providers.fakes import ScriptedChatModel
from memu.providers.protocols import ChatMessage
from memu.settings import Settings

pytestmark = pytest.mark.property

NAMES = ["a.md", "b.md", "notes/a.md", "guides/Setup.md"]
SENTENCES = [
    "Deploys go out on Tuesdays after the stand-up.",
    "We decided to keep one DNS zone for all environments.",
    "Nobody touches the gateway on a Friday afternoon.",
    "Backups are kept for thirty days and tested each month.",
]
STEPS = "\n## How to restore\n\n1. Stop the service.\n2. Copy the dump back to {}.\n3. Start the service again.\n"
OWN = "The gateway was opened for {} in the spring."

names = st.sampled_from(NAMES)
picks = st.lists(st.sampled_from(SENTENCES), min_size=0, max_size=3, unique=True)
writers = st.sampled_from([good, wordy, merging, *WRONG.values()])
moods = st.lists(st.one_of(writers, st.none()), min_size=1, max_size=3)
"""What the model does, one of these at each call; None is no answer."""


def moody(mood: Sequence[Write | None]) -> Callable[[Sequence[ChatMessage]], str | ProviderError]:
    """Which of them it does is settled by the prompt."""

    def write(messages: Sequence[ChatMessage]) -> str | ProviderError:
        told = "\n".join(each.content for each in messages)
        chosen = mood[hashlib.sha256(told.encode()).digest()[0] % len(mood)]
        return ProviderError("The model does not answer.") if chosen is None else chosen(messages)

    return write


class ModelMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(Path(tempfile.mkdtemp(prefix="memu-model-machine-")), server=self.find_server())
        self.bench.work.mkdir()
        self.given = 0
        self.words: dict[str, str] = {}
        self.homes: dict[str, str] = {}
        self.dependable = False

    def find_server(self) -> Server | None:
        return None

    def teardown(self) -> None:
        try:
            self.sync_calmly()
        finally:
            shutil.rmtree(self.bench.base, ignore_errors=True)
            if self.bench.server is not None:
                self.bench.server.release_all()

    @initialize(said=picks, steps=st.booleans(), dependable=st.booleans())
    def begin(self, said: list[str], steps: bool, dependable: bool) -> None:
        self.dependable = dependable
        self.write("a.md", said, steps)
        self.write("b.md", said[:1], False)

    @rule(path=names, said=picks, steps=st.booleans())
    def write(self, path: str, said: list[str], steps: bool) -> None:
        self.given += 1
        word = f"quokka{self.given}x"
        text = "\n\n".join([f"# Notes {self.given}", *said, OWN.format(word)])
        self.bench.write({path: f"{text}\n{STEPS.format(word) if steps else ''}"})
        self.words[path] = word
        self.homes[word] = path

    @rule(path=names)
    def delete(self, path: str) -> None:
        (self.bench.work / path).unlink(missing_ok=True)
        self.words.pop(path, None)

    @rule(path=names, new=names)
    def rename(self, path: str, new: str) -> None:
        if path in self.words and new not in self.words:
            (self.bench.work / new).parent.mkdir(parents=True, exist_ok=True)
            (self.bench.work / path).rename(self.bench.work / new)
            self.words[new] = self.words.pop(path)
            self.homes = {word: new if home == path else home for word, home in self.homes.items()}

    @rule(mood=moods, cap=st.one_of(st.none(), st.integers(0, 6)), slow=st.booleans())
    def sync_with_a_moody_model(self, mood: list[Write | None], cap: int | None, slow: bool) -> None:
        model = ScriptedChatModel(usual=self.moody(mood), latency=0.005 if slow else 0.0)
        report = self.sync(self.bench, model, max_calls=cap)
        assert cap is None or len(model.asked) <= cap
        self.holds(report)

    @rule(path=names)
    def delete_while_the_model_is_dead(self, path: str) -> None:
        self.delete(path)
        self.sync_with_a_moody_model([None], None, False)

    @rule(mood=moods, step=st.integers(1, 120))
    def kill_a_sync(self, mood: list[Write | None], step: int) -> None:
        with suppress(KilledError):
            self.sync(self.bench, ScriptedChatModel(usual=self.moody(mood)), interceptors=(KillAtStep(step),))

    @rule()
    def sync_calmly(self) -> None:
        """P3 for a model: the entries of a fresh store, none that stand in; P7: one more sync asks nothing."""
        report = self.sync(self.bench, ScriptedChatModel(usual=patient))
        assert (report.ok, report.waiting) == (True, ())
        self.holds(report)
        other = Bench(self.bench.base, "fresh", self.bench.server)
        self.sync(other, ScriptedChatModel(usual=patient))
        rows, expected = self.bench.comparable(), other.comparable()
        assert rows["recall_entry"] == expected["recall_entry"]
        assert rows["resource"] == expected["resource"]
        if self.dependable:
            assert self.bench.trees() == other.trees()
        assert [row[:2] for row in rows["recall_file"]] == [row[:2] for row in expected["recall_file"]]
        stored = self.bench.rows()
        assert not [row for row in stored["recall_entry"] if "stand_in" in row]
        assert (stored["reply"], stored["fold_queue"]) == ([], [])
        model = ScriptedChatModel(usual=patient)
        again = self.sync(self.bench, model)
        assert (model.asked, again.pages.to_dict()) == ([], {"created": [], "changed": [], "removed": []})
        other.remove()

    def moody(self, mood: Sequence[Write | None]) -> Callable[[Sequence[ChatMessage]], str | ProviderError]:
        return moody([each and good for each in mood] if self.dependable else mood)

    def holds(self, report: SyncReport) -> None:
        """P4 from outside, whatever the model did; P5: what it did not read is named."""
        # A file that waits for the next sync stands as it was read before.
        late = {word for word, path in self.homes.items() if path in report.waiting}
        gone = self.homes.keys() - set(self.words.values()) - late
        assert not self.bench.holding(*gone) if gone else True
        for path in self.words.keys() - set(report.waiting):
            assert self.bench.holding(self.words[path]), path
        _, broken = check_tree(self.bench.out / "workspace-memory")
        # A model's own words are nobody's quote; that they cite lines that stand is checked by parsing them.
        # What is cited of a file that waits are the lines that it had.
        quotes = [each for each in broken if "It is written down" not in each and " And " not in each]
        assert report.waiting or not quotes
        undone = {problem.path for problem in report.failed} | set(report.waiting)
        unread = {row[2] for row in _unread(self.bench)}
        assert unread <= undone

    def sync(self, bench: Bench, model: ScriptedChatModel, interceptors: Any = (), **options: Any) -> SyncReport:
        async def once() -> SyncReport:
            given = {"encoder": None, "settings": Settings(), "models": model, "interceptors": interceptors}
            async with bench.open(**given) as memu:
                return await memu.memorize_workspace(
                    bench.work, name="work", allow_empty=True, retry_failed=True, **options
                )

        return asyncio.run(once())


def _unread(bench: Bench) -> list[tuple[Any, ...]]:
    """Sources that are not read to the end, as (root, path, …)."""
    rows = bench.comparable()["resource"]
    return [(row[0], row[0], row[1]) for row in rows if row[7] in ("failed", "partial", "pending")]


class ServerModelMachine(ModelMachine):
    """The same with its stores on a server."""

    def find_server(self) -> Server | None:
        return SERVERS[0]


EXAMPLES = int(os.environ.get("MEMU_TEST_EXAMPLES", "5"))


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=10,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


TestModelMachine = ModelMachine.TestCase
TestModelMachine.settings = _settings(EXAMPLES)


@pytest.mark.usefixtures("postgres")
class TestServerModelMachine(ServerModelMachine.TestCase):
    # In the short form a few: each takes longer.
    settings = _settings(EXAMPLES if EXAMPLES > 5 else 2)
