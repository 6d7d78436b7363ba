"""The engine of a Postgres store: its pool, and what each connection is told first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL

from memu.errors import ConfigurationError, ExtraMissing, StoreError
from memu.extras import install_command

if TYPE_CHECKING:
    import psycopg

__all__ = ["CONNECTIONS", "lift_timeouts", "make_postgres", "require_home", "unhurried"]

# Of one process: several jobs have to fit under a server's 100. All readers and writers together take twelve; two
# are left for locks and their renewal, which must not wait for slow statements.
CONNECTIONS = 8
_MORE = 6
_OPTIONS = {
    "fallback_application_name": "memu",
    "connect_timeout": "10",
    # Else a connection that a firewall forgot is waited for for two hours.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    # A server that lost its power takes what is sent and answers nothing.
    "tcp_user_timeout": "30000",
}
# After how many runs a statement is prepared; "none" for poolers that give each transaction another connection.
_PREPARE = "prepare_threshold"
# A holder that is stopped in the middle of a transaction would hold its rows, and so all who wait for them, for
# ever. As long as a lease lasts is enough. What somebody set is left; but texts, times and numbers are read in one
# form only, whatever the environment, the role or the database says.
_SETTINGS = """
    SELECT set_config('datestyle', 'ISO, MDY', false), set_config('client_encoding', 'UTF8', false),
        set_config('timezone', 'UTC', false), set_config('extra_float_digits', '1', false),
        CASE WHEN current_setting('idle_in_transaction_session_timeout') = '0'
        THEN set_config('idle_in_transaction_session_timeout', '45s', false) END
"""
# Whoever made the extension chose its schema; it comes last, so nothing there stands in for a table of memu's.
_SEE_VECTORS = """
    SELECT set_config('search_path', current_setting('search_path') || ', ' || quote_ident(n.nspname), false)
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector' AND current_schema() IS NOT NULL AND n.nspname <> ALL (current_schemas(true))
"""


def make_postgres(url: URL) -> Engine:
    """An engine on a server. Nothing is connected yet; idle connections are tried before they are used.

    Raises:
        ExtraMissing: the driver is not installed.
    """
    try:
        given = _find_options(url)
        engine = create_engine(
            url.difference_update_query([_PREPARE]),
            pool_pre_ping=True,
            # No column is of that type: one question less of each new connection.
            use_native_hstore=False,
            pool_size=CONNECTIONS,
            max_overflow=_MORE,
            # Whatever the server's default is: a writer sees what those before it committed.
            isolation_level="READ COMMITTED",
            # Parameters hold people's text; it must not reach logs through an error's message.
            hide_parameters=True,
            # Before anything is asked: of a database without an encoding all texts would come as bytes.
            connect_args={**given, "client_encoding": "UTF8"},
        )
    except ModuleNotFoundError as error:
        needed = f"A Postgres store needs the extra 'postgres': {install_command('postgres')}."
        raise ExtraMissing(needed) from error
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "checkin", _forget_mode)
    return engine


def _find_options(url: URL) -> dict[str, str | int | None]:
    """What the driver is told. What it takes besides the server's own parameters would change how memu works.

    Raises:
        ConfigurationError: the URL holds what is no parameter of a connection.
    """
    from psycopg.pq import Conninfo

    known = {option.keyword.decode() for option in Conninfo.get_defaults()} | {_PREPARE}
    unknown = sorted(url.query.keys() - known)
    if unknown:
        raise ConfigurationError(f"The store's URL has {', '.join(unknown)}, no parameter of a connection.")
    given: dict[str, str | int | None] = {name: value for name, value in _OPTIONS.items() if name not in url.query}
    if _PREPARE in url.query:
        told = str(url.query[_PREPARE]).casefold()
        if not (told.isascii() and told.isdigit()) and told != "none":
            raise ConfigurationError(f"{_PREPARE} in the store's URL is a number, or none; not {told!r}.")
        given[_PREPARE] = None if told == "none" else int(told)
    return given


def _forget_mode(connection: psycopg.Connection | None, _record: object) -> None:
    # After a reader the next would be told to write, where the server or the role is set to read only.
    if connection is not None and not connection.closed:
        connection.read_only = None


def _prepare(connection: psycopg.Connection, _record: object) -> None:
    try:
        connection.autocommit = True
        connection.execute(_SETTINGS)
        connection.execute(_SEE_VECTORS)
        connection.autocommit = False
    except BaseException:
        connection.close()
        raise


def require_home(connection: Connection) -> None:
    """See that the database can hold memu's tables and any text in them.

    Raises:
        StoreError: it keeps texts in another encoding than UTF8, or there is no schema for the tables.
    """
    asked = text("SELECT current_setting('server_encoding'), current_schema()")
    encoding, schema = connection.execute(asked).one()
    if encoding != "UTF8":
        raise StoreError(
            f"The database keeps texts as {encoding}, which does not hold every letter; make one that keeps them "
            "as UTF8 (createdb --encoding=UTF8 --template=template0 NAME) and name that with --db."
        )
    if schema is None:
        raise StoreError(
            "The search_path names no schema that is there and that this role may use; run CREATE SCHEMA first."
        )


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """Let statements outside any transaction take as long as the tables are large, whatever timeouts are set."""
    names = lift_timeouts(connection, local=False)
    try:
        yield
    finally:
        for name in names:
            connection.exec_driver_sql(f"RESET {name}")


def lift_timeouts(connection: Connection, *, local: bool) -> tuple[str, ...]:
    """Lift what ends a statement after some time, until the transaction ends (``local``) or it is reset."""
    names: tuple[str, ...] = ("statement_timeout",)
    if (connection.dialect.server_version_info or ()) >= (17,):
        names = (*names, "transaction_timeout")
    for name in names:
        connection.exec_driver_sql(f"SET {'LOCAL ' if local else ''}{name} = 0")
    return names
