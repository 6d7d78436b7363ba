"""``memu db``: what version a store has, and that looking makes nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from memu.cli.app import run
from memu.settings import store_path

pytestmark = pytest.mark.unit


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str | int]]:
    code = run(["db", *arguments, "--json"])
    out, err = capsys.readouterr()
    document = json.loads(out or err)
    assert document["schema"] == 1
    return code, document


def test_from_nothing_to_up_to_date_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/store.sqlite3"
    for command in ("current", "check"):
        code, document = told(capsys, command, "--db", url)
        assert (code, document["error"]["type"]) == (4, "StoreError")  # type: ignore[index]
        assert not list(tmp_path.iterdir())
    code, before = told(capsys, "upgrade", "--db", url)
    assert (code, before["found"]) == (0, None)
    code, again = told(capsys, "upgrade", "--db", url)
    assert (code, again["found"]) == (0, before["wanted"])
    assert told(capsys, "check", "--db", url)[0] == 0
    assert told(capsys, "current", "--db", url)[1]["found"] == before["wanted"]


def test_an_empty_file_is_outdated_not_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.sqlite3").touch()
    url = f"sqlite:///{tmp_path}/empty.sqlite3"
    code, document = told(capsys, "check", "--db", url)
    assert (code, document["error"]["type"]) == (4, "SchemaOutdated")  # type: ignore[index]
    assert told(capsys, "current", "--db", url)[1]["found"] is None


def test_a_newer_store_is_named_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/newer.sqlite3"
    told(capsys, "upgrade", "--db", url)
    with sqlite3.connect(tmp_path / "newer.sqlite3") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for command in ("check", "upgrade"):
        code, document = told(capsys, command, "--db", url)
        assert (code, document["error"]["type"]) == (4, "SchemaTooNew")  # type: ignore[index]


def test_without_a_name_it_is_the_nearest_store_upwards_whatever_its_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "what? 100%#"
    (folder / "deep").mkdir(parents=True)
    store_path(folder).parent.mkdir()
    store_path(folder).touch()
    monkeypatch.chdir(folder / "deep")
    assert told(capsys, "upgrade")[0] == 0
    assert store_path(folder).stat().st_size > 0
    monkeypatch.chdir(tmp_path)
    assert told(capsys, "current")[0] == 4


def test_a_password_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "current", "--db", "mysql://root:hunter2@localhost/x"]) == 2
    assert "hunter2" not in "".join(capsys.readouterr())


def test_a_file_has_no_indexes_to_maintain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/store.sqlite3"
    told(capsys, "upgrade", "--db", url)
    code, document = told(capsys, "maintain", "--db", url)
    assert (code, document["error"]["type"]) == (2, "ConfigurationError")  # type: ignore[index]


def test_a_servers_indexes_are_maintained_by_name(postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = told(capsys, "maintain", "--db", postgres_url)
    assert (code, document) == (0, {"schema": 1, "built": [], "kept": [], "dropped": []})
