"""The wheel is whole: it carries its data and migrations, and works where there is no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("memu", "alembic", "pyproject.toml", "README.md", "LICENSE", ".gitignore")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the sources."""
    checkout, target = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheel")
    for name in BUILT_FROM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, checkout)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)]
    subprocess.run(command, cwd=checkout, check=True, capture_output=True)
    return next(target.glob("memu-*.whl"))


def test_the_wheel_carries_every_file_of_the_package_and_the_migrations(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "memu").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    scripts = {
        f"memu/storage/migrations/{path.relative_to(ROOT / 'alembic').as_posix()}"
        for path in (ROOT / "alembic").rglob("*")
        if path.is_file() and path.suffix in {".py", ".mako"}
    }
    assert any("/versions/0001" in name for name in scripts)
    assert package | scripts <= names
    assert not any(name.startswith(("tests/", "examples/", "alembic/")) for name in names)


def test_the_wheel_makes_a_store_without_a_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert run("-c", "import memu; print(memu.__file__)").startswith(str(tmp_path))
    told = run("-m", "memu", "db", "upgrade", "--db", f"sqlite:///{tmp_path}/store.sqlite3")
    assert "upgraded from nothing" in told
