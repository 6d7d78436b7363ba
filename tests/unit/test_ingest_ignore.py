"""Ignore rules mean what git means by them (FIELD F10)."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from memu.ingest.ignore import DEFAULT_IGNORES, IgnoreRules, IgnoreStack, parse_rules
from memu.ingest.scan import scan


def rules(*lines: str, base: str = "") -> IgnoreRules:
    return IgnoreRules(tuple(parse_rules(lines, "test")), base)


@pytest.mark.parametrize(
    ("lines", "ignored", "kept"),
    [
        (("build/",), ["build/a", "x/build/a", "x/build/y/z"], ["build", "builder/a"]),
        (("/build",), ["build", "build/a"], ["x/build"]),
        (("*.log",), ["a.log", "x/a.log", "a.log/b"], ["a.logs"]),
        (("docs/*.md",), ["docs/a.md"], ["docs/x/a.md", "x/docs/a.md"]),
        (("docs/**",), ["docs/a", "docs/x/a"], ["docs", "x/docs/a"]),
        (("**/tmp",), ["tmp", "a/tmp/b"], ["tmps"]),
        (("a/**/b",), ["a/b", "a/x/y/b"], ["a/x/c"]),
        (("*", "!*.md"), ["a.txt"], ["a.md"]),
        (("*", "!*/", "!*.md"), ["a.txt", "x/a.txt"], ["a.md", "x/y/a.md"]),
        (("docs/**", "!docs/a/", "!docs/a/b.md"), ["docs/c.md", "docs/a/c.md"], ["docs/a/b.md"]),
        (("out/", "!out/keep"), ["out/keep"], []),
        (("# note", "", r"\#x", r"\!y"), ["#x", "!y"], ["# note"]),
        (("a.md   ",), ["a.md"], []),
        (("a.md\r",), ["a.md"], []),
        (("[ab].md",), ["a.md", "b.md"], ["c.md"]),
        (("a?c",), ["abc"], ["ac", "a/c"]),
    ],
)
def test_patterns(lines: tuple[str, ...], ignored: list[str], kept: list[str]) -> None:
    compiled = rules(*lines)
    assert [path for path in ignored if not compiled.covers(path)] == []
    assert [path for path in kept if compiled.covers(path)] == []


def test_patterns_of_a_folder_are_relative_to_it() -> None:
    compiled = rules("/a.md", base="sub/")
    rule = compiled.decide("sub/a.md", "a.md")
    assert rule is not None
    assert rule.ignored
    assert compiled.decide("sub/x/a.md", "a.md") is None


@pytest.mark.parametrize("line", ["", "# x", "/", "[z-a]", "trailing\\"])
def test_what_git_discards_gives_no_rule(line: str) -> None:
    assert list(parse_rules([line], "test")) == []


def test_every_default_pattern_is_one_rule_with_a_reason() -> None:
    for pattern, reason in DEFAULT_IGNORES:
        assert len(list(parse_rules([pattern], reason))) == 1, pattern
        assert reason


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git itself")
@pytest.mark.parametrize("seed", range(8))
def test_any_rules_leave_what_git_leaves(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folders, names = ["a", "b", "foo", "built"], ["x.md", "y.log", "built", "keep.md"]
    atoms = ["a", "b", "foo", "*.md", "*.log", "built", "keep.md", "x.md", "*", "**", "?", "[ab]", "f*"]

    def pattern() -> str:
        body = "/".join(chance.choices(atoms, k=chance.choice([1, 1, 1, 2, 2, 3])))
        start = chance.choice(["", "", "/"])
        return chance.choice(["", "", "!"]) + start + body + chance.choice(["", "", "/"])

    for _ in range(40):
        path = tmp_path.joinpath(*chance.choices(folders, k=chance.randint(0, 3)), chance.choice(names))
        if path.exists() or any(parent.is_file() for parent in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for folder in ("", "a", "foo/b"):
        if (tmp_path / folder).is_dir():
            lines = [pattern() for _ in range(chance.randint(1, 5))]
            (tmp_path / folder / ".gitignore").write_text("\n".join(lines) + "\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "ls-files", "-o", "-z", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    expected = {path for path in listed if path and not path.endswith(".gitignore")}
    assert {file.path for file in scan(tmp_path).files} == expected


PATTERNS = ("*.tmp", "*~", "draft", "*.min.js", "[ab].md", "*", "*.*", "x?", "/top", "out/", "*.d/", "!*.md")
NAMES = (
    "a.tmp",
    "a.tmp.b",
    "a~",
    "draft",
    "x.min.js",
    "a.md",
    "c.md",
    "plain",
    "xy",
    "top",
    "out",
    "v.d",
    ".tmp",
    "~",
)


def test_one_search_misses_nothing_that_a_pattern_speaks_of() -> None:
    """All pairs, in layers of their own and in one: what the search of all at once passes over, none speaks of."""
    for first in PATTERNS:
        for second in PATTERNS:
            for layers in ([(first, second)], [(first,), (second,)]):
                stack = IgnoreStack(())
                for lines in layers:
                    stack = stack.within(tuple(parse_rules(lines, "test")), "")
                spoken = {rule for lines in layers for rule in parse_rules(lines, "test")}
                for name in (*NAMES, *(f"{name}/" for name in NAMES)):
                    heard = any(rule.matches(name, name) for rule in spoken)
                    assert stack.speaks(name) or not heard, (first, second, name)
