"""The encoders that the store's vectors come from. One is active at a time, for the whole store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, select, true, update

from memu.errors import EncoderMismatch
from memu.records import EncoderIdentity
from memu.storage.engine import insert_function
from memu.storage.ids import new_id
from memu.storage.tables import encoder

__all__ = ["Encoders", "StoredEncoder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEncoder:
    """An encoder that the store knows. Only vectors of the active one are searched."""

    id: str
    identity: EncoderIdentity
    active: bool


class Encoders:
    """Rows of ``encoder``; they belong to no scope."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self._now = now

    def active(self) -> StoredEncoder | None:
        """The encoder whose vectors are searched, or None while nothing was ever encoded."""
        return self._first(encoder.c.active.is_(True))

    def list(self) -> tuple[StoredEncoder, ...]:
        """All encoders that the store knows, by name."""
        columns = encoder.c
        statement = select(
            columns.id, columns.name, columns.dimension, columns.fingerprint, columns.languages, columns.active
        ).order_by(columns.name, columns.id)
        return tuple(
            StoredEncoder(
                id=each,
                identity=EncoderIdentity(
                    name=name, dimension=dimension, fingerprint=fingerprint, languages=frozenset(languages)
                ),
                active=active,
            )
            for each, name, dimension, fingerprint, languages, active in self._connection.execute(statement)
        )

    def find(self, identity: EncoderIdentity) -> StoredEncoder | None:
        """The row of this encoder, active or not. Languages do not distinguish encoders."""
        return self._first(
            (encoder.c.name == identity.name)
            & (encoder.c.dimension == identity.dimension)
            & (encoder.c.fingerprint == identity.fingerprint)
        )

    def check(self, identity: EncoderIdentity) -> StoredEncoder | None:
        """The active encoder if it is this one, None if there is none yet.

        Raises:
            EncoderMismatch: the store's vectors come from another.
        """
        active = self.active()
        if active is None:
            return None
        known = active.identity
        if _comparable(known) != _comparable(identity):
            raise EncoderMismatch(
                f"The store's vectors come from {known.name} ({known.dimension} dimensions), not from "
                f"{identity.name} ({identity.dimension}); they cannot be compared. Go on with {known.name}, "
                f"or run `memu reindex` to encode everything anew. Words are searched meanwhile."
            )
        return active

    def register(self, identity: EncoderIdentity) -> StoredEncoder:
        """The row of the encoder that vectors are about to come from; the first one ever becomes the active one.

        Raises:
            EncoderMismatch: the store's vectors come from another.
        """
        return self.check(identity) or self._activate(self.add(identity))

    def add(self, identity: EncoderIdentity) -> StoredEncoder:
        """The row of this encoder, made inactive if it is new (for encoding beside the vectors in use)."""
        row = {
            "id": new_id(),
            "name": identity.name,
            "dimension": identity.dimension,
            "fingerprint": identity.fingerprint,
            "languages": sorted(identity.languages),
            "active": False,
            "created_at": self._now,
        }
        self._connection.execute(insert_function(self._connection)(encoder).on_conflict_do_nothing(), [row])
        found = self.find(identity)
        assert found is not None
        return found

    def activate(self, encoder_id: str) -> None:
        """Search the vectors of this encoder from now on."""
        self._connection.execute(update(encoder).where(encoder.c.id != encoder_id).values(active=False))
        self._connection.execute(update(encoder).where(encoder.c.id == encoder_id).values(active=True))

    def remove(self, encoder_id: str) -> None:
        """Forget an encoder and every vector that came from it."""
        self._connection.execute(encoder.delete().where(encoder.c.id == encoder_id))

    def _activate(self, known: StoredEncoder) -> StoredEncoder:
        self.activate(known.id)
        return StoredEncoder(id=known.id, identity=known.identity, active=True)

    def _first(self, wanted: ColumnElement[bool]) -> StoredEncoder | None:
        row = self._connection.execute(select(encoder.c.id).where(wanted, true())).first()
        return next((each for each in self.list() if each.id == row[0]), None) if row else None


def _comparable(identity: EncoderIdentity) -> tuple[str, int, str]:
    return identity.name, identity.dimension, identity.fingerprint
