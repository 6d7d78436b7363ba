"""P5 and P10 when the disk or the folder misbehaves: full, vanishing, replaced, unlistable, strange names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.rows import comparable_rows
from support.warm_start import run_python

from memu import Interceptor, MemoryService, StepEvent

pytestmark = pytest.mark.fault

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from memu.cli import main
sys.argv = ["memu", *sys.argv[2:]]
main()
"""


@dataclass
class After(Interceptor):
    """Does something once a step of the sync has ended."""

    step: str
    act: Callable[[], object]

    async def after(self, event: StepEvent) -> None:
        if (event.workflow, event.step) == ("sync", self.step):
            self.act()


def lay(folder: Path, count: int = 12) -> None:
    folder.mkdir()
    for number in range(count):
        text = f"# Item {number}\n\n" + "\n\n".join(
            f"The drawer {number} holds thing {each} which was counted twice in spring." for each in range(20)
        )
        (folder / f"{number}.md").write_text(text, encoding="utf-8")


def run_limited(size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MEMU_ENCODER": "none", "MEMU_CONFIG": ""}
    return run_python(LIMITED, str(size), *arguments, cwd=Path.cwd(), environment=environment)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX's")
@pytest.mark.parametrize("kilobytes", [40, 250, 500])
def test_a_full_disk_is_said_and_the_next_sync_ends_as_a_calm_one(kilobytes: int, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    lay(folder)
    command = ("sync", str(folder), "--quiet", "--db", f"sqlite:///{tmp_path / 'store.sqlite3'}")
    full = run_limited(kilobytes * 1024, *command, "--out", str(tmp_path / "out"))
    assert full.returncode == 4, (full.returncode, full.stderr)
    assert "Traceback" not in full.stderr
    assert full.stderr.strip()
    assert run_limited(1 << 30, *command, "--out", str(tmp_path / "out")).returncode == 0
    calm = ("sync", str(folder), "--quiet", "--db", f"sqlite:///{tmp_path / 'calm.sqlite3'}")
    assert run_limited(1 << 30, *calm, "--out", str(tmp_path / "calm")).returncode == 0
    assert comparable_rows(tmp_path / "store.sqlite3") == comparable_rows(tmp_path / "calm.sqlite3")
    tree = tmp_path / "out" / "workspace-memory"
    for path in (tmp_path / "calm" / "workspace-memory").rglob("*.md"):
        assert (tree / path.relative_to(tmp_path / "calm" / "workspace-memory")).read_bytes() == path.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("how", ["gone", "link", "folder"])
async def test_p5_a_file_that_changes_under_the_sync_fails_alone_and_is_healed(how: str, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    lay(folder, 4)
    (tmp_path / "secret.md").write_text("# Secret\n\nNobody may read this sentence.\n", encoding="utf-8")
    odd = folder / "2.md"
    text = odd.read_text(encoding="utf-8")

    def change() -> None:
        odd.unlink()
        if how == "link":
            odd.symlink_to(tmp_path / "secret.md")
        elif how == "folder":
            odd.mkdir()

    async with MemoryService.open(folder=folder, encoder=None, interceptors=[After("diff", change)]) as memu:
        report = await memu.memorize_workspace(folder)
        assert [problem.path for problem in report.failed] == ["2.md"]
        assert all(problem.reason for problem in report.failed)
        assert not any("Nobody may read" in entry.text for entry in await memu.list_entries())
    if how == "folder":
        odd.rmdir()
    else:
        odd.unlink(missing_ok=True)
    odd.write_text(text, encoding="utf-8")
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        assert (await memu.memorize_workspace(folder)).ok
        assert {entry.path for entry in await memu.list_entries()} == {f"{number}.md" for number in range(4)}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such names")
async def test_names_of_any_bytes_are_synced_moved_and_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    names = [b"caf\xe9.md", b"a\nb.md", b"%FF.md", "用户 偏好.md".encode(), b" lead.md", b"-dash.md", b"q?*.md"]
    for number, name in enumerate(names):
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118
        with open(path, "wb") as file:  # noqa: ASYNC230, PTH123
            file.write(f"# Name {number}\n\nThe name of file {number} is no ordinary one.\n".encode())
    async with MemoryService.open(folder=folder, encoder=None) as memu:
        report = await memu.memorize_workspace(folder)
        assert report.ok
        assert len(report.added) == len(names)
        assert len(await memu.list_entries()) == len(names)
        os.rename(os.path.join(os.fsencode(folder), names[0]), os.path.join(os.fsencode(folder), b"th\xe9.md"))  # noqa: PTH104, PTH118
        moved = await memu.memorize_workspace(folder)
        assert moved.moved == (("caf%E9.md", "th%E9.md"),)
        os.unlink(os.path.join(os.fsencode(folder), b"th\xe9.md"))  # noqa: PTH108, PTH118
        assert (await memu.memorize_workspace(folder)).deleted == ("th%E9.md",)
