"""P2 to P7 and P10 as one machine: whatever happens to a folder, a sync ends where a fresh store would.

Rules write, edit, empty, rename, move, delete, touch and ignore files in two workspaces of a scope, fail a file,
fail the encoder, kill a sync at a random step, forget, write into the exported tree, and sync for another user.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.citations import check_tree
from support.postgres import SERVERS, Server
from support.stores import Bench

from memu import Interceptor, MemoryService, StepEvent, SyncReport
from memu.errors import ProviderError
from memu.ingest.document import Document
from memu.memorize.candidate import Extraction
from memu.memorize.extractors.policies import extract
from memu.memorize.extractors.protocol import NO_CONTEXT, ExtractContext
from memu.providers.fakes import FailingEncoder
from memu.settings import Settings

pytestmark = pytest.mark.property

ROOMS = ["work", "home"]
NAMES = [
    "a.md",
    "b.md",
    "notes/a.md",
    "notes/deploys.md",
    "guides/Setup.md",
    "guides/2024-01-05 standup.md",
    "x.txt",
]
TITLES = ["# Deploys", "# DNS", "# dns", "# Deploy steps", "---\ntags: [Ops]\n---\n# Anything", ""]
SENTENCES = [
    "Deploys go out on Tuesdays after the stand-up.",
    "The main database moved to a managed service in March.",
    "We decided to keep one DNS zone for all environments.",
    "Nobody touches the gateway on a Friday afternoon.",
    "Backups are kept for thirty days and tested each month.",
]
STEPS = "\n## How to restore\n\n1. Stop the service.\n2. Copy the dump back.\n3. Start the service again.\n"
ALICE = {"user_id": "alice"}

rooms = st.sampled_from(ROOMS)
names = st.sampled_from(NAMES)
texts = st.builds(
    lambda title, sentences, steps: "\n\n".join([title, *sentences]) + ("\n" + STEPS if steps else ""),
    st.sampled_from(TITLES),
    st.lists(st.sampled_from(SENTENCES), min_size=0, max_size=4),
    st.booleans(),
)


class KilledError(BaseException):
    """Stands for a kill: nothing catches it."""


@dataclass
class KillAt(Interceptor):
    left: int

    async def before(self, event: StepEvent) -> None:
        self.left -= 1
        if self.left <= 0:
            raise KilledError


@dataclass
class Failing:
    """The extractive extractor, but for files whose turn it is to fail."""

    paths: set[str] = field(default_factory=set)
    name: str = "extractive"

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        if path in self.paths:
            raise ProviderError(f"No answer for {path}.")
        return extract(document, path)


class SyncMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="memu-machine-"))
        for room in ROOMS:
            (self.base / room).mkdir()
        self.bench = Bench(self.base, server=self.find_server())
        self.out = self.bench.out
        self.ticks = 1_700_000_000
        self.stale = set(ROOMS)
        self.synced = False

    def find_server(self) -> Server | None:
        return None

    def teardown(self) -> None:
        try:
            # However a run of rules ended, a calm sync sets all right.
            self.sync()
            self.equals_a_fresh_store()
        finally:
            self.clean()

    def clean(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)
        if self.bench.server is not None:
            self.bench.server.release_all()

    @initialize(text=texts)
    def begin(self, text: str) -> None:
        self.put("work", "a.md", text)

    @rule(room=rooms, path=names, text=texts)
    def write(self, room: str, path: str, text: str) -> None:
        self.put(room, path, text)

    @rule(room=rooms, path=names, new=names)
    def rename(self, room: str, path: str, new: str) -> None:
        old, target = self.base / room / path, self.base / room / new
        if old.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            old.rename(target)
            self.stale.add(room)

    @rule(room=rooms, path=names)
    def delete(self, room: str, path: str) -> None:
        (self.base / room / path).unlink(missing_ok=True)
        self.stale.add(room)

    @rule(room=rooms, path=names)
    def empty(self, room: str, path: str) -> None:
        if (self.base / room / path).exists():
            self.put(room, path, "")

    @rule(room=rooms, path=names)
    def touch(self, room: str, path: str) -> None:
        if (self.base / room / path).exists():
            self.ticks += 10
            os.utime(self.base / room / path, (self.ticks, self.ticks))

    @rule(room=rooms, old=st.sampled_from(["notes", "guides"]), new=st.sampled_from(["guides", "archive/notes"]))
    def move_folder(self, room: str, old: str, new: str) -> None:
        source, target = self.base / room / old, self.base / room / new
        if source.is_dir() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            self.stale.add(room)

    @rule(room=rooms, patterns=st.sampled_from(["", "notes/\n", "*.txt\n", "guides/*.md\n!guides/Setup.md\n"]))
    def ignore(self, room: str, patterns: str) -> None:
        (self.base / room / ".memuignore").write_text(patterns, encoding="utf-8")
        self.stale.add(room)

    @rule(room=rooms, path=names)
    def sync_while_a_file_fails(self, room: str, path: str) -> None:
        report = self.run(self.bench, room, extractor=Failing({path}))
        assert {problem.path for problem in report.failed} <= {path}
        self.stale.add(room)

    @rule(room=rooms)
    def sync_while_the_encoder_is_down(self, room: str) -> None:
        assert self.run(self.bench, room, encoder=FailingEncoder(16, name="hashing")).ok
        self.stale.add(room)

    @rule(room=rooms, step=st.integers(1, 90))
    def kill_a_sync(self, room: str, step: int) -> None:
        self.stale.add(room)
        with suppress(KilledError):
            self.run(self.bench, room, interceptors=(KillAt(step),))

    @rule(sentence=st.sampled_from(SENTENCES[:2]))
    @precondition(lambda self: self.synced)
    def forget(self, sentence: str) -> None:
        from memu.errors import NotFound

        async def once() -> None:
            async with self.open(self.bench) as memu:
                with suppress(NotFound):
                    await memu.forget(match=sentence)

        asyncio.run(once())
        self.stale.update(ROOMS)

    @rule(room=rooms)
    def sync_for_another_user(self, room: str) -> None:
        assert self.run(self.bench, room, user=ALICE).ok

    @rule(room=rooms)
    @precondition(lambda self: (self.out / "workspace-memory" / "MEMORY.md").exists())
    def write_into_the_tree(self, room: str) -> None:
        """P10: what a user wrote stays, ours stands beside it; when it is taken away, ours is back."""
        own = self.out / "workspace-memory" / "MEMORY.md"
        own.write_text("mine\n", encoding="utf-8")
        report = self.run(self.bench, room)
        assert own.read_text(encoding="utf-8") == "mine\n"
        assert report.export is not None
        assert "MEMORY.md" in report.export.kept
        own.unlink()
        self.stale.add(room)

    @rule()
    def sync(self) -> None:
        for room in ROOMS:
            report = self.run(self.bench, room)
            assert report.ok, report.failed
        self.stale.clear()

    @invariant()
    def equals_a_fresh_store(self) -> None:
        """P3, P4, P7: bytes and rows are those of a fresh store, all is backed, one more sync changes nothing."""
        if self.stale:
            return
        self.stale.add("checked")
        fresh = self.bench.empty("fresh")
        for room in ROOMS:
            self.run(fresh, room)
        assert exported(self.out) == exported(fresh.out)
        rows = self.bench.comparable()
        assert rows == fresh.comparable()
        fresh.remove()
        assert check_tree(self.out / "workspace-memory")[1] == []
        for room in ROOMS:
            again = self.run(self.bench, room)
            assert (again.added, again.modified, again.moved, again.deleted) == ((), (), (), ())
            assert again.pages.to_dict() == {"created": [], "changed": [], "removed": []}
            assert again.usage.calls == 0
        assert self.bench.comparable() == rows

    def put(self, room: str, path: str, text: str) -> None:
        target = self.base / room / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self.ticks += 10
        os.utime(target, (self.ticks, self.ticks))
        self.stale.add(room)

    def open(self, bench: Bench, **options: Any) -> MemoryService:
        return bench.open(**{"settings": Settings(), **options})

    def run(self, bench: Bench, room: str, user: Any = None, **options: Any) -> SyncReport:
        async def once() -> SyncReport:
            async with self.open(bench, **options) as memu:
                self.synced = True
                return await memu.memorize_workspace(
                    self.base / room, user=user, name=room, allow_empty=True, retry_failed=True
                )

        return asyncio.run(once())


class ServerSyncMachine(SyncMachine):
    """The same with its stores on a server."""

    def find_server(self) -> Server | None:
        return SERVERS[0]


def exported(out: Path) -> dict[str, bytes]:
    files = (path for path in (out / "workspace-memory").rglob("*") if path.suffix == ".md")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


EXAMPLES = int(os.environ.get("MEMU_TEST_EXAMPLES", "8"))


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=14,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


TestSyncMachine = SyncMachine.TestCase
TestSyncMachine.settings = _settings(EXAMPLES)


@pytest.mark.usefixtures("postgres")
class TestServerSyncMachine(ServerSyncMachine.TestCase):
    # In the short form a few: each takes several times as long.
    settings = _settings(EXAMPLES if EXAMPLES > 12 else max(1, EXAMPLES // 4))
