"""Publishing under a disk that fails, and a process that dies, at every single call (P2, P10, F30)."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from memu.errors import BusyError, ConfigurationError, UnavailableError
from memu.export.disk import FileStat, LocalDisk
from memu.export.manifest import MANIFEST
from memu.export.publish import publish
from memu.records import EMPTY_SCOPE, ExportReport

pytestmark = pytest.mark.fault

OLD = {
    "memory/a.md": "page a, and more of it\n",
    "memory/gone.md": "page gone\n",
    "memory/mine.md": "page mine\n",
    "sources/deep/x.md": "copy\n",
    "SKILL.md": "skills: {memory/a.md}\n",
    "MEMORY.md": "pages: {memory/a.md} {memory/gone.md} {memory/mine.md}\n",
}
NEW = {
    "memory/a.md": "page a, changed\n",
    "memory/mine.md": "page mine, changed\n",
    "memory/new.md": "page new\n",
    "skill/s.md": "skill\n",
    "SKILL.md": "skills: {memory/a.md} {skill/s.md}\n",
    "MEMORY.md": "pages: {memory/a.md} {memory/mine.md} {memory/new.md}\n",
}
MINE = b"the user's own words\n"


class Killed(BaseException):
    """The process died here."""


class QuickDisk(LocalDisk):
    """The real disk, but for waiting until it has written."""

    def create(self, path: Path, data: bytes) -> None:
        with path.open("xb") as file:
            file.write(data)

    def settle(self, folder: Path) -> None:
        pass


class FailingDisk(QuickDisk):
    """A disk whose call number ``at`` ends in ``error``; a file being created is left half written."""

    def __init__(self, at: int, error: Callable[[], BaseException]) -> None:
        self.calls = 0
        self.at = at
        self.error = error

    def stat(self, path: Path) -> FileStat | None:
        self._count()
        return super().stat(path)

    def list_names(self, folder: Path) -> list[str]:
        self._count()
        return super().list_names(folder)

    def read(self, path: Path) -> bytes:
        self._count()
        return super().read(path)

    def make_folder(self, path: Path) -> None:
        self._count()
        super().make_folder(path)

    def create(self, path: Path, data: bytes) -> None:
        if self.calls + 1 == self.at:
            path.write_bytes(data[: len(data) // 2])
        self._count()
        super().create(path, data)

    def replace(self, source: Path, target: Path) -> None:
        self._count()
        super().replace(source, target)

    def remove(self, path: Path) -> None:
        self._count()
        super().remove(path)

    def remove_folder(self, path: Path) -> None:
        self._count()
        super().remove_folder(path)

    def settle(self, folder: Path) -> None:
        self._count()
        super().settle(folder)

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise self.error()


def rendering(files: Mapping[str, str]) -> Callable[[Mapping[str, str]], dict[str, bytes]]:
    def render(renames: Mapping[str, str]) -> dict[str, bytes]:
        made = {}
        for path, text in files.items():
            for name in files:
                text = text.replace(f"{{{name}}}", renames.get(name, name))
            made[path] = text.encode()
        return made

    return render


def export(tree: Path, files: Mapping[str, str], disk: LocalDisk | None = None) -> ExportReport:
    return publish(disk or QuickDisk(), tree, EMPTY_SCOPE, rendering(files))


def prepare(tree: Path, files: Mapping[str, str] | None) -> None:
    """A tree as the last good export left it, with one page edited by hand since."""
    tree.parent.mkdir(parents=True, exist_ok=True)
    if files is not None:
        export(tree, files)
        (tree / "memory/mine.md").write_bytes(MINE)


def read(tree: Path) -> dict[str, bytes]:
    return {
        each.relative_to(tree).as_posix(): b"" if each.is_dir() else each.read_bytes() for each in tree.rglob("*")
    }


def is_temporary(path: str) -> bool:
    return path.endswith(".tmp")


def check_whole(tree: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Every file is wholly old or wholly new; the user's is as it was."""
    for path, data in read(tree).items():
        if path == MANIFEST:
            json.loads(data)
        elif not is_temporary(path):
            assert data in {before.get(path), after.get(path)}, path
    if "memory/mine.md" in before:
        assert (tree / "memory/mine.md").read_bytes() == MINE


CASES = {"first export": (None, NEW), "changes": (OLD, NEW), "back again": (NEW, OLD), "nothing to do": (NEW, NEW)}


def run_until_it_ends(
    tmp_path: Path, case: str, error: Callable[[], BaseException], check: Callable[[Path, BaseException], None]
) -> int:
    """Fail at call 1, 2, 3 … until the export gets through; returns how many calls it took."""
    old, new = CASES[case]
    reference = tmp_path / "reference" / "tree"
    prepare(reference, old)
    before = read(reference) if old else {}
    export(reference, new)
    export(reference, new)
    after = read(reference)
    for number in itertools.count(1):
        tree = tmp_path / str(number) / "tree"
        prepare(tree, old)
        disk = FailingDisk(number, error)
        try:
            export(tree, new, disk)
        except (Killed, UnavailableError) as caught:
            check(tree, caught)
            check_whole(tree, before, after)
            export(tree, new)
            assert read(tree) == after, number
        else:
            assert disk.calls < number
            return number
    raise AssertionError("unreachable")


@pytest.mark.parametrize("case", CASES)
def test_f30_killed_at_any_call_and_run_again(tmp_path: Path, case: str) -> None:
    """Every file is whole, and the next run ends as an undisturbed one does."""

    def check(tree: Path, caught: BaseException) -> None:
        assert isinstance(caught, Killed)

    calls = run_until_it_ends(tmp_path, case, Killed, check)
    assert calls > (20 if case != "nothing to do" else 5)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("case", ["first export", "changes"])
def test_a_disk_that_refuses_is_reported(tmp_path: Path, case: str, code: int) -> None:
    """The error says so in words, nothing half written is left, the next run goes on."""

    def check(tree: Path, caught: BaseException) -> None:
        assert isinstance(caught, UnavailableError)
        assert str(tree) in str(caught)
        assert not any(is_temporary(path) for path in read(tree) if tree.exists())

    run_until_it_ends(tmp_path, case, lambda: OSError(code, "refused"), check)


def test_killed_twice_between_two_different_exports(tmp_path: Path) -> None:
    """A second change after a kill: what lies there of either is still known as ours."""
    reference = tmp_path / "reference" / "tree"
    prepare(reference, None)
    export(reference, OLD)
    clean = read(reference)
    for number in range(1, 60):
        tree = tmp_path / str(number) / "tree"
        prepare(tree, None)
        export(tree, OLD)
        try:
            export(tree, NEW, FailingDisk(number, Killed))
        except Killed:
            with contextlib.suppress(Killed):
                export(tree, {**OLD, "memory/a.md": "a third text\n"}, FailingDisk(number, Killed))
        assert export(tree, OLD).kept == ()
        assert read(tree) == clean


class EditingDisk(QuickDisk):
    """A disk on which the user saves a file at the moment when the first page is being written."""

    def __init__(self, edited: Path) -> None:
        self.edited = edited

    def create(self, path: Path, data: bytes) -> None:
        if not self.edited.exists() or hashlib.sha256(self.edited.read_bytes()) != hashlib.sha256(MINE):
            self.edited.write_bytes(MINE)
        super().create(path, data)


@pytest.mark.parametrize("path", ["memory/a.md", "memory/gone.md", "memory/new.md", "MEMORY.md"])
def test_an_edit_while_publishing_is_not_lost(tmp_path: Path, path: str) -> None:
    """P10: between the look and the write somebody may save."""
    tree = tmp_path / "tree"
    export(tree, OLD)
    with pytest.raises(BusyError, match="changed while"):
        export(tree, NEW, EditingDisk(tree / path))
    assert (tree / path).read_bytes() == MINE
    report = export(tree, NEW)
    assert report.kept == (path,)
    assert (tree / path).read_bytes() == MINE


def test_an_unreadable_tree_is_reported(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    export(tree, OLD)
    with pytest.raises((UnavailableError, ConfigurationError)):
        export(tree, NEW, FailingDisk(2, lambda: PermissionError(errno.EACCES, "refused")))
