"""P2, P3, P4, P5 and P7 as one machine: whatever happens to a folder, a sync ends where a fresh store would."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from support.rows import comparable_rows

from memu.records import SyncReport
from memu.service import MemoryService
from memu.settings import Settings

pytestmark = pytest.mark.property

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

texts = st.builds(
    lambda title, sentences, steps: "\n\n".join([title, *sentences]) + ("\n" + STEPS if steps else ""),
    st.sampled_from(TITLES),
    st.lists(st.sampled_from(SENTENCES), min_size=0, max_size=4),
    st.booleans(),
)


class SyncMachine(RuleBasedStateMachine):
    files = Bundle("files")

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="memu-machine-"))
        self.root = self.base / "work"
        self.root.mkdir()
        self.ticks = 1_700_000_000
        self.synced = False

    def teardown(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    def put(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self.ticks += 10
        os.utime(target, (self.ticks, self.ticks))
        self.synced = False

    @initialize(target=files, text=texts)
    def begin(self, text: str) -> str:
        self.put("a.md", text)
        return "a.md"

    @rule(target=files, path=st.sampled_from(NAMES), text=texts)
    def write(self, path: str, text: str) -> str:
        self.put(path, text)
        return path

    @rule(target=files, path=consumes(files), new=st.sampled_from(NAMES))
    def rename(self, path: str, new: str) -> object:
        if not (self.root / path).exists() or (self.root / new).exists():
            return multiple()
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / new)
        self.synced = False
        return new

    @rule(path=files)
    def delete(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.synced = False

    @rule(path=files)
    def empty(self, path: str) -> None:
        if (self.root / path).exists():
            self.put(path, "")

    @rule(path=files)
    def touch(self, path: str) -> None:
        if (self.root / path).exists():
            self.ticks += 10
            os.utime(self.root / path, (self.ticks, self.ticks))

    @rule(old=st.sampled_from(["notes", "guides"]), new=st.sampled_from(["notes", "guides", "archive/notes"]))
    def move_folder(self, old: str, new: str) -> None:
        if (self.root / old).is_dir() and not (self.root / new).exists():
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).rename(self.root / new)
            self.synced = False

    @rule(patterns=st.sampled_from(["", "notes/\n", "*.txt\n", "guides/*.md\n!guides/Setup.md\n"]))
    def ignore(self, patterns: str) -> None:
        (self.root / ".memuignore").write_text(patterns, encoding="utf-8")
        self.synced = False

    @rule()
    def sync(self) -> None:
        report = self.run(self.base / "store.sqlite3", self.base / "out")
        assert report.ok, report.failed
        self.synced = True

    @invariant()
    def equals_from_scratch(self) -> None:
        """P3, P7: bytes and rows are those of a fresh store, and one more sync changes nothing."""
        if not self.synced:
            return
        fresh = self.base / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        # The fresh tree lies as deep as the other one: links lead out of it by as many steps.
        self.run(fresh / "store.sqlite3", self.base / "fresh-out")
        assert tree(self.base / "out") == tree(self.base / "fresh-out")
        shutil.rmtree(self.base / "fresh-out")
        rows = comparable_rows(self.base / "store.sqlite3")
        assert rows == comparable_rows(fresh / "store.sqlite3")
        again = self.run(self.base / "store.sqlite3", self.base / "out")
        assert (again.added, again.modified, again.moved, again.deleted) == ((), (), (), ())
        assert again.pages.to_dict() == {"created": [], "changed": [], "removed": []}
        assert comparable_rows(self.base / "store.sqlite3") == rows
        self.synced = False

    def run(self, store: Path, out: Path) -> SyncReport:
        async def once() -> SyncReport:
            async with MemoryService.open(
                f"sqlite:///{store}", out=out, encoder=None, settings=Settings()
            ) as memu:
                return await memu.memorize_workspace(self.root, allow_empty=True)

        return asyncio.run(once())


def tree(out: Path) -> dict[str, bytes]:
    files = (path for path in out.rglob("*") if path.is_file() and path.suffix == ".md")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


TestSyncMachine = SyncMachine.TestCase
TestSyncMachine.settings = settings(
    max_examples=int(os.environ.get("MEMU_TEST_EXAMPLES", "15")),
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
