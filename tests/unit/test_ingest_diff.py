"""What a sync has to do, decided from a scan and the rows (FIELD F5, F12; P5, P7)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest

from memu.errors import ReadError
from memu.ingest.diff import RACY_WINDOW_NS, Diff, KnownFile, diff
from memu.ingest.scan import FoundFile
from memu.records import FileProblem, State

LONG_AGO = 1_000_000_000_000_000_000
SEEN = LONG_AGO + 100 * RACY_WINDOW_NS
NOW = SEEN + 100 * RACY_WINDOW_NS


class Disk:
    """Files as text, and a note of which were hashed."""

    def __init__(self, files: Mapping[str, str], mtimes: Mapping[str, int] | None = None) -> None:
        self.files = dict(files)
        self.mtimes = dict(mtimes or {})
        self.unreadable: set[str] = set()
        self.hashed: list[str] = []

    def found(self) -> list[FoundFile]:
        return [
            FoundFile(path=path, size=len(text), mtime_ns=self.mtimes.get(path, LONG_AGO))
            for path, text in self.files.items()
        ]

    def hash_of(self, path: str) -> str:
        self.hashed.append(path)
        if path in self.unreadable:
            raise ReadError("refused")
        return digest(self.files[path])


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def rows(
    files: Mapping[str, str], *, mtime: int = LONG_AGO, seen: int = SEEN, state: State = State.DONE
) -> dict[str, KnownFile]:
    return {
        path: KnownFile(size=len(text), mtime_ns=mtime, content_hash=digest(text), seen_ns=seen, state=state)
        for path, text in files.items()
    }


def compare(disk: Disk, known: Mapping[str, KnownFile], **more: object) -> Diff:
    return diff(disk.found(), known, disk.hash_of, NOW, **more)  # type: ignore[arg-type]


def moves(result: Diff) -> list[tuple[str, str, bool]]:
    return [(move.old, move.new.path, move.edited) for move in result.moved]


def test_f13_p7_unchanged_files_are_not_opened() -> None:
    disk = Disk({f"{n}.md": "x" for n in range(50)})
    result = compare(disk, rows(disk.files))
    assert result == Diff(unchanged=50)
    assert disk.hashed == []


def test_added_changed_and_deleted_are_told_apart_in_order() -> None:
    disk = Disk({"z.md": "new", "b.md": "news", "a.md": "other"}, {"b.md": LONG_AGO + 1})
    result = compare(disk, rows({"b.md": "olds", "c.md": "gone", "a.md": "other", "d.md": "gone too"}))
    assert [file.path for file in result.added] == ["z.md"]
    assert [file.path for file in result.modified] == ["b.md"]
    assert result.deleted == ("c.md", "d.md")
    assert result.unchanged == 1


def test_f12_a_touch_is_only_a_new_time() -> None:
    disk = Disk({"a.md": "x", "b.md": "y"}, {"a.md": LONG_AGO + 5, "b.md": LONG_AGO + 5})
    result = compare(disk, rows(disk.files))
    assert [(file.path, file.mtime_ns) for file in result.restated] == [
        ("a.md", LONG_AGO + 5),
        ("b.md", LONG_AGO + 5),
    ]
    assert result.modified == ()


@pytest.mark.parametrize("lead", [0, 1, RACY_WINDOW_NS, -5 * RACY_WINDOW_NS])
def test_f12_a_rewrite_of_equal_size_within_one_tick_is_noticed(lead: int) -> None:
    """The row was written so soon after the file (or before its time) that a second write left no trace."""
    written = SEEN - lead
    disk = Disk({"a.md": "two"}, {"a.md": written})
    result = compare(disk, rows({"a.md": "one"}, mtime=written))
    assert [file.path for file in result.modified] == ["a.md"]


def test_a_doubtful_file_is_written_anew_only_if_that_ends_the_doubt() -> None:
    near = Disk({"a.md": "x"}, {"a.md": SEEN})
    result = compare(near, rows(near.files, mtime=SEEN))
    assert [file.path for file in result.restated] == ["a.md"]
    future = Disk({"a.md": "x"}, {"a.md": NOW + 10 * RACY_WINDOW_NS})
    assert compare(future, rows(future.files, mtime=NOW + 10 * RACY_WINDOW_NS)) == Diff(unchanged=1)


@pytest.mark.parametrize("state", [State.FAILED, State.PENDING, State.PARTIAL])
def test_unfinished_files_are_done_again_when_due(state: State) -> None:
    disk = Disk({"a.md": "x"})
    known = rows(disk.files, state=state)
    assert [file.path for file in compare(disk, known).again] == ["a.md"]
    assert compare(disk, known, is_due=lambda path, row: False) == Diff(unchanged=1)
    asked: list[str] = []
    compare(disk, known, is_due=lambda path, row: not asked.append(path))
    assert asked == ["a.md"]
    assert disk.hashed == []


@pytest.mark.parametrize("state", [State.DONE, State.SKIPPED])
def test_finished_files_are_not(state: State) -> None:
    disk = Disk({"a.md": "x"})
    assert compare(disk, rows(disk.files, state=state)) == Diff(unchanged=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.md", "b.md"),
        ("a.md", "sub/a.md"),
        ("Notes.md", "notes.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("a/b/c.md", "x.txt"),
    ],
)
def test_f5_same_bytes_under_a_new_name_are_a_move(old: str, new: str) -> None:
    disk = Disk({new: "content", "other.md": "new"})
    result = compare(disk, rows({old: "content"}))
    assert moves(result) == [(old, new, False)]
    assert [file.path for file in result.added] == ["other.md"]
    assert result.deleted == ()


def test_a_copy_is_no_move() -> None:
    disk = Disk({"a.md": "content", "b.md": "content"})
    result = compare(disk, rows({"a.md": "content"}))
    assert moves(result) == []
    assert [file.path for file in result.added] == ["b.md"]


def test_only_new_files_of_a_size_that_is_gone_are_hashed() -> None:
    disk = Disk({"b.md": "content", "c.md": "longer content"})
    compare(disk, rows({"a.md": "content"}))
    assert disk.hashed == ["b.md"]


@pytest.mark.parametrize(
    ("gone", "new", "expected"),
    [
        (["a/x.md", "a/y.md"], ["b/x.md", "b/y.md"], [("a/x.md", "b/x.md"), ("a/y.md", "b/y.md")]),
        (["a/x.md", "a/y.md"], ["b/y.md", "b/0.md"], [("a/x.md", "b/0.md"), ("a/y.md", "b/y.md")]),
        (["a/x.md", "b/x.md"], ["c/x.md", "d/x.md"], [("a/x.md", "c/x.md"), ("b/x.md", "d/x.md")]),
        (["X.md", "y.md"], ["z/x.md", "z/q.md"], [("X.md", "z/x.md"), ("y.md", "z/q.md")]),
        (["a.md", "b.md"], ["c.md"], [("a.md", "c.md")]),
        (["a.md"], ["b.md", "c.md"], [("a.md", "b.md")]),
    ],
)
def test_several_equal_files_pair_by_name_and_then_in_order(
    gone: list[str], new: list[str], expected: list[tuple[str, str]]
) -> None:
    result = compare(Disk(dict.fromkeys(new, "same")), rows(dict.fromkeys(gone, "same")))
    assert sorted((old, path) for old, path, _ in moves(result)) == expected


def test_f5_a_folder_moved_whole_with_one_file_edited() -> None:
    old = {"a/one.md": "1", "a/README.md": "22", "a/sub/README.md": "333", "a/sub/two.md": "4444"}
    new = {"b/one.md": "1", "b/README.md": "edited", "b/sub/README.md": "edited too", "b/sub/two.md": "4444"}
    result = compare(Disk(new), rows(old))
    assert moves(result) == [
        ("a/README.md", "b/README.md", True),
        ("a/one.md", "b/one.md", False),
        ("a/sub/README.md", "b/sub/README.md", True),
        ("a/sub/two.md", "b/sub/two.md", False),
    ]
    assert (result.added, result.deleted) == ((), ())


def test_moved_and_edited_is_taken_only_where_one_name_fits_one() -> None:
    result = compare(Disk({"x/plan.md": "new words"}), rows({"plan.md": "old"}))
    assert moves(result) == [("plan.md", "x/plan.md", True)]
    result = compare(Disk({"x/plan.md": "new", "y/plan.md": "newer"}), rows({"plan.md": "old one"}))
    assert moves(result) == []
    result = compare(Disk({"x/plan.md": "new"}), rows({"plan.md": "old one", "z/plan.md": "older"}))
    assert moves(result) == []
    assert result.deleted == ("plan.md", "z/plan.md")


@pytest.mark.parametrize(
    ("old", "new", "text", "expected"),
    [
        ("pump.md", "pumps.md", "one more", True),
        ("docs/deploy-guide.md", "docs/deploy-guide-new.md", "one more", True),
        ("a.md", "b.md", "one more", False),
        ("2024-01-01 log.md", "2024-01-02 log.md", "one more", False),
        ("v1/pump.md", "v2/pumps.md", "one more", False),
        ("pump.md", "pumps.txt", "one more", False),
        ("pump.md", "pumps.md", "a text that is much longer than what stood there before", False),
        ("pump.md", "pumps.md", "", False),
    ],
)
def test_f5_one_file_renamed_and_edited_is_known_by_likeness(
    old: str, new: str, text: str, expected: bool
) -> None:
    result = compare(Disk({new: text}), rows({old: "one less"}))
    assert moves(result) == ([(old, new, True)] if expected else [])


def test_of_several_alike_none_is_taken() -> None:
    result = compare(Disk({"pumps.md": "one more"}), rows({"pump.md": "one less", "pump-b.md": "two less"}))
    assert moves(result) == []


def test_a_moved_file_whose_last_try_failed_is_read_again() -> None:
    result = compare(Disk({"b.md": "x"}), rows({"a.md": "x"}, state=State.FAILED))
    assert moves(result) == [("a.md", "b.md", True)]


def test_p5_what_is_out_of_sight_is_neither_deleted_nor_moved() -> None:
    disk = Disk({"b.md": "content"})
    hidden = [FileProblem(path="dir/", reason="refused"), FileProblem(path="x.md", reason="refused")]
    known = rows({"dir/a.md": "content", "dir/sub/c.md": "c", "x.md": "x", "directory.md": "d"})
    result = compare(disk, known, unlistable=hidden)
    assert result.out_of_sight == ("dir/a.md", "dir/sub/c.md", "x.md")
    assert result.deleted == ("directory.md",)
    assert [file.path for file in result.added] == ["b.md"]


def test_p5_a_file_that_cannot_be_hashed_counts_as_changed() -> None:
    disk = Disk({"a.md": "x", "n.md": "y"}, {"a.md": LONG_AGO + 1})
    disk.unreadable = {"a.md", "n.md"}
    result = compare(disk, rows({"a.md": "x", "gone.md": "y"}))
    assert [file.path for file in result.modified] == ["a.md"]
    assert [file.path for file in result.added] == ["n.md"]
    assert result.deleted == ("gone.md",)


def test_f4_an_empty_scan_over_an_unlistable_root_deletes_nothing() -> None:
    result = diff(
        [], rows({"a.md": "x"}), Disk({}).hash_of, NOW, unlistable=[FileProblem(path="a.md", reason="?")]
    )
    assert result.deleted == ()
