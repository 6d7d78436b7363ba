"""The public names: sorted, loadable, and the same objects as in the modules they come from."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import memu

pytestmark = pytest.mark.unit

PACKAGE = Path(memu.__file__).parent
# Names at the heart of other programs: one taken away or renamed is a breaking change.
PROMISED = {
    *("MemoryService", "Settings", "WorkspaceScope", "Scope", "MemuError"),
    *("Step", "Workflow", "Interceptor", "StepEvent", "Runner", "LocalRunner"),
    *("SyncState", "MemorizeState", "AssignState", "FoldState", "EmbedState"),
    *("SyncReport", "RetrieveResult", "Hit", "Layer", "Track", "Listing", "ExportReport", "WorkspaceStatus"),
}


def test_names_are_sorted_and_unique() -> None:
    names = memu.__all__
    # Constants, then classes, then functions, each by alphabet: as the linter sorts them.
    assert names == sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert set(names) >= PROMISED


@pytest.mark.parametrize("name", memu.__all__)
def test_each_name_loads(name: str) -> None:
    assert getattr(memu, name) is not None


def test_star_import_and_dir_agree_with_the_list() -> None:
    code = "from memu import *\nprint(' '.join(globals()))\nimport memu\nprint(' '.join(dir(memu)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for names in told.splitlines():
        assert set(memu.__all__) <= set(names.split())


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        memu.nonsense  # noqa: B018


@pytest.mark.parametrize("module_name", ["memu.errors", "memu.records"])
def test_every_error_and_record_is_public(module_name: str) -> None:
    assert set(importlib.import_module(module_name).__all__) <= set(memu.__all__)


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_each_module_says_what_it_offers(path: Path) -> None:
    """A docstring, and an ``__all__`` that names only what is there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    listed = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    ]
    if path.name in {"__init__.py", "__main__.py"} and not listed:
        return
    assert listed, "no __all__"
    parts = ("memu", *path.relative_to(PACKAGE).with_suffix("").parts)
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    assert not [name for name in listed[0] if not hasattr(module, name)]
