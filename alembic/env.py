"""Alembic's way in: on the connection that memu hands over, else on the database of ``-x db=URL``."""

from __future__ import annotations

from sqlalchemy import Connection

from alembic import context
from memu.storage.engine import make_engine, parse_url, writing
from memu.storage.tables import metadata


def _run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()


def _run_alone() -> None:
    url = context.get_x_argument(as_dictionary=True).get("db")
    if not url:
        raise SystemExit("Name the database: alembic -x db=sqlite:///PATH upgrade head")
    engine = make_engine(parse_url(url))
    try:
        with engine.connect() as plain:
            connection = writing(plain)
            with connection.begin():
                _run(connection)
    finally:
        engine.dispose()


handed_over = context.config.attributes.get("connection")
if handed_over is None:
    _run_alone()
else:
    _run(handed_over)
