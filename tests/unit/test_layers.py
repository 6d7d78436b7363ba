"""The rooms of memu and who may import whom, read from the imports themselves; and that the house stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "memu"

WORDS = {
    *(
        "arguments",
        "errors",
        "extras",
        "languages",
        "markdown_rules",
        "names",
        "quotation",
        "records",
        "stopwords",
    ),
    *("supersession", "tokens"),
}
ROOMS = {"storage", "providers", "ingest", "workflow"}
ROADS = {"memorize", "retrieve", "export"}

MAY_IMPORT = {
    **dict.fromkeys(WORDS, WORDS),
    **dict.fromkeys(ROOMS, WORDS),
    "memorize": WORDS | ROOMS,
    "retrieve": WORDS | ROOMS,
    "export": WORDS | {"storage", "workflow"},
    "settings": {"errors", "records", "providers"},
    "assembly": WORDS | ROOMS | ROADS | {"settings"},
    "carrier": {"errors", "workflow"},
    "idle": WORDS | {"ingest"},
    "doctor": WORDS | ROOMS | ROADS | {"idle"},
    "scoping": WORDS | ROOMS | {"settings"},
    "trees": WORDS | ROOMS | ROADS | {"settings", "carrier"},
    "service": WORDS | ROOMS | ROADS | {"settings", "assembly", "carrier", "doctor", "scoping", "trees"},
    "sync": WORDS | ROOMS | ROADS | {"settings", "service"},
    "schema": {"errors", "records", "settings", "storage"},
    "cli": {"extras", "idle", "mcp", "service", "schema", "settings", "records", "errors", "memu"},
    "mcp": {"service", "records", "errors"},
    "__main__": {"cli"},
    "memu": {"errors", "records", "workflow", "settings", "service"} | ROADS,
}
"""The rooms that each room may import, besides itself. ``memu`` is the package's own public names."""

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "base", "mixin", "common", "misc"}

HEAVY = {
    *("alembic", "bs4", "docutils", "httpx", "numpy", "onnxruntime", "pgvector", "psycopg", "pydantic", "rich"),
    *("mcp", "sqlalchemy", "starlette", "tokenizers", "uvicorn"),
}


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "memu" if parts == ("__init__",) else parts[0]


def _imported_rooms(package: tuple[str, ...], source: str) -> Iterator[tuple[int, str]]:
    """Line and room of each import in the source of a module of ``package``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module or "") if part)
            # `from memu import storage` and `from memu import MemoryService` differ by what the name is.
            names = [f"{module}.{alias.name}" for alias in node.names] if module in ("memu", start) else [module]
        else:
            continue
        for name in names:
            head, *rest = name.split(".")
            if head == "memu":
                known = bool(rest) and ((PACKAGE / rest[0]).is_dir() or (PACKAGE / f"{rest[0]}.py").is_file())
                yield node.lineno, rest[0] if known else "memu"


def _modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a statement, and the packages that hold them."""
    code = f"import sys\n{statement}\nprint(' '.join(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return set(told.split())


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_each_module_imports_only_what_its_layer_may(path: Path) -> None:
    room = _room(path)
    assert room in MAY_IMPORT, f"{room} has no place in the layers yet"
    package = ("memu", *path.relative_to(PACKAGE).parts[:-1])
    found = _imported_rooms(package, path.read_text(encoding="utf-8"))
    wrong = [(line, other) for line, other in found if other not in MAY_IMPORT[room] | {room}]
    assert not wrong, f"{path.relative_to(ROOT)} may not import: {wrong}"


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("import memu.storage.tables", "storage"),
        ("from memu import ingest", "ingest"),
        ("from memu import Scope", "memu"),
        ("from memu.workflow import Step", "workflow"),
        ("from ..memorize import candidate", "memorize"),
        ("from .. import retrieve", "retrieve"),
        ("from . import render", "export"),
        ("def late():\n    import memu.providers", "providers"),
    ],
)
def test_the_reader_of_imports_sees_every_form(source: str, room: str) -> None:
    assert [found for _, found in _imported_rooms(("memu", "export"), source)] == [room]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_are_named_for_a_thing(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    assert not FORBIDDEN_NAMES & {word for part in parts for word in part.split("_")}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_import_only_memu_and_the_standard_library(path: Path) -> None:
    tops = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            tops |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            tops.add(node.module or "")
    assert {name for name in tops if name.split(".")[0] not in sys.stdlib_module_names} <= {"memu", "memu.sync"}


def test_the_package_of_migrations_does_not_hide_the_library() -> None:
    assert not list((ROOT / "alembic").rglob("__init__.py"))


@pytest.mark.parametrize(
    "statement", ["import memu", "import memu; memu.Hit, memu.MemuError", "import memu.cli.app"]
)
def test_importing_memu_loads_nothing_heavy(statement: str) -> None:
    assert not _modules_after(statement) & HEAVY


READING = {
    "bs4",
    "charset_normalizer",
    "docutils",
    "markdown_it",
    "memu.ingest.reader",
    "memu.ingest.redact",
    "yaml",
}
DECIDING = {"memu.memorize.assign.assignment", "memu.memorize.extractors.policies", "memu.memorize.fold.render"}
OTHER_STORES = {"pgvector", "psycopg", "sqlalchemy.dialects.postgresql", "sqlalchemy.dialects.mysql"}


def test_opening_the_public_service_name_loads_no_model_or_server_library() -> None:
    late = {"alembic", "httpx", "numpy", "onnxruntime", "rich", "tokenizers"} | OTHER_STORES
    assert not _modules_after("from memu import MemoryService") & late


def test_a_search_loads_nothing_that_only_a_sync_needs() -> None:
    loaded = _modules_after("import memu.cli.search, memu.retrieve.workflow\nfrom memu import MemoryService")
    assert not loaded & (READING | DECIDING | OTHER_STORES | {"alembic", "memu.memorize.workflows"})


def test_a_sync_loads_what_reads_and_decides_with_the_first_file_that_needs_it() -> None:
    """P7: where nothing changed, none of it is paid for."""
    loaded = _modules_after(
        "import memu.cli.synchronize, memu.memorize.workflows, memu.export.workflow, memu.service"
    )
    assert not loaded & (READING | DECIDING | OTHER_STORES | {"alembic"})
