"""What models ask for: whose words an entry is in, replies, patches, endpoints and overviews."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op
from memu.storage.types import Json, UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("recall_entry", sa.Column("origin", sa.String(16), nullable=False, server_default="quote"))
    op.add_column("recall_file", sa.Column("described_by", Json()))
    op.add_column("sync_run", sa.Column("names", Json()))
    op.add_column("sync_run", sa.Column("usage", Json()))
    _make_reply()
    _make_patch()
    _make_overview()
    op.create_table(
        "endpoint",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("facts", Json(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_endpoint")),
    )


def downgrade() -> None:
    for table in ("endpoint", "overview", "patch", "reply"):
        op.drop_table(table)
    for table, column in (
        ("sync_run", "usage"),
        ("sync_run", "names"),
        ("recall_file", "described_by"),
        ("recall_entry", "origin"),
    ):
        op.drop_column(table, column)


def _make_reply() -> None:
    op.create_table(
        "reply",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("resource_id", sa.String(64)),
        sa.Column("file_id", sa.String(64)),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "key", name=op.f("pk_reply")),
        sa.CheckConstraint("(resource_id IS NULL) <> (file_id IS NULL)", name=op.f("ck_reply_one_owner")),
        _scope_of("reply"),
        _link("reply", "resource_id", "resource"),
        _link("reply", "file_id", "recall_file"),
    )
    for column in ("resource_id", "file_id"):
        op.create_index(op.f(f"ix_reply_scope_id_{column}"), "reply", ["scope_id", column])


def _make_patch() -> None:
    op.create_table(
        "patch",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("file_id", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("prompt_hash", sa.String(64), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("counts", Json(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "file_id", "version", name=op.f("pk_patch")),
        _scope_of("patch"),
        _link("patch", "file_id", "recall_file"),
    )


def _make_overview() -> None:
    op.create_table(
        "overview",
        sa.Column("scope_id", sa.String(64), nullable=False),
        sa.Column("track", sa.String(8), nullable=False),
        sa.Column("prompt_hash", sa.String(64), nullable=False),
        sa.Column("sentences", Json(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("scope_id", "track", name=op.f("pk_overview")),
        sa.CheckConstraint("track IN ('memory','skill')", name=op.f("ck_overview_track")),
        _scope_of("overview"),
    )


def _scope_of(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["scope_id"], ["scope.id"], name=op.f(f"fk_{table}_scope_id"), ondelete="CASCADE"
    )


def _link(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["scope_id", column],
        [f"{target}.scope_id", f"{target}.id"],
        name=op.f(f"fk_{table}_scope_id_{column}"),
        ondelete="CASCADE",
    )
