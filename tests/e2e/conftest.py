"""The whole program as a process, on copies of the example workspace."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.warm_start import run_memu

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its stdout as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Memu:
    """Runs ``memu`` in a folder. The embedded encoder is left out: words alone answer, and each start is quick."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str | Path, folder: Path | None = None, **environment: str) -> Ended:
        given = {**os.environ, "MEMU_ENCODER": "none", "COLUMNS": "100", **self.environment, **environment}
        ended = run_memu(*arguments, cwd=folder or self.folder, environment=given)
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="session")
def copy_example() -> Callable[[Path], Path]:
    """Copies the example workspace to a folder that does not exist yet."""

    def copy(target: Path) -> Path:
        shutil.copytree(ROOT / "examples" / "workspace", target)
        return target

    return copy


@pytest.fixture
def memu(tmp_path: Path) -> Memu:
    """``memu`` in an empty folder."""
    return Memu(tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def any_memu(request: pytest.FixtureRequest, tmp_path: Path) -> Memu:
    """``memu`` for the ``example``: its store a file in there, or a database on a server; its tree in there."""
    if request.param == "sqlite":
        return Memu(tmp_path)
    url: str = request.getfixturevalue("postgres_url")
    return Memu(tmp_path, {"MEMU_DB": url, "MEMU_OUT": str(tmp_path / "lantern" / ".memu")})


@pytest.fixture
def example(tmp_path: Path, copy_example: Callable[[Path], Path]) -> Path:
    """A copy of the example workspace of this test's own."""
    return copy_example(tmp_path / "lantern")


@pytest.fixture(scope="session")
def synced(tmp_path_factory: pytest.TempPathFactory, copy_example: Callable[[Path], Path]) -> Path:
    """A synced copy of the example workspace, to be read only."""
    folder = copy_example(tmp_path_factory.mktemp("synced") / "lantern")
    ended = Memu(folder)("sync", ".")
    assert ended.code == 0, ended.err
    return folder
