"""Page names and slugs: F24, F25."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.names import MAX_SLUG_BYTES, choose_display_name, fold_name, slugify

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("用户偏好", "用户偏好"),
        ("项目笔记", "项目笔记"),
        ("Ünïcödé", "ünïcödé"),
        ("deploys", "deploys"),
        ("a-2", "a-2"),
        ("Straße", "strasse"),
        ("хранение", "хранение"),
        ("نسخ", "نسخ"),
    ],
)
def test_f24_a_name_of_letters_is_its_own_file_name(name: str, readable: str) -> None:
    assert slugify(name) == unicodedata.normalize("NFC", readable)


@pytest.mark.parametrize(
    "name",
    ["DL-11 a.md", "a 2", "C++", "a/b", "../../etc", "x.", "x...", "a:b", 'q"?*', "🚀", "a  b", "~", "-", ""],
)
def test_f24_a_lossy_name_ends_in_its_hash(name: str) -> None:
    assert re.fullmatch(r"[\w-]+-[0-9a-f]{6}", slugify(name))


@pytest.mark.parametrize(
    "names",
    [
        ["a", "a 2", "a-2"],
        ["DL-11 a.md", "DL-11 b.md", "DL-11 a", "dl-11-a"],
        ["🚀", "🎉", "", ".", ".."],
        ["C", "C++", "C#", "c-"],
        ["用户偏好", "项目笔记", "用户 偏好"],
        ["a b", "a-b", "a_b", "a.b", "a/b", "a--b", "-a-b-"],
        ["x" * 300, "x" * 301, "x" * 299 + "y"],
        ["数" * 300, "数" * 301],
        # One that looks like another's slug gets a hash of its own.
        ["a b", slugify("a b")],
    ],
)
def test_f24_f25_different_names_get_different_files(names: list[str]) -> None:
    assert len({slugify(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A", "a"),
        ("Finance", "finance"),
        ("Deploy  Notes", "deploy notes"),
        (" a ", "a"),
        ("é", "e\u0301"),
        ("STRASSE", "straße"),
    ],
)
def test_f24_spellings_of_one_name_are_one_page(one: str, other: str) -> None:
    assert fold_name(one) == fold_name(other)
    assert slugify(one) == slugify(other)


@pytest.mark.parametrize("name", ["con", "CON", "prn", "Aux", "nul", "com1", "LPT9", "COM0"])
def test_reserved_device_names_are_no_file_names(name: str) -> None:
    assert slugify(name) != name.casefold()
    assert slugify(name).startswith(f"{name.casefold()}-")


@pytest.mark.parametrize("name", ["x" * 300, "数" * 300, "é" * 300, "🚀" * 300, "ab " * 100])
def test_f25_a_long_name_is_cut_to_whole_characters(name: str) -> None:
    slug = slugify(name)
    assert len(slug.encode()) <= MAX_SLUG_BYTES
    assert "\ufffd" not in slug


@given(NAMES)
def test_a_slug_is_safe_on_every_file_system(name: str) -> None:
    slug = slugify(name)
    assert 0 < len(slug.encode()) <= MAX_SLUG_BYTES
    assert not re.search(r'[<>:"/\\|?*.\s\x00-\x1f]', slug)
    assert slug == slugify(name)
    assert unicodedata.normalize("NFC", slug) == slug


@given(NAMES)
def test_folding_is_settled_after_once(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name)


@given(st.lists(NAMES.filter(str.strip), min_size=1, max_size=5))
def test_the_display_name_does_not_depend_on_order(names: list[str]) -> None:
    assert choose_display_name(names) == choose_display_name(reversed(names))


def test_the_display_name_is_the_lowest_by_code_point() -> None:
    assert choose_display_name(["dns", "DNS", "Dns"]) == "DNS"
    assert choose_display_name(["a  b"]) == "a b"
