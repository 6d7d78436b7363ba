"""The embed workflow's steps: vectors for the passages that have none, one transaction a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memu.errors import EncoderMismatch, ProviderError
from memu.memorize.states import EmbedState
from memu.providers.meter import Meter
from memu.providers.protocols import Encoded, Encoder
from memu.records import Passage, Usage
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise

__all__ = ["CountMissing", "EmbedPassages", "passage_text"]

_BATCH = 256
# No smaller than what one call takes: calls are what endpoints are paid and limited by.
_SHARE = 64


def passage_text(passage: Passage) -> str:
    """What the encoder is given of a passage: its header, then its text."""
    return f"{passage.header}\n{passage.text}" if passage.header else passage.text


@dataclass(frozen=True, slots=True)
class EmbedPassages:
    """Encode what no vector stands for yet, batch after batch; an encoder that fails leaves the rest for later.

    Each call's rows are stored when they come, so that a kill loses only the calls in flight. ``beside``: beside
    those of the encoder in use, which may be another.
    """

    database: Database
    encoder: Encoder | None
    beside: bool = False

    async def __call__(self, state: EmbedState) -> EmbedState:
        if self.encoder is None or state.degraded is not None:
            return state
        encoder, after = self.encoder, None
        encoder_id = await self._find(encoder)
        window = max(_BATCH, _SHARE * encoder.calls_at_once)
        size = window // encoder.calls_at_once
        while batch := await self._load(state, encoder_id, after, window):
            shares = [batch[at : at + size] for at in range(0, len(batch), size)]
            ended = await asyncio.gather(
                *(self._encode_all(state, encoder, share) for share in shares), return_exceptions=True
            )
            for error in ended:
                # A mismatch is known only by its reply: a model that changed behind its name.
                if isinstance(error, (ProviderError, EncoderMismatch)):
                    return replace(state, degraded=str(error))
                if error is not None:
                    raise error
            after = batch[-1].id
            encoder_id = encoder_id or await self._find(encoder)
        return state

    async def _encode_all(self, state: EmbedState, encoder: Encoder, passages: Sequence[Passage]) -> None:
        while passages:
            encoded = await _encode(encoder, passages, state.meter)
            await self._store(state, encoder, passages[: len(encoded.rows)], encoded)
            passages = passages[len(encoded.rows) :]

    async def _store(
        self, state: EmbedState, encoder: Encoder, passages: Sequence[Passage], encoded: Encoded
    ) -> None:
        identity = encoder.identity
        quantised = quantise([passage.id for passage in passages], encoded.rows, identity.dimension)

        def work(session: Session) -> None:
            encoders = session.encoders
            stored = encoders.add(identity) if self.beside else encoders.register(identity)
            session.within(state.scope).passages.add_vectors(stored.id, quantised.rows)

        await self.database.write(work)

    async def _find(self, encoder: Encoder) -> str:
        """The encoder's id in the store, "" while it has none."""

        def work(session: Session) -> str:
            known = session.encoders.find(encoder.identity)
            return known.id if known else ""

        return await self.database.read(work)

    async def _load(
        self, state: EmbedState, encoder_id: str, after: str | None, limit: int
    ) -> tuple[Passage, ...]:
        languages = self.encoder.identity.languages if self.encoder else frozenset[str]()
        return await self.database.read(
            lambda session: session.within(state.scope).passages.without_vector(
                encoder_id, limit=limit, after=after, languages=languages
            )
        )


async def _encode(encoder: Encoder, batch: Sequence[Passage], meter: Meter) -> Encoded:
    meter.reserve()
    usage = Usage(unanswered=1)
    try:
        encoded = await encoder.encode_some([passage_text(passage) for passage in batch])
        usage = encoded.usage
    finally:
        meter.settle("embed", usage)
    return encoded


@dataclass(frozen=True, slots=True)
class CountMissing:
    """Count what is still without a vector."""

    database: Database
    encoder: Encoder | None

    async def __call__(self, state: EmbedState) -> EmbedState:
        if self.encoder is None:
            return state
        identity = self.encoder.identity

        def work(session: Session) -> int:
            known = session.encoders.find(identity)
            return session.within(state.scope).passages.count_without_vector(
                known.id if known else "", languages=identity.languages
            )

        return replace(state, missing=await self.database.read(work))
