"""The first schema: every table of memu."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op
from memu.storage.types import Int8Vector, Json, UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _require_vectors()
    _make_encoder()
    _make_lock()
    _make_scope()
    _make_publication()
    _make_recall_file()
    _make_tombstone()
    _make_workspace()
    _make_fold_queue()
    _make_resource()
    _make_sync_run()
    _make_recall_entry()
    _make_passage()
    _make_recall_file_entry()
    _make_passage_vector()
    _make_posting()


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table)


def _require_vectors() -> None:
    # A role that may not create extensions can still use one that is there.
    there = op.get_bind().execute(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")).first()
    if there is None:
        op.execute("CREATE EXTENSION vector")


def _make_encoder() -> None:
    op.create_table(
        "encoder",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("languages", Json(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.UniqueConstraint(
            "name", "dimension", "fingerprint", name=op.f("uq_encoder_name_dimension_fingerprint")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_encoder")),
    )


def _make_lock() -> None:
    op.create_table(
        "lock",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("boot_id", sa.String(64), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("process_started", sa.Text(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lock")),
    )


def _make_scope() -> None:
    op.create_table(
        "scope",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fields", Json(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scope")),
        sa.UniqueConstraint("key", name=op.f("uq_scope_key")),
    )


def _make_publication() -> None:
    op.create_table(
        "publication",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("tree", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("published_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "tree", name=op.f("pk_publication")),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_publication_scope_id"), ondelete="CASCADE"
        ),
    )


def _make_recall_file() -> None:
    op.create_table(
        "recall_file",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("track", sa.String(8), nullable=False, server_default="memory"),
        sa.Column("folded_name", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "id", name=op.f("pk_recall_file")),
        sa.UniqueConstraint(
            "scope_id", "track", "folded_name", name=op.f("uq_recall_file_scope_id_track_folded_name")
        ),
        sa.CheckConstraint("track IN ('memory','skill')", name=op.f("ck_recall_file_track")),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_recall_file_scope_id"), ondelete="CASCADE"
        ),
    )


def _make_tombstone() -> None:
    op.create_table(
        "tombstone",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "key_hash", name=op.f("pk_tombstone")),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_tombstone_scope_id"), ondelete="CASCADE"
        ),
    )


def _make_workspace() -> None:
    op.create_table(
        "workspace",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("assigned", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "id", name=op.f("pk_workspace")),
        sa.UniqueConstraint("scope_id", "root", name=op.f("uq_workspace_scope_id_root")),
        sa.UniqueConstraint("scope_id", "name", name=op.f("uq_workspace_scope_id_name")),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_workspace_scope_id"), ondelete="CASCADE"
        ),
    )


def _make_fold_queue() -> None:
    op.create_table(
        "fold_queue",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("file_id", sa.String(64), nullable=False),
        sa.Column("queued_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "file_id", name=op.f("pk_fold_queue")),
        sa.ForeignKeyConstraint(
            ["scope_id", "file_id"],
            ["recall_file.scope_id", "recall_file.id"],
            name=op.f("fk_fold_queue_scope_id_file_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_fold_queue_scope_id"), ondelete="CASCADE"
        ),
    )


def _make_resource() -> None:
    op.create_table(
        "resource",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("workspace_id", sa.String(64), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("seen_ns", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("tried_at", UtcDateTime(), nullable=True),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("happened_at", UtcDateTime(), nullable=True),
        sa.Column("redactions", Json(), nullable=False),
        sa.Column("facts", Json(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "id", name=op.f("pk_resource")),
        sa.UniqueConstraint(
            "scope_id", "workspace_id", "path", name=op.f("uq_resource_scope_id_workspace_id_path")
        ),
        sa.ForeignKeyConstraint(
            ["scope_id", "workspace_id"],
            ["workspace.scope_id", "workspace.id"],
            name=op.f("fk_resource_scope_id_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "state IN ('pending','done','partial','failed','skipped')", name=op.f("ck_resource_state")
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["scope.id"], name=op.f("fk_resource_scope_id"), ondelete="CASCADE"),
    )
    op.create_index(
        op.f("ix_resource_scope_id_workspace_id_state"), "resource", ["scope_id", "workspace_id", "state"]
    )


def _make_sync_run() -> None:
    op.create_table(
        "sync_run",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("workspace_id", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("extractor", sa.String(64), nullable=False),
        sa.Column("encoder", sa.Text(), nullable=True),
        sa.Column("counts", Json(), nullable=False),
        sa.Column("failed", Json(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("scope_id", "id", name=op.f("pk_sync_run")),
        sa.ForeignKeyConstraint(
            ["scope_id", "workspace_id"],
            ["workspace.scope_id", "workspace.id"],
            name=op.f("fk_sync_run_scope_id_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "state IN ('running','done','partial','failed','interrupted')", name=op.f("ck_sync_run_state")
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["scope.id"], name=op.f("fk_sync_run_scope_id"), ondelete="CASCADE"),
    )
    op.create_index(
        op.f("ix_sync_run_scope_id_workspace_id_started_at"),
        "sync_run",
        ["scope_id", "workspace_id", "started_at"],
    )


def _make_recall_entry() -> None:
    op.create_table(
        "recall_entry",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("resource_id", sa.String(64), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("memory_type", sa.String(16), nullable=False),
        sa.Column("track", sa.String(8), nullable=False, server_default="memory"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_key", sa.Text(), nullable=False),
        sa.Column("line_start", sa.Integer(), nullable=True),
        sa.Column("line_end", sa.Integer(), nullable=True),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("block", sa.String(16), nullable=False),
        sa.Column("page_hint", sa.Text(), nullable=True),
        sa.Column("section", sa.Text(), nullable=True),
        sa.Column("shown", sa.Boolean(), nullable=False),
        sa.Column("happened_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "id", name=op.f("pk_recall_entry")),
        sa.ForeignKeyConstraint(
            ["scope_id", "resource_id"],
            ["resource.scope_id", "resource.id"],
            name=op.f("fk_recall_entry_scope_id_resource_id"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint("track IN ('memory','skill')", name=op.f("ck_recall_entry_track")),
        sa.CheckConstraint("line_start IS NOT NULL OR place IS NOT NULL", name=op.f("ck_recall_entry_cited")),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_recall_entry_scope_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(op.f("ix_recall_entry_scope_id_resource_id"), "recall_entry", ["scope_id", "resource_id"])


def _make_passage() -> None:
    op.create_table(
        "passage",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("resource_id", sa.String(64), nullable=True),
        sa.Column("entry_id", sa.String(64), nullable=True),
        sa.Column("file_id", sa.String(64), nullable=True),
        sa.Column("track", sa.String(8), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("header", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=True),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("line_start", sa.Integer(), nullable=True),
        sa.Column("line_end", sa.Integer(), nullable=True),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("happened_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("scope_id", "id", name=op.f("pk_passage")),
        sa.ForeignKeyConstraint(
            ["scope_id", "resource_id"],
            ["resource.scope_id", "resource.id"],
            name=op.f("fk_passage_scope_id_resource_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scope_id", "entry_id"],
            ["recall_entry.scope_id", "recall_entry.id"],
            name=op.f("fk_passage_scope_id_entry_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scope_id", "file_id"],
            ["recall_file.scope_id", "recall_file.id"],
            name=op.f("fk_passage_scope_id_file_id"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "(resource_id IS NOT NULL AND entry_id IS NULL AND file_id IS NULL)"
            " OR (resource_id IS NULL AND entry_id IS NOT NULL AND file_id IS NULL)"
            " OR (resource_id IS NULL AND entry_id IS NULL AND file_id IS NOT NULL)",
            name=op.f("ck_passage_one_owner"),
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["scope.id"], name=op.f("fk_passage_scope_id"), ondelete="CASCADE"),
    )
    op.create_index(op.f("ix_passage_scope_id_entry_id"), "passage", ["scope_id", "entry_id"])
    op.create_index(op.f("ix_passage_scope_id_file_id"), "passage", ["scope_id", "file_id"])
    op.create_index(op.f("ix_passage_scope_id_length"), "passage", ["scope_id", "length"])
    op.create_index(op.f("ix_passage_scope_id_resource_id"), "passage", ["scope_id", "resource_id"])


def _make_recall_file_entry() -> None:
    op.create_table(
        "recall_file_entry",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("file_id", sa.String(64), nullable=False),
        sa.Column("entry_id", sa.String(64), nullable=False),
        sa.Column("mark", sa.String(64), nullable=False),
        sa.Column("spelling", sa.Text(), nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("scope_id", "file_id", "entry_id", name=op.f("pk_recall_file_entry")),
        sa.ForeignKeyConstraint(
            ["scope_id", "file_id"],
            ["recall_file.scope_id", "recall_file.id"],
            name=op.f("fk_recall_file_entry_scope_id_file_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scope_id", "entry_id"],
            ["recall_entry.scope_id", "recall_entry.id"],
            name=op.f("fk_recall_file_entry_scope_id_entry_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scope_id"], ["scope.id"], name=op.f("fk_recall_file_entry_scope_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(op.f("ix_recall_file_entry_scope_id_entry_id"), "recall_file_entry", ["scope_id", "entry_id"])


def _make_passage_vector() -> None:
    op.create_table(
        "passage_vector",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("passage_id", sa.String(64), nullable=False),
        sa.Column("encoder_id", sa.String(64), nullable=False),
        sa.Column("vector", Int8Vector(), nullable=False),
        sa.Column("scale", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "passage_id", "encoder_id", name=op.f("pk_passage_vector")),
        sa.ForeignKeyConstraint(
            ["scope_id", "passage_id"],
            ["passage.scope_id", "passage.id"],
            name=op.f("fk_passage_vector_scope_id_passage_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["encoder_id"], ["encoder.id"], name=op.f("fk_passage_vector_encoder_id"), ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )


def _make_posting() -> None:
    op.create_table(
        "posting",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("term", sa.String(64), nullable=False),
        sa.Column("passage_id", sa.String(64), nullable=False),
        sa.Column("tf", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("kind", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "term", "passage_id", name=op.f("pk_posting")),
        sa.ForeignKeyConstraint(
            ["scope_id", "passage_id"],
            ["passage.scope_id", "passage.id"],
            name=op.f("fk_posting_scope_id_passage_id"),
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_posting_scope_id_passage_id"), "posting", ["scope_id", "passage_id"])


_TABLES = (
    "posting",
    "passage_vector",
    "recall_file_entry",
    "passage",
    "recall_entry",
    "sync_run",
    "resource",
    "fold_queue",
    "workspace",
    "tombstone",
    "recall_file",
    "publication",
    "scope",
    "lock",
    "encoder",
)
