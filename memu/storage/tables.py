"""The tables, once, for every database.

Every tenant row carries ``scope_id``, and every link is a composite key that starts with it: a link from one
scope into another cannot be stored.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from memu.storage.types import Int8Vector, Json, UtcDateTime
from memu.storage.vector_triggers import keep_packs_in_step

__all__ = [
    "encoder",
    "endpoint",
    "fold_queue",
    "lock",
    "metadata",
    "overview",
    "passage",
    "passage_vector",
    "patch",
    "posting",
    "publication",
    "recall_entry",
    "recall_file",
    "recall_file_entry",
    "reply",
    "resource",
    "scope",
    "sync_run",
    "tombstone",
    "vector_pack",
    "workspace",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, String(64), nullable=nullable)


def _required(name: str, kind: Any) -> Column[Any]:
    return Column(name, kind, nullable=False)


def _link(column: str, target: str) -> ForeignKeyConstraint:
    """A link inside the scope; the row goes with what it points at."""
    return ForeignKeyConstraint(["scope_id", column], [f"{target}.scope_id", f"{target}.id"], ondelete="CASCADE")


def _scoped() -> Column[str]:
    return Column("scope_id", String(64), ForeignKey("scope.id", ondelete="CASCADE"), nullable=False)


scope = Table(
    "scope",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("fields", Json, nullable=False),
    # Grows with every change that an export can show.
    Column("version", BigInteger, nullable=False),
    # The key under which tombstones are hashed.
    Column("salt", String(64), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

workspace = Table(
    "workspace",
    metadata,
    _scoped(),
    _id("id"),
    Column("name", Text),
    _required("root", Text),
    _required("version", BigInteger),
    _required("assigned", BigInteger),
    _required("created_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "id"),
    UniqueConstraint("scope_id", "root"),
    UniqueConstraint("scope_id", "name"),
)

resource = Table(
    "resource",
    metadata,
    _scoped(),
    _id("id"),
    _id("workspace_id"),
    _required("path", Text),
    _required("kind", String(16)),
    _required("title", Text),
    _required("caption", Text),
    _required("content_hash", String(64)),
    _required("size", BigInteger),
    _required("mtime_ns", BigInteger),
    # Of the file's inode and the time of its last change of any sort; 0 where it was never looked at.
    Column("stamp", BigInteger, nullable=False, server_default="0"),
    # When the bytes behind the hash were looked at, as nanoseconds since 1970.
    _required("seen_ns", BigInteger),
    _required("state", String(16)),
    Column("reason", Text),
    _required("attempts", Integer),
    Column("tried_at", UtcDateTime),
    Column("language", String(8)),
    Column("happened_at", UtcDateTime),
    _required("redactions", Json),
    _required("facts", Json),
    _required("created_at", UtcDateTime),
    _required("updated_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "id"),
    UniqueConstraint("scope_id", "workspace_id", "path"),
    _link("workspace_id", "workspace"),
    Index(None, "scope_id", "workspace_id", "state"),
    CheckConstraint("state IN ('pending','done','partial','failed','skipped')", name="state"),
)

recall_entry = Table(
    "recall_entry",
    metadata,
    _scoped(),
    _id("id"),
    _id("resource_id"),
    _required("ordinal", Integer),
    _required("memory_type", String(16)),
    Column("track", String(8), nullable=False, server_default="memory"),
    _required("text", Text),
    _required("text_key", Text),
    Column("line_start", Integer),
    Column("line_end", Integer),
    Column("place", Text),
    _required("label", Text),
    _required("block", String(16)),
    Column("page_hint", Text),
    Column("section", Text),
    Column("origin", String(16), nullable=False, server_default="quote"),
    _required("shown", Boolean),
    Column("happened_at", UtcDateTime),
    _required("created_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "id"),
    _link("resource_id", "resource"),
    Index(None, "scope_id", "resource_id"),
    CheckConstraint("track IN ('memory','skill')", name="track"),
    CheckConstraint("line_start IS NOT NULL OR place IS NOT NULL", name="cited"),
)

recall_file = Table(
    "recall_file",
    metadata,
    _scoped(),
    _id("id"),
    Column("track", String(8), nullable=False, server_default="memory"),
    _required("folded_name", Text),
    _required("name", Text),
    _required("description", Text),
    # The entries that a model's description rests on; none where it is made from counts and titles.
    Column("described_by", Json),
    _required("content", Text),
    _required("version", Integer),
    _required("created_at", UtcDateTime),
    _required("updated_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "id"),
    UniqueConstraint("scope_id", "track", "folded_name"),
    CheckConstraint("track IN ('memory','skill')", name="track"),
)

recall_file_entry = Table(
    "recall_file_entry",
    metadata,
    _scoped(),
    _id("file_id"),
    _id("entry_id"),
    _required("mark", String(64)),
    # The page's name as this entry's source spells it; the page shows the lowest of them.
    Column("spelling", Text, nullable=False, server_default=""),
    PrimaryKeyConstraint("scope_id", "file_id", "entry_id"),
    _link("file_id", "recall_file"),
    _link("entry_id", "recall_entry"),
    Index(None, "scope_id", "entry_id"),
)

passage = Table(
    "passage",
    metadata,
    _scoped(),
    _id("id"),
    _id("resource_id", nullable=True),
    _id("entry_id", nullable=True),
    _id("file_id", nullable=True),
    Column("track", String(8)),
    _required("ordinal", Integer),
    _required("heading", Text),
    _required("header", Text),
    _required("text", Text),
    # Weighted number of terms, for BM25.
    _required("length", Integer),
    Column("kind", String(16)),
    Column("language", String(8)),
    Column("line_start", Integer),
    Column("line_end", Integer),
    Column("place", Text),
    Column("happened_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "id"),
    _link("resource_id", "resource"),
    _link("entry_id", "recall_entry"),
    _link("file_id", "recall_file"),
    Index(None, "scope_id", "resource_id"),
    Index(None, "scope_id", "entry_id"),
    Index(None, "scope_id", "file_id"),
    # Number and average length of a scope's passages are read from this alone.
    Index(None, "scope_id", "length"),
    CheckConstraint(
        "(resource_id IS NOT NULL AND entry_id IS NULL AND file_id IS NULL)"
        " OR (resource_id IS NULL AND entry_id IS NOT NULL AND file_id IS NULL)"
        " OR (resource_id IS NULL AND entry_id IS NULL AND file_id IS NOT NULL)",
        name="one_owner",
    ),
)

posting = Table(
    "posting",
    metadata,
    _id("scope_id"),
    _required("term", String(64)),
    _id("passage_id"),
    # Header terms count double, so this is a weighted frequency.
    _required("tf", Integer),
    # The passage's length and kind (a code of words.py) once more: scoring then reads no row but these.
    _required("length", Integer),
    _required("kind", SmallInteger),
    PrimaryKeyConstraint("scope_id", "term", "passage_id"),
    _link("passage_id", "passage"),
    Index(None, "scope_id", "passage_id"),
    sqlite_with_rowid=False,
)

encoder = Table(
    "encoder",
    metadata,
    Column("id", String(64), primary_key=True),
    _required("name", Text),
    _required("dimension", Integer),
    _required("fingerprint", Text),
    _required("languages", Json),
    _required("active", Boolean),
    _required("created_at", UtcDateTime),
    UniqueConstraint("name", "dimension", "fingerprint"),
)

passage_vector = Table(
    "passage_vector",
    metadata,
    _id("scope_id"),
    _id("passage_id"),
    Column("encoder_id", String(64), ForeignKey("encoder.id", ondelete="CASCADE"), nullable=False),
    _required("vector", Int8Vector),
    _required("scale", Double),
    # Where it lies in the packs of an embedded store: number of the pack · slots in one + slot. None on a server.
    Column("place", Integer),
    PrimaryKeyConstraint("scope_id", "passage_id", "encoder_id"),
    _link("passage_id", "passage"),
    # Of all rows on purpose: a condition in the words of one database would load what belongs to it.
    Index("ix_passage_vector_place", "scope_id", "encoder_id", "place", unique=True),
    sqlite_with_rowid=False,
)

# The vectors of a scope once more, many in a row, to be looked at all at once. Only an embedded store has any.
vector_pack = Table(
    "vector_pack",
    metadata,
    _scoped(),
    Column("encoder_id", String(64), ForeignKey("encoder.id", ondelete="CASCADE"), nullable=False),
    _required("number", Integer),
    # How many slots hold a vector.
    _required("held", Integer),
    # A float32 for each slot, the length of its vector of bytes; 0 where the slot is free.
    _required("norms", LargeBinary),
    _required("vectors", LargeBinary),
    PrimaryKeyConstraint("scope_id", "encoder_id", "number"),
)
keep_packs_in_step(passage_vector)

fold_queue = Table(
    "fold_queue",
    metadata,
    _scoped(),
    _id("file_id"),
    _required("queued_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "file_id"),
    _link("file_id", "recall_file"),
)

sync_run = Table(
    "sync_run",
    metadata,
    _scoped(),
    _id("id"),
    _id("workspace_id"),
    _required("state", String(16)),
    _required("extractor", String(64)),
    Column("encoder", Text),
    _required("counts", Json),
    _required("failed", Json),
    Column("error", Text),
    # The names of pages that this run offers to a model, until it ends.
    Column("names", Json),
    # What was asked of models, by step.
    Column("usage", Json),
    _required("started_at", UtcDateTime),
    Column("ended_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "id"),
    _link("workspace_id", "workspace"),
    Index(None, "scope_id", "workspace_id", "started_at"),
    CheckConstraint("state IN ('running','done','partial','failed','interrupted')", name="state"),
)

publication = Table(
    "publication",
    metadata,
    _scoped(),
    _required("tree", Text),
    # The scope's version and the tree's stat fingerprint when it was last published.
    _required("version", BigInteger),
    _required("fingerprint", String(64)),
    _required("published_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "tree"),
)

lock = Table(
    "lock",
    metadata,
    Column("name", String(255), primary_key=True),
    _required("token", String(64)),
    _required("boot_id", String(64)),
    _required("pid", Integer),
    _required("process_started", Text),
    _required("expires_at", UtcDateTime),
)

tombstone = Table(
    "tombstone",
    metadata,
    _scoped(),
    _required("key_hash", String(64)),
    _required("created_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "key_hash"),
)

# What a model answered and what is not committed yet: a run that was killed does not pay for it again.
reply = Table(
    "reply",
    metadata,
    _scoped(),
    _required("key", String(64)),
    _id("resource_id", nullable=True),
    _id("file_id", nullable=True),
    _required("text", Text),
    _required("created_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "key"),
    _link("resource_id", "resource"),
    _link("file_id", "recall_file"),
    Index(None, "scope_id", "resource_id"),
    Index(None, "scope_id", "file_id"),
    CheckConstraint("(resource_id IS NULL) <> (file_id IS NULL)", name="one_owner"),
)

# How a page came by what a model wrote on it. No text: what a page says goes with the entries behind it.
patch = Table(
    "patch",
    metadata,
    _scoped(),
    _id("file_id"),
    _required("version", Integer),
    _required("prompt_hash", String(64)),
    _required("model", Text),
    _required("counts", Json),
    _required("created_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "file_id", "version"),
    _link("file_id", "recall_file"),
)

# What was found out once about a model behind an address. It belongs to no scope.
endpoint = Table(
    "endpoint",
    metadata,
    Column("name", Text, primary_key=True),
    _required("facts", Json),
    _required("updated_at", UtcDateTime),
)

# What a model wrote above the list of a track's pages. It goes with the first change of one of them.
overview = Table(
    "overview",
    metadata,
    _scoped(),
    Column("track", String(8), nullable=False),
    _required("prompt_hash", String(64)),
    _required("sentences", Json),
    _required("created_at", UtcDateTime),
    PrimaryKeyConstraint("scope_id", "track"),
    CheckConstraint("track IN ('memory','skill')", name="track"),
)
