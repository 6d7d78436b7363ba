"""Fold and embed beside one another: while a model words pages, what the sources say gets its vectors."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from memu.memorize.file_work import Carry, FoldPages
from memu.memorize.states import EmbedState, SyncState

__all__ = ["FoldBeside"]


@dataclass(frozen=True, slots=True)
class FoldBeside:
    """Run the fold workflow for each queued page, and meanwhile embed for what is stored already."""

    fold: FoldPages
    carry: Carry

    async def __call__(self, state: SyncState) -> SyncState:
        if state.meter.capped:
            # Under a cap pages go before vectors.
            return await self.fold(state)
        embedding = asyncio.ensure_future(self.carry("embed", EmbedState(scope=state.scope, meter=state.meter)))
        try:
            folded = await self.fold(state)
            # An encoder that failed is not asked again for the pages.
            return replace(folded, degraded=(await embedding).degraded)
        finally:
            embedding.cancel()
            await asyncio.gather(embedding, return_exceptions=True)
