"""The small parts of the store: ids, matching, path globs, failures in words, locks in one process."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError

from memu.errors import ConfigurationError, StoreError
from memu.records import Kind
from memu.storage.engine import is_memory, parse_url, show_url, store_path
from memu.storage.failures import translated
from memu.storage.globs import glob_pattern
from memu.storage.ids import new_id
from memu.storage.lock import FileLocks, ProcessLocks
from memu.storage.matching import match_in_order
from memu.storage.words import KIND_CODES


def test_ids_are_short_lower_case_and_never_the_same():
    ids = {new_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert all(re.fullmatch(r"[a-z2-7]{16}", each) for each in ids)


def test_every_kind_has_a_code_of_its_own():
    """Codes are stored in postings: these can be added to, never changed."""
    assert set(KIND_CODES) == {None, *Kind}
    assert len(set(KIND_CODES.values())) == len(KIND_CODES)
    assert (KIND_CODES[None], KIND_CODES[Kind.DOCUMENT], KIND_CODES[Kind.CHAT]) == (0, 1, 2)


@given(st.lists(st.integers(0, 4)), st.lists(st.integers(0, 4)))
def test_matching_pairs_as_many_as_can_be_and_each_once(old, new):
    numbered = list(enumerate(old))
    matching = match_in_order(numbered, new, lambda item: item[1], lambda item: item)
    assert [item for item, _ in matching.pairs] == new
    used = [known for _, known in matching.pairs if known is not None]
    assert sorted([*used, *matching.left]) == numbered
    assert all(known[1] == item for item, known in matching.pairs if known is not None)
    assert len(used) == (Counter(old) & Counter(new)).total()
    for value in set(old):
        places = [known[0] for known in used if known[1] == value]
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        ("*.md", ["a.md", "x/a.md"], ["a.mdx", "a.md/b"]),
        ("docs/*", ["docs/a"], ["docs/a/b", "x/docs/a"]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs", "docsx/a"]),
        ("docs/", ["docs/a", "docs/a/b"], ["docs", "docs.md"]),
        ("/docs/", ["docs/a"], ["x/docs/a"]),
        ("./a.md", ["a.md", "b/a.md"], ["ba.md"]),
        ("**/test_*.py", ["test_a.py", "x/y/test_a.py"], ["x/mytest_a.py"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["az", "a/bz"]),
        ("?at", ["cat", "x/hat"], ["at", "chat", "/at"]),
        ("[ab].txt", ["a.txt", "b.txt"], ["c.txt", "ab.txt"]),
        ("[!ab].txt", ["c.txt"], ["a.txt"]),
        ("[a-c]1", ["b1"], ["d1"]),
        ("a+b(1).md", ["a+b(1).md"], ["aab1.md", "a+b1.md"]),
        ("[", ["["], ["a"]),
        ("a]b", ["a]b"], ["ab"]),
        ("用户/*", ["用户/偏好.md"], ["用户x/偏好.md"]),
    ],
)
def test_path_globs(glob, inside, outside):
    pattern = re.compile(glob_pattern(glob))
    assert [path for path in inside if not pattern.search(path)] == []
    assert [path for path in outside if pattern.search(path)] == []


@pytest.mark.filterwarnings("error")
@given(st.text(max_size=20) | st.text(st.sampled_from("*?[]!^-/:.=az09\\\n"), max_size=12))
def test_any_text_is_a_safe_glob_or_refused_in_words(text):
    try:
        pattern = glob_pattern(text)
    except ConfigurationError as error:
        assert "glob" in str(error)  # noqa: PT017
    else:
        re.compile(pattern)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("database is locked", "another process"),
        ("unable to open database file", "folder exists"),
        ("attempt to write a readonly database", "read-only"),
        ("database or disk is full", "free some space"),
        ("file is not a database", "no SQLite database"),
        ("database disk image is malformed", "backup"),
        ("no such table: scope", "memu db upgrade"),
        ("something new", "something new"),
    ],
)
def test_every_failure_says_what_to_do_and_no_password(said, advice):
    url = parse_url("postgresql://ann:hunter2@host/db")
    for error in (
        OperationalError("SELECT secret", {"x": "secret"}, Exception(said)),
        sqlite3.OperationalError(said),
    ):
        with pytest.raises(StoreError, match=advice) as caught, translated(url):
            raise error
        assert "hunter2" not in str(caught.value)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "memory", "path"),
    [
        ("sqlite://", True, None),
        ("sqlite:///:memory:", True, None),
        ("sqlite:///a/b.sqlite3", False, "a/b.sqlite3"),
        ("sqlite:////a/b.sqlite3", False, "/a/b.sqlite3"),
        ("postgresql://host/db", False, None),
        ("postgres://host/db", False, None),
    ],
)
def test_urls(url, memory, path):
    parsed = parse_url(url)
    assert is_memory(parsed) is memory
    assert (str(store_path(parsed)) if store_path(parsed) else None) == path


def test_f21_a_password_with_a_percent_sign_survives():
    parsed = parse_url("postgresql://ann:p%40ss%25@host/db")
    assert parsed.password == "p@ss%"
    assert parsed.drivername == "postgresql+psycopg"


@pytest.mark.parametrize("kind", ["file", "process"])
def test_p8_one_holder_a_name(tmp_path, kind):
    def make():
        return FileLocks(tmp_path / "x.sqlite3")

    locks, others = (make(), make()) if kind == "file" else (shared := ProcessLocks(), shared)
    hold = locks.try_hold("a/b: ü")
    assert hold is not None
    assert others.try_hold("a/b: ü") is None
    assert "process" in others.holder("a/b: ü")
    second = others.try_hold("other")
    assert second is not None
    second.release()
    hold.release()
    again = others.try_hold("a/b: ü")
    assert again is not None
    again.release()


def test_a_damaged_note_about_the_holder_breaks_nothing(tmp_path):
    locks = FileLocks(tmp_path / "x.sqlite3")
    hold = locks.try_hold("sync")
    assert hold is not None
    for note in tmp_path.glob("*.holder"):
        note.write_text("{")
    assert locks.holder("sync") == "another process"
    hold.release()


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann:hunter2@host/store",
        "postgresql:///store?host=%2Ftmp&user=ann&password=hunter2",
        "postgresql://ann@host/store?sslpassword=hunter2",
        "postgresql://ann:pass%40hunter2@host/store",
    ],
)
def test_p11_no_url_is_shown_with_a_password_wherever_it_holds_it(given: str) -> None:
    shown = show_url(parse_url(given))
    assert "hunter2" not in shown
    assert shown.startswith("postgresql://")


@pytest.mark.parametrize(
    "given", ["postgresql://ann:p@hunter2@host/store", "postgresql://ann@host:hunter2/store", "hunter2"]
)
def test_p11_what_is_no_url_is_refused_without_being_shown(given: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_url(given)
    assert "hunter2" not in str(caught.value)
