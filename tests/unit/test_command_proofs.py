"""A command line teaches only where its exit code shows that each command of it worked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.memorize.extractors.command_proofs import proves_all, split_steps

pytestmark = pytest.mark.unit

HARMLESS = re.compile(r"(?:cd|echo|tail|set|true)\b")
PROVED = [
    "make test",
    "cd app && make test",
    "cd app; make test",
    "make lint && make test && echo done",
    "make test > log.txt 2>&1",
    "make test &> log.txt",
    "make 'a; b | c'",
    'git commit -m "one | two; three & four"',
    "make a\\|b",
    "echo y | make install",
    "set -o pipefail; make test | tail -n 5",
    "set -euo pipefail\nmake lint\nmake test | tail",
    "set -e; make lint; make test",
    "make test;",
    "make \\\n  test",
    "python3 - <<'E'\nprint(1); print(2)\nE",
    "git commit -F - <<E && git push\nwords | words\nE",
]
OPEN = [
    "make test | tail -n 5",
    "make test 2>&1 | tail",
    "make test |& tail",
    "make test || true",
    "make test || make other",
    "make lint; make test",
    "make lint\nmake test",
    "make test; echo $?",
    "make serve &",
    "make serve & make test",
    "make lint && make test | tail",
    "set -e; make test | tail",
    "make test | tail -3 && make gate",
    "for f in *.py; do make $f; done",
    "make don't; echo done",
]


@pytest.mark.parametrize("command", PROVED)
def test_the_exit_code_shows_that_it_worked(command: str) -> None:
    assert proves_all(split_steps(command), HARMLESS)


@pytest.mark.parametrize("command", OPEN)
def test_the_exit_code_says_nothing_of_a_part(command: str) -> None:
    assert not proves_all(split_steps(command), HARMLESS)


@given(st.text(alphabet="ab '\"\\;|&\n<E1>", max_size=400))
def test_no_sign_of_a_step_is_lost(command: str) -> None:
    kept = "".join(step for step, _ in split_steps(command))
    assert sorted(re.sub(r"[^ab]", "", kept)) == sorted(re.sub(r"[^ab]", "", command)) or "<<" in command
