"""The encoders that the store's vectors come from. One is active at a time, for the whole store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, update

from memu.errors import EncoderMismatch
from memu.records import EncoderIdentity
from memu.storage.engine import hold_table, insert_function
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
        return next((each for each in self.list() if each.active), None)

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
        """The row of this encoder, active or not; where its dimension is not known yet, the active one first.

        Languages do not distinguish encoders.
        """
        known = sorted(self.list(), key=lambda each: not each.active)
        return next((each for each in known if _is_comparable(each.identity, identity)), None)

    def check(self, identity: EncoderIdentity) -> StoredEncoder | None:
        """The active encoder if it is this one, None if there is none yet.

        Raises:
            EncoderMismatch: the store's vectors come from another.
        """
        active = self.active()
        if active is None:
            return None
        known = active.identity
        if not _is_comparable(known, identity):
            size = f" ({identity.dimension})" if identity.dimension else ""
            raise EncoderMismatch(
                f"The store's vectors come from {known.name} ({known.dimension} dimensions), not from "
                f"{identity.name}{size}; they cannot be compared. Go on with {known.name}, "
                "or run `memu reindex --encoder auto` (or the encoder's path) to encode everything anew. "
                "Words are searched meanwhile."
            )
        return active

    def register(self, identity: EncoderIdentity) -> StoredEncoder:
        """The row of the encoder that vectors are about to come from; the first one ever becomes the active one.

        Raises:
            EncoderMismatch: the store's vectors come from another.
        """
        return self.check(identity) or self._register_first(identity)

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

    def _register_first(self, identity: EncoderIdentity) -> StoredEncoder:
        # Another process may do the same at this moment: whoever is second finds the first one's.
        hold_table(self._connection, encoder)
        return self.check(identity) or self._activate(self.add(identity))

    def _activate(self, known: StoredEncoder) -> StoredEncoder:
        self.activate(known.id)
        return StoredEncoder(id=known.id, identity=known.identity, active=True)


def _is_comparable(known: EncoderIdentity, other: EncoderIdentity) -> bool:
    """Whether their vectors are of one space, as far as ``other`` is known."""
    same = (known.name, known.fingerprint) == (other.name, other.fingerprint)
    return same and other.dimension in (0, known.dimension)
