"""Which databases and schemas of a server can be a store's home; others are refused in words (FIELD F21, P5)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.engine import URL, make_url
from support.postgres import Server, run_sql

from memu import StoreError
from memu.cli.app import run
from memu.schema import check_schema, maintain_store, read_schema, upgrade_schema
from memu.sync import MemoryService

pytestmark = pytest.mark.conformance

ROLE = "memu_test_no_owner"


@pytest.fixture(params=["SQL_ASCII", "LATIN1"])
def elsewise(request: pytest.FixtureRequest, postgres: Server) -> Iterator[str]:
    """The URL of a database that keeps texts otherwise."""
    name = f"memu_test_home_{request.param.lower()}"
    postgres.execute(f"DROP DATABASE IF EXISTS {name}")
    postgres.execute(
        f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{request.param}' LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    yield postgres.url_of(name)
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("ask", [upgrade_schema, read_schema, check_schema, maintain_store, MemoryService.open])
def test_a_database_of_another_encoding_is_refused_with_what_to_do(ask: object, elsewise: str) -> None:
    assert callable(ask)
    with pytest.raises(StoreError, match=r"keeps texts as (SQL_ASCII|LATIN1).*createdb --encoding=UTF8"):
        ask(elsewise)
    assert run_sql(elsewise, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_the_command_line_says_so_too(elsewise: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["db", "upgrade"], ["db", "check"], ["search", "team"]):
        assert run([*arguments, "--db", elsewise]) == 4
        assert "createdb --encoding=UTF8" in capsys.readouterr().err


@pytest.fixture
def empty(postgres: Server) -> Iterator[URL]:
    url = postgres.make(empty=True)
    postgres.execute(f"DROP ROLE IF EXISTS {ROLE}")
    postgres.execute(f"CREATE ROLE {ROLE} LOGIN")
    yield make_url(url)
    run_sql(url, f"DROP OWNED BY {ROLE} CASCADE")
    postgres.execute(f"DROP ROLE {ROLE}")
    postgres.drop(url)


@pytest.mark.parametrize("schema", ["memu", 'odd: "50%" Schema'])
def test_f46_what_an_owner_is_told_to_run_finds_the_tables_wherever_they_search(
    schema: str, empty: URL, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run as it is told, by one whose search_path holds tables of the same names elsewhere."""
    plain, quoted = empty.render_as_string(hide_password=False), '"' + schema.replace('"', '""') + '"'
    run_sql(plain, f"CREATE SCHEMA {quoted}")
    inside = empty.update_query_dict({"options": f"-csearch_path={quoted.replace(' ', chr(92) + ' ')}"})
    store = inside.render_as_string(hide_password=False)
    upgrade_schema(store)
    run_sql(plain, f"GRANT USAGE ON SCHEMA {quoted} TO {ROLE}")
    run_sql(plain, f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {quoted} TO {ROLE}")
    if schema == "memu":
        upgrade_schema(plain)

    asked = inside.set(username=ROLE).render_as_string(hide_password=False)
    assert run(["forget", "--purge", "--db", asked]) == 2
    _, found, statement = capsys.readouterr().err.partition("VACUUM")
    run_sql(plain, found + statement.strip())
    assert run(["forget", "--purge", "--db", store]) == 0
    counts = "SELECT DISTINCT schemaname, vacuum_count FROM pg_stat_user_tables WHERE relname <> 'alembic_version'"
    expected = {(schema, 2)} | ({("public", 0)} if schema == "memu" else set())
    assert set(run_sql(plain, counts)) == expected
