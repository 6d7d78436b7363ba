"""The migrations make exactly the tables, and bring older stores along."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from memu.errors import SchemaOutdated, SchemaTooNew
from memu.records import EMPTY_SCOPE
from memu.storage.database import Database
from memu.storage.engine import make_engine, parse_url
from memu.storage.migrate import SHIPPED, check, current, prepare, upgrade
from memu.storage.tables import metadata

NEXT = """
from alembic import op
import sqlalchemy as sa

revision = "next"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade():
    op.create_table("novelty", sa.Column("id", sa.Integer, primary_key=True))
    {more}
"""


def _with_next_revision(folder: Path, more: str = ""):
    """The shipped revisions and one more, of a memu to come."""
    shutil.copytree(SHIPPED.folder, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    script = NEXT.format(head=SHIPPED.head, more=more)
    (folder / "scripts" / "versions" / "next.py").write_text(script, encoding="utf-8")
    return replace(SHIPPED, head="next", older=(*SHIPPED.older, SHIPPED.head), folder=folder / "scripts")


def _schema(path: Path, *, without: str = "alembic_version") -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: re.sub(r"\s+", " ", sql) for name, sql in rows if name != without}


def _parts(sql: str) -> list[str]:
    """A statement's columns and constraints in settled order: a column that came later stands last in SQLite."""
    parts, depth = [""], 0
    for char in sql.removesuffix(")").removesuffix(" "):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += char
    return sorted(part.strip() for part in (*parts[0].split("(", 1), *parts[1:]))


def test_the_scripts_make_from_nothing_what_a_new_store_is_made_of(tmp_path):
    Database.open(f"sqlite:///{tmp_path / 'new.sqlite3'}").close()
    engine = make_engine(parse_url(f"sqlite:///{tmp_path / 'migrated.sqlite3'}"))
    upgrade(engine, replace(SHIPPED))
    assert current(engine) == SHIPPED.head
    engine.dispose()
    made, migrated = (_schema(tmp_path / f"{name}.sqlite3", without="") for name in ("new", "migrated"))
    assert {name: _parts(sql) for name, sql in made.items()} == {
        name: _parts(sql) for name, sql in migrated.items()
    }
    assert {"alembic_version", *metadata.tables} <= made.keys()


def test_a_new_store_is_made_without_the_migration_library(tmp_path):
    code = (
        "import sys; from memu.storage.database import Database; "
        f"Database.open('sqlite:///{tmp_path / 'x.sqlite3'}').close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_migration_library_sees_no_difference_either(tmp_path):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    url = f"sqlite:///{tmp_path / 'x.sqlite3'}"
    Database.open(url).close()
    engine = create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_the_named_revisions_are_those_of_the_scripts():
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(SHIPPED.folder))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [SHIPPED.head]
    newest_first = [script.revision for script in scripts.walk_revisions()]
    assert tuple(reversed(newest_first)) == (*SHIPPED.older, SHIPPED.head)


def test_every_table_goes_down_again(tmp_path):
    from alembic.config import Config

    from alembic import command

    path = tmp_path / "x.sqlite3"
    Database.open(f"sqlite:///{path}").close()
    config = Config(cmd_opts=None)
    config.set_main_option("script_location", str(SHIPPED.folder))
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    engine.dispose()
    assert _schema(path) == {}


def test_f21_an_older_store_of_one_s_own_is_backed_up_and_upgraded(tmp_path):
    path = tmp_path / "x.sqlite3"
    with Database.open(f"sqlite:///{path}") as db:
        db.write_now(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/notes"))
    before = _schema(path)
    revisions = _with_next_revision(tmp_path)
    engine = make_engine(parse_url(f"sqlite:///{path}"))
    with pytest.raises(SchemaOutdated, match="memu db upgrade"):
        prepare(engine, migrate=False, revisions=revisions)
    prepare(engine, migrate=True, revisions=revisions)
    assert current(engine) == "next"
    check(engine, revisions)
    engine.dispose()
    assert "novelty" in _schema(path)
    copy = tmp_path / "x.sqlite3.before-next"
    assert _schema(copy) == before
    for each in (path, copy):
        with closing(sqlite3.connect(each)) as connection:
            assert connection.execute("SELECT root FROM workspace").fetchall() == [("/notes",)]
    assert not list(tmp_path.glob("*.part"))


def test_an_upgrade_that_fails_changes_nothing(tmp_path):
    path = tmp_path / "x.sqlite3"
    Database.open(f"sqlite:///{path}").close()
    before = _schema(path)
    revisions = _with_next_revision(tmp_path, more="raise RuntimeError('half-way')")
    engine = make_engine(parse_url(f"sqlite:///{path}"))
    with pytest.raises(RuntimeError, match="half-way"):
        upgrade(engine, revisions)
    assert current(engine) == SHIPPED.head
    engine.dispose()
    assert _schema(path) == before


def test_a_newer_store_is_refused_in_words(tmp_path):
    path = tmp_path / "x.sqlite3"
    engine = make_engine(parse_url(f"sqlite:///{path}"))
    upgrade(engine, _with_next_revision(tmp_path))
    engine.dispose()
    before = path.read_bytes()
    for migrate in (True, False):
        with pytest.raises(SchemaTooNew, match="newer memu"):
            Database.open(f"sqlite:///{path}", migrate=migrate)
    assert path.read_bytes() == before


def test_upgrading_twice_does_nothing_the_second_time(tmp_path):
    engine = make_engine(parse_url(f"sqlite:///{tmp_path / 'x.sqlite3'}"))
    assert upgrade(engine) is None
    assert upgrade(engine) == SHIPPED.head
    engine.dispose()


@pytest.mark.parametrize("name", ["plain", "with space", "100%40", "ünï", "a;b#c"])
def test_f21_any_name_of_a_folder_will_do(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    url = parse_url("sqlite://").set(database=str(folder / "x.sqlite3")).render_as_string(hide_password=False)
    with Database.open(url) as db:
        db.write_now(lambda session: session.within(EMPTY_SCOPE))
    assert (folder / "x.sqlite3").exists()


def test_the_plain_command_makes_the_same_store(tmp_path):
    """Alembic's own command line works on the shipped scripts."""
    path = tmp_path / "x.sqlite3"
    (tmp_path / "alembic.ini").write_text(f"[alembic]\nscript_location = {SHIPPED.folder}\n", encoding="utf-8")
    command = [sys.executable, "-m", "alembic", "-c", str(tmp_path / "alembic.ini"), "-x", f"db=sqlite:///{path}"]
    subprocess.run([*command, "upgrade", "head"], check=True, cwd=tmp_path, capture_output=True)
    with Database.open(f"sqlite:///{path}", migrate=False) as db:
        assert db.read_now(lambda session: session.scopes()) == ()


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_only_its_owner_may_read_a_store(tmp_path):
    path = tmp_path / "x.sqlite3"
    with Database.open(f"sqlite:///{path}") as db:
        db.write_now(lambda session: session.within(EMPTY_SCOPE))
        modes = {each.name: oct(each.stat().st_mode & 0o777) for each in tmp_path.iterdir()}
    assert set(modes.values()) == {"0o600"}
    assert path.name in modes


def test_the_store_is_a_file_with_a_write_ahead_log(tmp_path):
    path = tmp_path / "x.sqlite3"
    with Database.open(f"sqlite:///{path}") as db:
        settings = {
            "journal_mode": "wal",
            "foreign_keys": 1,
            "synchronous": 1,
            "secure_delete": 1,
            "busy_timeout": 60000,
            "wal_autocheckpoint": 8000,
        }
        found = db.read_now(
            lambda session: {
                name: session._connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in settings
            }
        )
    assert found == settings
