"""Another encoder for a store that has vectors: its own are made beside those in use, which are searched until all
are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from memu.errors import ProviderError
from memu.memorize.states import EmbedState
from memu.memorize.vector_steps import EmbedPassages
from memu.providers.meter import Meter
from memu.providers.protocols import Encoder
from memu.records import ReindexReport, Scope
from memu.storage.database import Database
from memu.storage.scoped import chunks
from memu.storage.session import Session

__all__ = ["Reembedding"]

_LOCK = "the re-encoding of the store"
_PROBE = "memory"
_MOST_PASSES = 10


@dataclass(frozen=True, slots=True)
class Reembedding:
    """Encodes every passage of every scope anew, from the text that is stored."""

    database: Database
    encoder: Encoder

    async def run(self, meter: Meter, *, wait: bool, allow: Callable[[Scope], object]) -> ReindexReport:
        """Encode what has no vector of this encoder, then search these and drop all others.

        Each call's rows are stored when they come: a run that was killed, or stopped by a cap, is gone on with by
        the next. Texts that came to be meanwhile are encoded too, so that none is missing when the search changes
        over.

        Args:
            allow: raises where a scope's texts may not go to this encoder.

        Raises:
            ProviderError: the encoder does not answer; nothing was changed. BusyError: another run is under way.
        """
        async with self.database.lock(_LOCK, wait_seconds=None if wait else 0):
            for scope in await self._scopes():
                allow(scope)
            if not self.encoder.identity.dimension:
                # Only a reply tells it, and what is known under the same name may be of another size.
                await self.encoder.encode([_PROBE])
            before = await self.database.read(self._count)
            degraded = await self._encode_all(before.vectors, meter)
            if degraded is not None and not (await self.database.read(self._count)).vectors:
                await self.database.write(self._leave_no_trace)
                raise ProviderError(degraded)
            removed = await self._drop_others() if degraded is None else 0
            ended = await self.database.read(self._count)
        return ReindexReport(
            encoder=self.encoder.identity.name,
            previous=before.active,
            switched=ended.active_id != before.active_id,
            encoded=max(0, ended.vectors - before.vectors),
            vectors=ended.vectors,
            missing=ended.missing,
            removed=removed,
            degraded=degraded,
            usage=meter.usage,
        )

    async def _encode_all(self, vectors: int, meter: Meter) -> str | None:
        """Encode what is missing until nothing is, then change over; why it had to stop before."""
        for _ in range(_MOST_PASSES):
            degraded = await self._encode(await self._scopes(), meter)
            if degraded is not None:
                return degraded
            left = await self.database.read(self._count)
            if left.missing and not left.vectors:
                return f"The encoder {self.encoder.identity.name} gives no vector that can be compared."
            # What is still missing where a whole pass has added nothing cannot be encoded.
            unusable = left.missing if left.vectors == vectors else 0
            if await self.database.write(partial(self._switch, unusable)):
                return None
            vectors = left.vectors
        return "New texts come faster than they can be encoded; run it again."

    async def _encode(self, scopes: Sequence[Scope], meter: Meter) -> str | None:
        """Encode what is missing, scope by scope; why it had to stop before the end."""
        embed = EmbedPassages(self.database, self.encoder, beside=True)
        for scope in scopes:
            done = await embed(EmbedState(scope=scope, meter=meter))
            if done.degraded is not None:
                return done.degraded
        return None

    def _count(self, session: Session) -> _Counted:
        """What stands in the rows, of every scope together."""
        identity = self.encoder.identity
        known, active = session.encoders.find(identity), session.encoders.active()
        vectors = missing = 0
        for some in chunks(session.scopes()):
            repository = session.across(some)
            missing += repository.passages.count_without_vector(
                known.id if known else "", languages=identity.languages
            )
            if known is not None:
                vectors += repository.inspection.vectors_by_encoder().get(known.id, 0)
        name, active_id = (active.identity.name, active.id) if active else (None, None)
        return _Counted(vectors=vectors, missing=missing, active=name, active_id=active_id)

    def _switch(self, unusable: int, session: Session) -> bool:
        """Search the new vectors from now on; False where more passages than these are without one."""
        if self._count(session).missing > unusable:
            return False
        known = session.encoders.find(self.encoder.identity)
        if known is not None and not known.active:
            session.encoders.activate(known.id)
        return True

    def _leave_no_trace(self, session: Session) -> None:
        known = session.encoders.find(self.encoder.identity)
        if known is not None and not known.active:
            session.encoders.remove(known.id)

    async def _drop_others(self) -> int:
        """Drop the vectors of every other encoder, a scope at a time: nobody searches them any more."""

        def find(session: Session) -> list[str]:
            mine = session.encoders.find(self.encoder.identity)
            return [each.id for each in session.encoders.list() if mine is None or each.id != mine.id]

        removed = 0
        for other in await self.database.read(find):
            for scope in await self._scopes():
                removed += await self.database.write(partial(_drop, scope, other))
            await self.database.write(partial(_forget, other))
        return removed

    async def _scopes(self) -> Sequence[Scope]:
        return await self.database.read(lambda session: session.scopes())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """How many vectors of the encoder there are, how many passages lack one, and whose are searched."""

    vectors: int
    missing: int
    active: str | None
    active_id: str | None


def _drop(scope: Scope, encoder_id: str, session: Session) -> int:
    return session.within(scope).passages.drop_vectors(encoder_id)


def _forget(encoder_id: str, session: Session) -> None:
    session.encoders.remove(encoder_id)
