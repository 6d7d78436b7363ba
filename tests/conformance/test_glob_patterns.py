"""Whatever glob of a path is written: both databases take it for the same, or it is refused before either (P5)."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import make_url
from support.postgres import Server

from memu.errors import ConfigurationError
from memu.storage.globs import glob_pattern

pytestmark = pytest.mark.conformance

SIGNS = st.sampled_from("ab09./-_*?[]!^\\:=+(){}|$~&#, \n\té中")
GLOBS = st.text(SIGNS, min_size=1, max_size=12) | st.tuples(
    st.sampled_from(["", "*", "docs/", "**/", "a"]),
    st.text(SIGNS, min_size=1, max_size=6).map(lambda inside: f"[{inside}]"),
    st.sampled_from(["", "*", "b", "/", "\n"]),
).map("".join)
PATHS = st.lists(st.text(SIGNS, max_size=6), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def asked(postgres: Server) -> Any:
    plain = make_url(postgres.url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        yield connection


@settings(max_examples=300)
@given(glob=GLOBS, paths=PATHS)
def test_a_glob_means_the_same_to_both_databases(glob: str, paths: list[str], asked: Any) -> None:
    try:
        pattern = glob_pattern(glob)
    except ConfigurationError:
        assume(False)
    here = [path for path in (*paths, glob) if re.search(pattern, path)]
    rows = asked.execute(
        "SELECT p FROM unnest(%s::text[]) WITH ORDINALITY AS t(p, at) WHERE p ~ %s ORDER BY at",
        ([*paths, glob], pattern),
    )
    assert [row[0] for row in rows] == here


@given(glob=GLOBS, path=st.text(SIGNS, max_size=6))
def test_only_two_stars_and_a_slash_itself_reach_over_a_slash(glob: str, path: str) -> None:
    try:
        pattern = glob_pattern(f"/x{glob}/x")
    except ConfigurationError:
        assume(False)
    found = re.search(pattern, f"x{path}/x")
    assert not found or "**" in glob or path.count("/") == glob.count("/")
