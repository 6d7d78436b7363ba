"""Migrations on a server: what they make, whom they serve, and in which schema. F21."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import URL, make_url
from support.postgres import ASKED, Server, run_sql

from alembic import command
from memu.cli.app import run
from memu.errors import SchemaOutdated, SchemaTooNew, StoreError
from memu.records import EMPTY_SCOPE
from memu.schema import check_schema, maintain_store, read_schema, upgrade_schema
from memu.storage.database import Database
from memu.storage.engine import make_engine, parse_url, writing
from memu.storage.migrate import SHIPPED
from memu.storage.tables import metadata

pytestmark = pytest.mark.conformance

VALUES = {
    "INTEGER": 7,
    "SMALLINT": 1,
    "BIGINT": 7_000_000_000,
    "BOOLEAN": True,
    "DOUBLE PRECISION": 0.5,
    "TIMESTAMP": "2026-01-02T03:04:05+00:00",
    "JSONB": "{}",
    "VECTOR": "[1,2,3]",
}


@pytest.fixture
def empty_url(postgres: Server) -> Iterator[str]:
    """A database without any table, and without pgvector."""
    url = postgres.make(empty=True)
    yield url
    postgres.drop(url)


def _add(url: str | URL, root: str = "/a") -> None:
    with Database.open(url) as db:
        db.write_now(lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root=root))


def _roots(url: str | URL) -> list[str]:
    with Database.open(url) as db:
        return [each.root for each in db.read_now(lambda session: session.within(EMPTY_SCOPE).workspaces.list())]


def _move(url: str, revision: str, *, down: bool = False) -> None:
    engine = make_engine(parse_url(url))
    with engine.connect() as plain, writing(plain).begin():
        config = Config()
        config.set_main_option("script_location", str(SHIPPED.folder))
        config.attributes["connection"] = plain
        (command.downgrade if down else command.upgrade)(config, revision)
    engine.dispose()


def test_the_scripts_make_from_nothing_what_the_tables_say(empty_url: str):
    assert read_schema(empty_url).found is None
    with pytest.raises(SchemaOutdated, match="memu db upgrade"):
        Database.open(empty_url)
    assert upgrade_schema(empty_url).found is None
    assert upgrade_schema(empty_url).found == SHIPPED.head
    assert check_schema(empty_url).found == SHIPPED.head
    engine = make_engine(parse_url(empty_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []
    engine.dispose()
    _add(empty_url)
    assert _roots(empty_url) == ["/a"]


def test_alembic_s_own_command_makes_the_same_and_sees_no_index_that_comes_and_goes(
    empty_url: str, tmp_path: Path
):
    (tmp_path / "alembic.ini").write_text(f"[alembic]\nscript_location = {SHIPPED.folder}\n", encoding="utf-8")
    base = [sys.executable, "-m", "alembic", "-c", str(tmp_path / "alembic.ini"), "-x", f"db={empty_url}"]
    subprocess.run([*base, "upgrade", "head"], check=True, cwd=tmp_path, capture_output=True)
    run_sql(
        empty_url,
        "CREATE INDEX hnsw_some ON passage_vector USING hnsw ((vector::vector(3)) vector_cosine_ops)"
        " WHERE vector_dims(vector) = 3",
    )
    done = subprocess.run([*base, "check"], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    _add(empty_url)


def _fill_every_table(connection: Connection) -> None:
    """A row in each table as it stands, whatever its revision."""
    looked_at = inspect(connection)
    known = set(looked_at.get_table_names()) - {"alembic_version"}
    while known:
        # Those first that refer to none that is still empty.
        ready = {
            name
            for name in known
            if not {each["referred_table"] for each in looked_at.get_foreign_keys(name)} & (known - {name})
        }
        for name in sorted(ready):
            values = {column["name"]: _value(name, column) for column in looked_at.get_columns(name)}
            columns = ", ".join(f'"{each}"' for each in values)
            connection.execute(
                text(f'INSERT INTO "{name}" ({columns}) VALUES ({", ".join(f":{each}" for each in values)})'),
                values,
            )
        known -= ready


# By 0004: what an older memu forgot is looked for in every text.
ADDED = {"tombstone": [{"key_hash": "run:any"}]}
_WORDS = {"track": "memory", "state": "done", "kind": "chat", "term": "word", "language": "en"}
_NULL = {("passage", "entry_id"), ("passage", "file_id"), ("reply", "file_id")}


def _value(table: str, column: dict[str, Any]) -> Any:
    name, kind = column["name"], str(column["type"]).split("(")[0].upper()
    if (table, name) in _NULL:
        return None
    if table == "passage" and name == "kind":
        return "chat"
    return VALUES.get(kind, _WORDS.get(name, "x"))


def _rows(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    names = set(inspect(connection).get_table_names()) - {"alembic_version"}
    return {
        name: [dict(row) for row in connection.execute(text(f'SELECT * FROM "{name}"')).mappings()]
        for name in sorted(names)
    }


@pytest.mark.parametrize("revision", SHIPPED.older)
def test_each_revision_upgrades_what_the_one_before_holds_and_rewrites_no_table(empty_url: str, revision: str):
    _move(empty_url, revision)
    engine = make_engine(parse_url(empty_url))
    files = text(
        "SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    with engine.connect() as connection, connection.begin():
        _fill_every_table(connection)
    with engine.connect() as connection:
        before = _rows(connection)
        stood = dict(connection.execute(files).all())
    assert all(before.values())
    with pytest.raises(SchemaOutdated, match="memu db upgrade"):
        Database.open(empty_url)
    assert upgrade_schema(empty_url).found == revision
    with engine.connect() as connection:
        after = _rows(connection)
        now = dict(connection.execute(files).all())
    assert {name: now[name] for name in stood} == {**stood, "alembic_version": now["alembic_version"]}
    for name, rows in before.items():
        added = ADDED.get(name, ()) if revision < "0004" else ()
        assert [{key: row[key] for key in rows[0]} for row in after[name][: len(rows)]] == rows, name
        assert [row | values for row, values in zip(rows, added, strict=False)] == after[name][len(rows) :], name
    _move(empty_url, revision, down=True)
    with engine.connect() as connection:
        assert _rows(connection) == before
    engine.dispose()


def test_every_table_goes_down_again(empty_url: str):
    upgrade_schema(empty_url)
    _move(empty_url, "base", down=True)
    assert run_sql(empty_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [
        ("alembic_version",)
    ]


def test_a_newer_store_is_refused_in_words_and_stays_as_it_is(postgres_url: str):
    run_sql(postgres_url, "UPDATE alembic_version SET version_num = '9999'")
    try:
        for refused in (Database.open, check_schema, upgrade_schema):
            with pytest.raises(SchemaTooNew, match="newer than this memu's"):
                refused(postgres_url)
        assert run_sql(postgres_url, "SELECT version_num FROM alembic_version") == [("9999",)]
    finally:
        run_sql(postgres_url, f"UPDATE alembic_version SET version_num = '{SHIPPED.head}'")


class TestRoles:
    """Who may what: the server's administrator, the owner of a schema, and one who only reads and writes rows."""

    @pytest.fixture
    def role(self, postgres: Server, empty_url: str) -> Iterator[str]:
        name = f"role_{make_url(empty_url).database}"
        postgres.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB")
        run_sql(empty_url, f"GRANT USAGE, CREATE ON SCHEMA public TO {name}")
        yield name
        run_sql(empty_url, f"DROP OWNED BY {name} CASCADE")
        postgres.execute(f"DROP ROLE {name}")

    def test_one_who_may_not_install_pgvector_is_told_who_can(self, empty_url: str, role: str):
        url = str(make_url(empty_url).set(username=role).render_as_string(hide_password=False))
        with pytest.raises(StoreError, match="let an administrator run CREATE EXTENSION vector"):
            upgrade_schema(url)
        assert run_sql(empty_url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]
        run_sql(empty_url, "CREATE EXTENSION vector")
        assert upgrade_schema(url).found is None
        _add(url)
        assert _roots(url) == ["/a"]

    def test_pgvector_may_lie_in_a_schema_that_nobody_names(self, empty_url: str, role: str):
        run_sql(empty_url, "CREATE SCHEMA extensions")
        run_sql(empty_url, "CREATE EXTENSION vector SCHEMA extensions")
        run_sql(empty_url, f"GRANT USAGE ON SCHEMA extensions TO {role}")
        url = str(make_url(empty_url).set(username=role).render_as_string(hide_password=False))
        upgrade_schema(url)
        _add(url)

    def test_one_who_owns_nothing_reads_and_writes_rows_and_no_more(
        self, empty_url: str, role: str, capsys: pytest.CaptureFixture[str]
    ):
        upgrade_schema(empty_url)
        run_sql(empty_url, f"REVOKE CREATE ON SCHEMA public FROM {role}")
        run_sql(empty_url, f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}")
        url = make_url(empty_url).set(username=role)
        _add(url)
        assert _roots(url) == ["/a"]

        purge = ["forget", "--purge", "--db", url.render_as_string(hide_password=False)]
        assert run(purge) == 2
        told = capsys.readouterr().err
        # Who owns the tables can run what is said.
        _, found, vacuum = told.partition("VACUUM")
        run_sql(empty_url, found + vacuum.strip())

    def test_a_purge_leaves_no_dead_row_in_any_table(self, empty_url: str):
        """F46: nor in an index, though little was deleted."""
        upgrade_schema(empty_url)
        _add(empty_url)
        run_sql(empty_url, "DELETE FROM workspace")
        with Database.open(empty_url) as db:
            assert asyncio.run(db.compact()) is False
        counts = "SELECT vacuum_count, n_dead_tup FROM pg_stat_user_tables WHERE relname <> 'alembic_version'"
        assert set(run_sql(empty_url, counts)) == {(1, 0)}

    def test_the_password_of_a_url_may_hold_any_character(self, postgres: Server, empty_url: str):
        """F21: ``%40`` in a DSN stands for an at sign, here and in what the migration library reads."""
        password = "p@ss:/?#[]%w 100%40ü"
        postgres.execute(f"DROP ROLE IF EXISTS {ASKED}")
        postgres.execute(f"CREATE ROLE {ASKED} LOGIN PASSWORD '{password}'")
        run_sql(empty_url, "CREATE EXTENSION vector")
        run_sql(empty_url, f"ALTER SCHEMA public OWNER TO {ASKED}")
        try:
            url = make_url(empty_url).set(username=ASKED, password=password)
            written = url.set(drivername="postgresql").render_as_string(hide_password=False)
            assert "%40" in written
            upgrade = [sys.executable, "-m", "memu", "db", "upgrade", "--db", written]
            done = subprocess.run(upgrade, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert password not in done.stdout + done.stderr
            assert "p%40ss" not in done.stdout + done.stderr
            _add(written)
            if postgres.process is not None:
                with pytest.raises(StoreError, match="refused the user name or password") as caught:
                    Database.open(url.set(password="p@ss"))
                assert "p@ss" not in str(caught.value)
        finally:
            run_sql(empty_url, f"REASSIGN OWNED BY {ASKED} TO {make_url(empty_url).username}")
            run_sql(empty_url, f"DROP OWNED BY {ASKED} CASCADE")
            postgres.execute(f"DROP ROLE {ASKED}")

    def test_a_database_or_user_that_is_not_there_is_named(self, empty_url: str):
        with pytest.raises(StoreError, match="no such database"):
            Database.open(make_url(empty_url).set(database="no_such_database"))
        with pytest.raises(StoreError, match="does not know that user"):
            Database.open(make_url(empty_url).set(username="no_such_role"))


class TestSchemas:
    """``?options=-csearch_path%3Dmemu``: several memus, or memu beside an app, in one database."""

    @staticmethod
    def _in(url: str, schema: str) -> str:
        made = make_url(url).update_query_dict({"options": f"-csearch_path={schema}"})
        written = made.render_as_string(hide_password=False)
        assert "search_path%3D" in written
        return written

    @pytest.mark.parametrize("enter", [upgrade_schema, read_schema, check_schema, maintain_store, Database.open])
    def test_a_schema_that_is_not_there_is_told_by_every_way_in(
        self, empty_url: str, enter: Callable[[str], object]
    ):
        with pytest.raises(StoreError, match=r"names no schema that is there.*CREATE SCHEMA"):
            enter(self._in(empty_url, "absent"))

    def test_each_schema_is_a_store_of_its_own(self, empty_url: str):
        run_sql(empty_url, "CREATE TABLE app_user (id int)")
        with pytest.raises(StoreError, match=r"app_user.*CREATE SCHEMA memu"):
            upgrade_schema(empty_url)
        urls = [self._in(empty_url, name) for name in ("memu", "other")]
        for url in urls:
            with pytest.raises(StoreError, match="CREATE SCHEMA"):
                upgrade_schema(url)
        for name, url in zip(("memu", "other"), urls, strict=True):
            run_sql(empty_url, f"CREATE SCHEMA {name}")
            assert read_schema(url).found is None
            upgrade_schema(url)
            _add(url, f"/{name}")
        assert [_roots(url) for url in urls] == [["/memu"], ["/other"]]
        assert run_sql(empty_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("app_user",)]
        engine = make_engine(parse_url(urls[0]))
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        engine.dispose()

    def test_another_store_further_down_the_path_is_not_taken_for_ours(self, empty_url: str):
        upgrade_schema(empty_url)
        _add(empty_url, "/public")
        run_sql(empty_url, "CREATE SCHEMA memu")
        url = self._in(empty_url, "memu,public")
        with pytest.raises(SchemaOutdated):
            Database.open(url)
        upgrade_schema(url)
        assert _roots(url) == []
        _add(url, "/memu")
        assert _roots(empty_url) == ["/public"]

    def test_a_search_finds_nothing_of_another_schema(self, empty_url: str):
        import numpy as np
        from support.many_vectors import add_many_vectors

        from memu.storage.vector_indexes import maintain

        found = []
        for name in ("one", "two"):
            run_sql(empty_url, f"CREATE SCHEMA {name}")
            url = self._in(empty_url, name)
            upgrade_schema(url)
            vectors = np.eye(5, dtype=np.float32)[: 5 if name == "one" else 3]
            made = add_many_vectors(url, vectors)
            with Database.open(url) as db:
                assert len(maintain(db._engine, 1).built) == 1
                assert len(maintain(db._engine, 1).kept) == 1
                found.append(
                    db.read_now(
                        lambda session, made=made: len(
                            session.within(EMPTY_SCOPE).search.nearest(
                                np.ones(5, dtype=np.float32), made.encoder_id
                            )
                        )
                    )
                )
        assert found == [5, 3]
