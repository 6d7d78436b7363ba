"""What the README, the SDK page and the examples show is run as it stands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.warm_start import run_python as run_in_warm_process

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
MARKED = re.compile(r"<!-- test: run -->\n```python\n(.*?)```", re.DOTALL)
SNIPPETS = [
    pytest.param(snippet, id=f"{page}-{number}")
    for page in ("README.md", "docs/sdk.md")
    for number, snippet in enumerate(MARKED.findall((ROOT / page).read_text(encoding="utf-8")), start=1)
]


def run_python(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", timeout=120, check=False)


def run_warm(code: str, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program in a process that has imported memu."""
    strict = f"import warnings\nwarnings.simplefilter('error')\n{code}"
    return run_in_warm_process(strict, *arguments, cwd=cwd, environment=os.environ)


def run_script(script: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = f"import runpy, sys\nsys.argv[0] = {str(script)!r}\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    return run_warm(code, *arguments, cwd=cwd)


def test_every_python_snippet_is_marked_to_be_run() -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/sdk.md")]
    assert sum(page.count("```python") for page in pages) == len(SNIPPETS) >= 5


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets_run_and_run_again(snippet: str, tmp_path: Path, copy_example: Callable[[Path], Path]) -> None:
    copy_example(tmp_path / "notes")
    for _ in ("a first time", "over what the first left"):
        ended = run_warm(snippet, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.strip()


def test_the_quick_start_shows_pages_and_answers(tmp_path: Path) -> None:
    ended = run_script(ROOT / "examples" / "quick_start.py", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "new page: memory/" in ended.stdout
    assert "new page: skill/" in ended.stdout
    assert "48 hours" in ended.stdout
    assert not list(tmp_path.iterdir())


def test_the_scheduled_job_ends_with_the_codes_it_documents(
    tmp_path: Path, copy_example: Callable[[Path], Path]
) -> None:
    folder = copy_example(tmp_path / "notes")
    job = ROOT / "examples" / "scheduled_job.py"
    first = run_script(job, folder, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "new" in first.stdout
    second = run_script(job, folder, cwd=tmp_path)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    missing = run_script(job, tmp_path / "missing", folder, cwd=tmp_path)
    assert missing.returncode == 4
    assert "missing" in missing.stderr
    assert run_script(job, cwd=tmp_path).returncode == 2


def test_the_bootstrap_shows_pages_and_two_answers(tmp_path: Path) -> None:
    """The README's first command in a copy of the checkout, so that this one stays clean."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shutil.copy(ROOT / "start.py", checkout)
    shutil.copytree(ROOT / "examples", checkout / "examples")
    program = "import sys, pathlib, start; sys.exit(start.show(pathlib.Path(sys.executable)))"
    environment = {**os.environ, "MEMU_DB": "sqlite:////nonexistent/real/store.sqlite3"}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.index("sync demo") < ended.stdout.index("# ") < ended.stdout.index("memu search")
    assert ended.stdout.count("\n[1] ") == 2
    assert "0001-postgres-job-queue.md:" in ended.stdout
    assert "roll-back-a-release.md:" in ended.stdout


def test_the_bootstrap_installs_once_and_again_when_the_project_changes(tmp_path: Path) -> None:
    """Its environment's Python is a script here that notes what it is asked."""
    shutil.copy(ROOT / "start.py", tmp_path)
    project, log, python = tmp_path / "pyproject.toml", tmp_path / "asked", tmp_path / ".venv" / "bin" / "python"
    project.write_text("one", encoding="utf-8")
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {log}\n', encoding="utf-8")
    python.chmod(0o755)

    def installs() -> int:
        assert run_python(tmp_path / "start.py", "setup", cwd=tmp_path).returncode == 0
        return log.read_text(encoding="utf-8").count("-m pip install")

    assert [installs(), installs()] == [1, 1]
    project.write_text("two", encoding="utf-8")
    assert [installs(), installs()] == [2, 2]


def test_the_bootstrap_explains_itself(tmp_path: Path) -> None:
    shutil.copy(ROOT / "start.py", tmp_path)
    for arguments, code in ((["nonsense"], 2), (["--help"], 0), (["demo", "more"], 2)):
        ended = run_python(tmp_path / "start.py", *arguments, cwd=tmp_path)
        assert ended.returncode == code
        assert "python3 start.py test" in ended.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["start.py"]


def test_the_workflow_tables_of_the_architecture_page_are_those_in_force() -> None:
    ended = run_python("-m", "memu", "steps", "--markdown", cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = page.split("<!-- workflows: memu steps --markdown -->\n")[1].split("<!-- end of workflows -->")[0]
    assert shown.strip() == ended.stdout.strip(), "docs/workflow_tables.py writes them anew"
    assert not re.search(r"\|  \|$", ended.stdout, flags=re.MULTILINE), "a step does not say what it does"
    titles = re.findall(r"^### (\w+)$", ended.stdout, flags=re.MULTILINE)
    assert {"sync", "memorize", "assign", "fold", "embed", "export", "retrieve"} <= set(titles)
