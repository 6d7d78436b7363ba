"""P5, P6: an argument whose variable is not set names nothing, least of all the folder that a job runs in."""

from __future__ import annotations

from pathlib import Path

import pytest

from memu.cli.app import run

pytestmark = pytest.mark.unit

COMMANDS = ["sync", "memorize-workspace", "search", "get", "forget", "eval", "workspace remove", "db import-memu"]
OPTIONS = ["--db", "--out", "--user", "--workspace", "--path", "--match"]


@pytest.mark.parametrize("empty", ["", " ", "\t\n"], ids=repr)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_argument_is_refused_before_anything_is_done(
    command: str, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*command.split(), empty, "--quiet"]) == 2
    assert "An argument is empty; is a variable not set?" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("joined", [False, True], ids=["apart", "with a sign"])
@pytest.mark.parametrize("option", OPTIONS)
def test_an_empty_option_is_named(
    option: str, joined: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["sync", ".", *([f"{option}="] if joined else [option, ""])]) == 2
    assert f"{option} is empty" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("asked", ["a=", "=", "x = "])
def test_what_only_looks_empty_is_taken(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", asked]) != 0
    assert "is empty" not in capsys.readouterr().err
