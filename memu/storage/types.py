"""Column types that mean the same on every database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, LargeBinary, TypeDecorator
from sqlalchemy.engine import Dialect

__all__ = ["Int8Vector", "Json", "UtcDateTime"]


class UtcDateTime(TypeDecorator[datetime]):
    """A timezone-aware time, stored in UTC. Naive datetimes are refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"Naive datetime {value.isoformat()}: give it a timezone.")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Json(TypeDecorator[Any]):
    """JSON, as ``jsonb`` on Postgres."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import JSONB

            return dialect.type_descriptor(JSONB(none_as_null=True))
        return dialect.type_descriptor(JSON(none_as_null=True))


class Int8Vector(TypeDecorator[bytes]):
    """A vector quantised to int8: one signed byte a component, to be multiplied by the row's ``scale``.

    SQLite keeps the bytes; Postgres keeps a pgvector ``vector`` of the same whole numbers (the scale does not
    change a cosine), so that distances are computed where the rows are.
    """

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name == "postgresql":
            from pgvector.sqlalchemy import Vector

            return dialect.type_descriptor(Vector())
        return dialect.type_descriptor(LargeBinary())

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "postgresql":
            return value
        return [float(part) for part in memoryview(value).cast("b")]

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None or isinstance(value, bytes):
            return value
        return bytes(int(part) & 0xFF for part in value)
