"""Every extra that a message tells people to install is one that the package has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
EXTRA = re.compile(r"memu\[(?P<extras>[a-z][a-z0-9, -]*)\]")
TEXTS = sorted(
    path
    for folder, suffix in (("memu", "*.py"), ("docs", "*.md"), (".", "README.md"))
    for path in (ROOT / folder).rglob(suffix)
    if folder != "." or path.parent == ROOT
)


def find_extras(text: str) -> set[str]:
    return {extra.strip() for match in EXTRA.finditer(text) for extra in match["extras"].split(",")}


def test_no_text_names_an_extra_that_there_is_not() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = {
        (path.relative_to(ROOT).as_posix(), extra)
        for path in TEXTS
        for extra in find_extras(path.read_text(encoding="utf-8"))
    }
    assert len(TEXTS) > 50
    assert {(path, extra) for path, extra in named if extra not in known} == set()
