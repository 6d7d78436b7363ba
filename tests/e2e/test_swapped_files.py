"""P4, P7: what changed though sizes and times stand is seen; what did not change costs a hash and nothing else."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.rows import dump_rows
from support.stores import Bench

from memu.ingest.diff import KnownFile, diff
from memu.ingest.paths import hash_source
from memu.ingest.scan import scan

pytestmark = pytest.mark.e2e

LONG_AGO = 1_600_000_000 * 10**9
LATER = LONG_AGO + 10**18
WORDS = {"five.md": "trout", "nine.md": "perch", "sub/five.md": "bream", "sub/six.md": "tench"}


def lay(folder: Path, words: Mapping[str, str]) -> None:
    """Files of one size and one time, as an archive unpacks them."""
    for path, word in words.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# Lake\n\nThe {word} swims here.\n", encoding="utf-8")
    age(folder)


def age(folder: Path) -> None:
    for path in folder.rglob("*.md"):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))


def swap(folder: Path, one: str, other: str) -> None:
    (folder / one).rename(folder / "aside")
    (folder / other).rename(folder / one)
    (folder / "aside").rename(folder / other)


def swap_words(folder: Path) -> None:
    """The same files, each with the other's bytes and its own time."""
    one, other = (folder / "five.md").read_bytes(), (folder / "nine.md").read_bytes()
    (folder / "five.md").write_bytes(other)
    (folder / "nine.md").write_bytes(one)
    age(folder)


def replace_whole(folder: Path) -> None:
    """As an editor or a synchroniser does: a new file takes the name of the old one, with its time."""
    for path in ("five.md", "nine.md"):
        (folder / "new").write_text((folder / path).read_text().replace("r", "R"), encoding="utf-8")
        os.utime(folder / "new", ns=(LONG_AGO, LONG_AGO))
        (folder / "new").replace(folder / path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "two names swapped": lambda folder: swap(folder, "five.md", "nine.md"),
    "names swapped over folders": lambda folder: swap(folder, "five.md", "sub/five.md"),
    "words swapped in place": swap_words,
    "one took the place of another": lambda folder: (folder / "five.md").replace(folder / "nine.md"),
    "files replaced whole": replace_whole,
    "unpacked again": lambda folder: lay(folder, dict(zip(WORDS, [*WORDS.values()][::-1], strict=True))),
}
"""Changes after which every file has the size and the time that its path had before."""

NO_CHANGES: dict[str, Callable[[Path], object]] = {
    "touched": lambda folder: [path.touch() for path in folder.rglob("*.md")],
    "another mode": lambda folder: [path.chmod(0o600) for path in folder.rglob("*.md")],
    "restored from a backup": lambda folder: [
        shutil.rmtree(shutil.copytree(folder, folder.with_name("backup")) and folder),
        folder.with_name("backup").rename(folder),
    ],
    "linked by a backup": lambda folder: os.link(folder / "five.md", folder.with_name("five.link")),
    "swapped and swapped back": lambda folder: [swap(folder, "five.md", "nine.md") for _ in range(2)],
}


def said(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").split()[3]
        for path in folder.rglob("*.md")
    }


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_p4_what_changed_under_the_same_size_and_time_is_seen(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    lay(bench.work, WORDS)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        change(bench.work)
        await memu.memorize_workspace(bench.work)
        found = {entry.path: entry.text.split()[1] for entry in await memu.list_entries()}
        assert found == said(bench.work)
        for path, word in found.items():
            assert (await memu.retrieve_workspace(word, layers=["resource"])).hits[0].path == path
        # P7: and it is seen once.
        report = await memu.memorize_workspace(bench.work)
        assert (report.modified, report.unchanged) == ((), len(found))


@pytest.mark.parametrize("change", NO_CHANGES.values(), ids=NO_CHANGES)
async def test_p7_files_that_are_the_same_cost_a_hash_and_no_row_but_of_their_status(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    lay(bench.work, WORDS)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        before, trees = dump_rows(bench.store), bench.trees()
        change(bench.work)
        report = await memu.memorize_workspace(bench.work)
        assert (report.unchanged, report.usage.texts, report.export and report.export.written) == (4, 0, ())
        after = dump_rows(bench.store)
        assert {name for name in after if after[name] != before[name]} <= {"resource", "sync_run", "publication"}
        assert bench.trees() == trees


async def test_a_store_from_before_stamps_hashes_each_file_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    lay(bench.work, WORDS)
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        with closing(sqlite3.connect(bench.store)) as connection:
            connection.execute("UPDATE resource SET stamp = 0")
            connection.commit()
            report = await memu.memorize_workspace(bench.work)
            assert (report.modified, report.unchanged) == ((), 4)
            assert connection.execute("SELECT count(*) FROM resource WHERE stamp = 0").fetchone() == (0,)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.sampled_from([*WORDS]), st.sampled_from([*WORDS])), max_size=6))
def test_p4_any_renames_among_files_of_one_size_and_time(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("lake")
    lay(folder, WORDS)
    known = {
        file.path: KnownFile(
            size=file.size,
            mtime_ns=file.mtime_ns,
            content_hash=hash_source(folder, file.path),
            seen_ns=LATER,
            stamp=file.stamp,
        )
        for file in scan(folder).files
    }
    for one, other in moves:
        if one != other:
            swap(folder, one, other)
    compared = diff(scan(folder).files, known, lambda path: hash_source(folder, path), LATER)
    wrong = {path for path, row in known.items() if hash_source(folder, path) != row.content_hash}
    assert {file.path for file in compared.modified} == wrong
