"""A diff accounts for every file once, and applying it gives the folder (P3, P5)."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from memu.ingest.diff import RACY_WINDOW_NS, Diff, KnownFile, diff, is_idle
from memu.ingest.scan import FoundFile
from memu.records import FileProblem, State

NAMES = st.sampled_from(["a.md", "A.md", "b.md", "README.md", "é.md", "e\u0301.md"])
PATHS = st.builds(
    lambda folders, name: "/".join([*folders, name]), st.lists(st.sampled_from(["x", "y"]), max_size=2), NAMES
)
TIMES = st.integers(0, 6).map(lambda step: step * 1_000_000_000)
FOLDER = st.dictionaries(PATHS, st.tuples(st.sampled_from(["", "one", "two", "three"]), TIMES), max_size=8)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@given(
    disk=FOLDER,
    rows=st.dictionaries(
        PATHS,
        st.tuples(st.sampled_from(["", "one", "two", "three"]), TIMES, TIMES, st.sampled_from(State)),
        max_size=8,
    ),
    hidden=st.sets(st.sampled_from(["x/", "y/", "x/y/", "b.md"]), max_size=2),
)
def test_every_file_is_accounted_for_once(
    disk: dict[str, tuple[str, int]], rows: dict[str, tuple[str, int, int, State]], hidden: set[str]
) -> None:
    disk = {
        path: item for path, item in disk.items() if not any(path.startswith(at) or path == at for at in hidden)
    }
    found = [FoundFile(path=path, size=len(text), mtime_ns=at) for path, (text, at) in disk.items()]
    known = {
        path: KnownFile(size=len(text), mtime_ns=at, content_hash=digest(text), seen_ns=seen, state=state)
        for path, (text, at, seen, state) in rows.items()
    }
    result = diff(
        found, known, lambda path: digest(disk[path][0]), 10_000_000_000,
        unlistable=[FileProblem(path=path, reason="?") for path in hidden],
    )  # fmt: skip
    added = {file.path for file in result.added}
    read = added | {file.path for file in (*result.modified, *result.again)}
    moved_from = [move.old for move in result.moved]
    moved_to = [move.new.path for move in result.moved]

    # Each known path has one fate, each new one another.
    standing = set(disk) & set(known)
    assert added | set(moved_to) == set(disk) - set(known)
    assert sorted([*moved_from, *result.deleted, *result.out_of_sight]) == sorted(set(known) - set(disk))
    assert len(set(moved_from)) == len(moved_from) == len(set(moved_to))
    settled = {file.path for file in (*result.modified, *result.again, *result.restated)}
    assert settled <= standing
    assert len(settled) + result.unchanged == len(standing)
    assert len(settled) == len(result.modified) + len(result.again) + len(result.restated)

    # What is not read has the bytes that its row says, whenever size and time can tell.
    edited = {move.new.path for move in result.moved if move.edited}
    for path in standing - read:
        same = disk[path][0] == rows[path][0]
        told = (len(disk[path][0]), disk[path][1]) != (len(rows[path][0]), rows[path][1])
        racy = rows[path][1] >= rows[path][2] - 2_000_000_000
        assert same or not (told or racy)
    for move in result.moved:
        assert move.new.path in edited or disk[move.new.path][0] == rows[move.old][0]


@given(disk=FOLDER)
def test_p7_a_second_look_finds_nothing_to_do(disk: dict[str, tuple[str, int]]) -> None:
    found = [FoundFile(path=path, size=len(text), mtime_ns=at) for path, (text, at) in disk.items()]
    known = {
        file.path: KnownFile(
            size=file.size, mtime_ns=file.mtime_ns, content_hash=digest(disk[file.path][0]), seen_ns=20_000_000_000
        )
        for file in found
    }
    result = diff(found, known, lambda path: digest(disk[path][0]), 30_000_000_000)
    assert result == Diff(unchanged=len(found))


@given(
    disk=FOLDER,
    rows=st.dictionaries(
        PATHS, st.tuples(st.sampled_from(["", "one", "two"]), TIMES, st.sampled_from(State)), max_size=8
    ),
    same=st.booleans(),
)
def test_p7_what_is_told_at_once_to_be_idle_is_what_a_comparison_finds_unchanged(
    disk: dict[str, tuple[str, int]], rows: dict[str, tuple[str, int, State]], same: bool
) -> None:
    if same:
        rows = {path: (text, at, State.DONE) for path, (text, at) in disk.items()}
    found = [FoundFile(path=path, size=len(text), mtime_ns=at) for path, (text, at) in disk.items()]
    seen = 10_000_000_000
    known = {
        path: KnownFile(size=len(text), mtime_ns=at, content_hash=digest(text), seen_ns=seen, state=state)
        for path, (text, at, state) in rows.items()
    }
    settled = frozenset(
        (path, row.size, row.mtime_ns, row.stamp)
        for path, row in known.items()
        if row.state in (State.DONE, State.SKIPPED) and row.mtime_ns < seen - RACY_WINDOW_NS
    )
    if len(settled) == len(known) and is_idle(found, settled):
        looked: list[str] = []
        result = diff(found, known, lambda path: looked.append(path) or "", seen)
        assert (result, looked) == (Diff(unchanged=len(found)), [])
    else:
        assert not same or len(settled) < len(known)
