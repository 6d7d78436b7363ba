"""Alembic's way in: on the connection that memu hands over, else on the database of ``-x db=URL``."""

from __future__ import annotations

from sqlalchemy import Connection, text

from alembic import context
from memu.storage.engine import make_engine, parse_url, writing
from memu.storage.tables import metadata


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    # Vector indexes come and go with encoders; no revision makes them, nor the table that revisions are kept in.
    if kind == "index":
        return name is None or not name.startswith("hnsw_")
    return kind != "table" or name != "alembic_version"


def _run(connection: Connection) -> None:
    # Named, for another memu may have such a table further down the search_path.
    server = connection.dialect.name == "postgresql"
    schema = connection.execute(text("SELECT current_schema()")).scalar() if server else None
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_server_default=True,
        include_name=_is_ours,
        version_table_schema=schema,
    )
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
