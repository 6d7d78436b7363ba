"""The docs are true: links lead somewhere, commands and options are those of the program, none is left out."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from markdown_it import MarkdownIt

import memu
from memu.cli.app import run
from memu.cli.database import db
from memu.cli.workspace import workspace
from memu.settings import Settings

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    inline = [
        child for token in MarkdownIt().parse(page.read_text(encoding="utf-8")) for child in token.children or ()
    ]
    links = [str(child.attrs["href"]) for child in inline if child.type == "link_open"]
    broken = [
        link
        for link in links
        if not re.match(r"[a-z]+:", link) and not (page.parent / link.partition("#")[0]).exists()
    ]
    assert not broken


def test_the_readmes_first_screen_has_the_two_commands_that_the_bootstrap_knows() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30]
    commands = [line for line in first_screen if line.startswith("python3 ")]
    assert commands == ["python3 start.py", "python3 start.py test"]
    usage = (ROOT / "start.py").read_text(encoding="utf-8")
    assert all(command in usage for command in commands)
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_memu_is_not_installed_by_name(page: Path) -> None:
    """In the package index the name is another project's."""
    assert not re.search(r"pip install (-\S+ )*['\"]?memu\b", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("group", [db, workspace], ids=lambda group: group.name)
def test_the_list_of_commands_leaves_out_none_of_a_group(group: click.Group) -> None:
    listed = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").split("```")[1]
    (line,) = [line for line in listed.splitlines() if line.startswith(f"memu {group.name} ")]
    told = line.removeprefix(f"memu {group.name} ").split(" | ")
    assert [each.split()[0] for each in told] == list(group.commands)


def test_the_server_to_try_is_healthy_only_once_it_answers_by_tcp() -> None:
    """On its socket answers the server that the image starts for its own setting up."""
    assert "pg_isready -h 127.0.0.1 " in (ROOT / "docker-compose.yml").read_text(encoding="utf-8")


def test_every_command_and_setting_is_described() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    models = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    for command in (
        "memorize-workspace",
        "retrieve-workspace",
        "export",
        "get",
        "recall",
        "status",
        "doctor",
        "forget",
        "reindex",
        "workspace",
        "steps",
        "db",
    ):
        assert f"\nmemu {command}" in page
    for name in Settings.model_fields:
        profiles = ("chat_", "embed_", "extract_", "fold_", "overview_", "vision_", "audio_")
        told = models if name.startswith(profiles) else page
        assert f"`{name}`, `MEMU_{name.upper()}`" in told, name
    assert str(Settings.model_fields["max_file_bytes"].default) in page


@pytest.mark.parametrize(
    "command",
    [
        *("sync", "search", "export", "get", "recall", "status", "doctor", "forget", "reindex"),
        *("workspace remove", "steps", "db upgrade", "db import-memu"),
    ],
)
def test_every_option_is_described(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert {option for option in options if option not in page} == set()


def test_the_sdk_page_names_only_what_is_public() -> None:
    page = (ROOT / "docs" / "sdk.md").read_text(encoding="utf-8")
    imported = {
        name.strip()
        for names in re.findall(r"^from memu import (.+)$", page, flags=re.MULTILINE)
        for name in names.split(",")
    }
    assert imported <= set(memu.__all__)
    errors = set(re.findall(r"`(\w+(?:Error|Missing|Found))`", page))
    assert errors <= set(memu.__all__)
