"""A store's rows as plain values, for comparing two stores and for looking for words that must be gone."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

__all__ = ["Place", "comparable_rows", "connect_to_server", "dump_rows"]

Place = Path | str
"""A store: the path of its file, or the URL of its database on a server."""


def connect_to_server(url: str) -> psycopg.Connection[Any]:
    """A plain connection, outside any transaction."""
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, autocommit=True)


def dump_rows(store: Place) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    if isinstance(store, str):
        return _dump_server(store)
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
    connection.close()
    return found


def _dump_server(url: str) -> dict[str, list[tuple[Any, ...]]]:
    with connect_to_server(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        names = [row[0] for row in found]
        # A server gives rows in whatever order they lie.
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for name in sorted(names)
        }


# What a row says, with its owner named by content and not by id; times, versions and attempts are left out.
_QUERIES = {
    "resource": """
        SELECT w.root, r.path, r.kind, r.title, r.caption, r.content_hash, r.size, r.state, r.reason, r.language,
               r.happened_at, r.redactions, r.facts
        FROM resource r JOIN workspace w ON (w.scope_id, w.id) = (r.scope_id, r.workspace_id)
        WHERE r.scope_id = :scope""",
    "recall_entry": """
        SELECT w.root, r.path, e.ordinal, e.memory_type, e.track, e.text, e.text_key, e.line_start, e.line_end,
               e.place, e.label, e.block, e.page_hint, e.section, e.shown, e.happened_at
        FROM recall_entry e JOIN resource r ON (r.scope_id, r.id) = (e.scope_id, e.resource_id)
        JOIN workspace w ON (w.scope_id, w.id) = (r.scope_id, r.workspace_id)
        WHERE e.scope_id = :scope""",
    "recall_file": """
        SELECT track, folded_name, name, description, content FROM recall_file WHERE scope_id = :scope""",
    "recall_file_entry": """
        SELECT f.track, f.folded_name, l.mark, l.spelling, w.root, r.path, e.ordinal
        FROM recall_file_entry l JOIN recall_file f ON (f.scope_id, f.id) = (l.scope_id, l.file_id)
        JOIN recall_entry e ON (e.scope_id, e.id) = (l.scope_id, l.entry_id)
        JOIN resource r ON (r.scope_id, r.id) = (e.scope_id, e.resource_id)
        JOIN workspace w ON (w.scope_id, w.id) = (r.scope_id, r.workspace_id)
        WHERE l.scope_id = :scope""",
}
_PASSAGE = """
    SELECT coalesce(f.folded_name, ''), coalesce(w.root, ''), coalesce(r.path, ''), coalesce(e.ordinal, -1),
           p.track, p.ordinal, p.heading, p.header, p.text, p.length, p.kind, p.language, p.line_start, p.line_end,
           p.place, p.happened_at{more}
    FROM passage p
    LEFT JOIN recall_file f ON (f.scope_id, f.id) = (p.scope_id, p.file_id)
    LEFT JOIN recall_entry e ON (e.scope_id, e.id) = (p.scope_id, p.entry_id)
    LEFT JOIN resource r ON r.scope_id = p.scope_id AND r.id = coalesce(p.resource_id, e.resource_id)
    LEFT JOIN workspace w ON (w.scope_id, w.id) = (r.scope_id, r.workspace_id)
    {join}
    WHERE p.scope_id = :scope"""
_QUERIES["passage"] = _PASSAGE.format(more="", join="")
_QUERIES["posting"] = _PASSAGE.format(
    more=", t.term, t.tf", join="JOIN posting t ON (t.scope_id, t.passage_id) = (p.scope_id, p.id)"
)
_QUERIES["passage_vector"] = _PASSAGE.format(
    more=", v.vector, v.scale", join="JOIN passage_vector v ON (v.scope_id, v.passage_id) = (p.scope_id, p.id)"
)
_QUERIES["fold_queue"] = "SELECT file_id FROM fold_queue WHERE scope_id = :scope"


def comparable_rows(store: Place, scope_key: str = "{}") -> dict[str, list[tuple[Any, ...]]]:
    """What two stores of the same folder must agree in, a scope at a time: all but ids, times and versions."""
    if isinstance(store, str):
        with connect_to_server(store) as server:
            row = server.execute("SELECT id FROM scope WHERE key = %s", (scope_key,)).fetchone()
            given = {"scope": row[0] if row else ""}
            return {
                name: sorted(server.execute(query.replace(":scope", "%(scope)s"), given).fetchall(), key=repr)
                for name, query in _QUERIES.items()
            }
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        row = connection.execute("SELECT id FROM scope WHERE key = ?", (scope_key,)).fetchone()
        given = {"scope": row[0] if row else ""}
        found = {
            name: sorted(connection.execute(query, given).fetchall(), key=repr) for name, query in _QUERIES.items()
        }
    connection.close()
    return found
