"""What was forgotten before it was noted how it begins: marked, so that it is looked for in every text."""

from __future__ import annotations

import sqlalchemy as sa

from alembic import op
from memu.storage.types import UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_UNNOTED = "run:any"
_tombstone = sa.table(
    "tombstone",
    sa.column("scope_id", sa.String(64)),
    sa.column("key_hash", sa.String(64)),
    sa.column("created_at", UtcDateTime()),
)


def upgrade() -> None:
    forgetting = sa.select(
        _tombstone.c.scope_id, sa.literal(_UNNOTED, sa.String(64)), sa.func.min(_tombstone.c.created_at)
    ).group_by(_tombstone.c.scope_id)
    op.execute(_tombstone.insert().from_select(["scope_id", "key_hash", "created_at"], forgetting))


def downgrade() -> None:
    op.execute(_tombstone.delete().where(_tombstone.c.key_hash == _UNNOTED))
