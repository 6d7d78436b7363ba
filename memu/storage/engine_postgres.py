"""The engine of a Postgres store: its pool, and what each connection is told first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from memu.errors import ExtraMissing

if TYPE_CHECKING:
    import psycopg

__all__ = ["CONNECTIONS", "make_postgres", "unhurried"]

# Of one process: several jobs have to fit under a server's 100. The rest is for locks and their renewal.
CONNECTIONS = 8
_MORE = 4
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
# A holder that is stopped in the middle of a transaction would hold its rows, and so all who wait for them, for
# ever. As long as a lease lasts is enough. What somebody set is left; dates are read in one form only.
_SETTINGS = """
    SELECT set_config('datestyle', 'ISO, MDY', false),
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
    given = {name: value for name, value in _OPTIONS.items() if name not in url.query}
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            pool_size=CONNECTIONS,
            max_overflow=_MORE,
            # Whatever the server's default is: a writer sees what those before it committed.
            isolation_level="READ COMMITTED",
            # Parameters hold people's text; it must not reach logs through an error's message.
            hide_parameters=True,
            connect_args=given,
        )
    except ModuleNotFoundError as error:
        raise ExtraMissing("A Postgres store needs the extra 'postgres': pip install 'memu[postgres]'.") from error
    event.listen(engine, "connect", _prepare)
    return engine


def _prepare(connection: psycopg.Connection, _record: object) -> None:
    try:
        connection.autocommit = True
        connection.execute(_SETTINGS)
        connection.execute(_SEE_VECTORS)
        connection.autocommit = False
    except BaseException:
        connection.close()
        raise


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """Let what takes as long as the tables are large come to its end, whatever timeouts are set for statements.

    Inside a transaction it holds until that ends.
    """
    names = ["statement_timeout"]
    if (connection.dialect.server_version_info or ()) >= (17,):
        names.append("transaction_timeout")
    each_alone = connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
    for name in names:
        connection.exec_driver_sql(f"SET {'' if each_alone else 'LOCAL '}{name} = 0")
    try:
        yield
    finally:
        for name in names if each_alone else ():
            connection.exec_driver_sql(f"RESET {name}")
