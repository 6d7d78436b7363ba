"""The vectors of an embedded store once more, many in a row, and what keeps these packs in step with the rows."""

from __future__ import annotations

from itertools import groupby

import sqlalchemy as sa

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_SLOTS = 256
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


def upgrade() -> None:
    op.add_column("passage_vector", sa.Column("place", sa.Integer()))
    places = ["scope_id", "encoder_id", "place"]
    op.create_index("ix_passage_vector_place", "passage_vector", places, unique=True)
    op.create_table(
        "vector_pack",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("encoder_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("norms", sa.LargeBinary(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "encoder_id", "number", name=op.f("pk_vector_pack")),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_vector_pack_scope_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["encoder_id"], ["encoder.id"], name=op.f("fk_vector_pack_encoder_id"), ondelete="CASCADE"
        ),
    )
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        _pack_all(connection)
        for trigger in _TRIGGERS:
            connection.exec_driver_sql(trigger)


def downgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("DROP TRIGGER passage_vector_changed")
        connection.exec_driver_sql("DROP TRIGGER passage_vector_gone")
    op.drop_table("vector_pack")
    op.drop_index("ix_passage_vector_place", "passage_vector")
    op.drop_column("passage_vector", "place")


def _pack_all(connection: sa.Connection) -> None:
    """Give every vector that can be compared a place; a pack at a time is held in memory."""
    owners = connection.exec_driver_sql(
        "SELECT DISTINCT v.scope_id, v.encoder_id, e.dimension FROM passage_vector v JOIN encoder e"
        " ON e.id = v.encoder_id"
    ).all()
    for scope_id, encoder_id, dimension in owners:
        # Their keys first: places are written to the table that is read.
        keys = connection.exec_driver_sql(
            "SELECT passage_id FROM passage_vector WHERE scope_id = ? AND encoder_id = ? AND length(vector) = ?"
            " AND vector <> zeroblob(length(vector)) ORDER BY passage_id",
            (scope_id, encoder_id, dimension),
        ).scalars()
        placed = enumerate(list(keys))
        for number, some in groupby(placed, key=lambda item: item[0] // _SLOTS):
            _pack(connection, scope_id, encoder_id, number, [passage_id for _, passage_id in some])


def _pack(connection: sa.Connection, scope_id: str, encoder_id: str, number: int, keys: list[str]) -> None:
    import numpy as np

    vectors = [
        connection.exec_driver_sql(
            "SELECT vector FROM passage_vector WHERE scope_id = ? AND passage_id = ? AND encoder_id = ?",
            (scope_id, key, encoder_id),
        ).scalar_one()
        for key in keys
    ]
    whole = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(len(keys), -1)
    norms = np.linalg.norm(whole.astype(np.float32), axis=1).astype("<f4")
    connection.exec_driver_sql(
        "INSERT INTO vector_pack (scope_id, encoder_id, number, held, norms, vectors) VALUES (?, ?, ?, ?, ?, ?)",
        (scope_id, encoder_id, number, len(keys), norms.tobytes(), whole.tobytes()),
    )
    connection.exec_driver_sql(
        "UPDATE passage_vector SET place = ? WHERE scope_id = ? AND passage_id = ? AND encoder_id = ?",
        [(number * _SLOTS + slot, scope_id, key, encoder_id) for slot, key in enumerate(keys)],
    )
