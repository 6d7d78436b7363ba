"""What an embedded store does by itself when a vector goes: its slot in the packs is freed and overwritten.

A vector goes with its passage, entry, source, page, workspace or scope, by cascade, and whoever deletes a row by
hand does not know of packs. So it is the database that keeps them in step, in the same transaction.
"""

from __future__ import annotations

from sqlalchemy import Connection, Table, event

__all__ = ["SLOTS", "keep_packs_in_step"]

# Slots in a pack. It stands in the triggers and in stored places: no change but by a revision.
SLOTS = 256

_FREE = """
    UPDATE vector_pack SET
        held = held - 1,
        norms = CAST(
            substr(norms, 1, 4 * (OLD.place % 256)) || zeroblob(4) || substr(norms, 4 * (OLD.place % 256) + 5)
            AS BLOB
        ),
        vectors = CAST(
            substr(vectors, 1, length(OLD.vector) * (OLD.place % 256)) || zeroblob(length(OLD.vector))
            || substr(vectors, length(OLD.vector) * (OLD.place % 256 + 1) + 1) AS BLOB
        )
    WHERE scope_id = OLD.scope_id AND encoder_id = OLD.encoder_id AND number = OLD.place / 256;
    DELETE FROM vector_pack
    WHERE scope_id = OLD.scope_id AND encoder_id = OLD.encoder_id AND number = OLD.place / 256 AND held = 0;
"""
_LOSE_PLACE = """
    UPDATE passage_vector SET place = NULL
    WHERE scope_id = OLD.scope_id AND passage_id = OLD.passage_id AND encoder_id = OLD.encoder_id;
"""
_GONE = "CREATE TRIGGER passage_vector_gone AFTER DELETE ON passage_vector WHEN OLD.place IS NOT NULL\nBEGIN"
_CHANGED = (
    "CREATE TRIGGER passage_vector_changed AFTER UPDATE OF vector ON passage_vector WHEN OLD.place IS NOT NULL\n"
    "BEGIN"
)
_TRIGGERS = ("".join((_GONE, _FREE, "END")), "".join((_CHANGED, _FREE, _LOSE_PLACE, "END")))


def keep_packs_in_step(passage_vector: Table) -> None:
    """Have the triggers made with the table."""
    event.listen(passage_vector, "after_create", _make_triggers)


def _make_triggers(_table: Table, connection: Connection, **_more: object) -> None:
    if connection.dialect.name == "sqlite":
        for trigger in _TRIGGERS:
            connection.exec_driver_sql(trigger)
