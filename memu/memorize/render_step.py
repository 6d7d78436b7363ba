"""The render step of fold: a page's new content from its entries, by a patch where a model wrote any of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memu.errors import CapReached
from memu.memorize.states import FoldState
from memu.records import Origin, Track
from memu.storage.database import Database

if TYPE_CHECKING:
    from memu.memorize.fold.patch import PageDraft, Patched
    from memu.memorize.fold.render import Rendered
    from memu.providers.models import ChatModels

__all__ = ["RenderPage", "import_folding"]


@dataclass(frozen=True, slots=True)
class RenderPage:
    """Fold the page: whole from its entries where all of them are quotes or no model is there, else by a patch."""

    database: Database
    models: ChatModels | None

    async def __call__(self, state: FoldState) -> FoldState:
        written = any(entry.origin is Origin.MODEL for entry in state.entries)
        if self.models is None or not written:
            return replace(state, rendered=await asyncio.to_thread(_render_whole, state))
        return await self._patch(state, self.models)

    async def _patch(self, state: FoldState, models: ChatModels) -> FoldState:
        # Loaded with the first page that a model has a part in.
        from memu.memorize.asking import Asker
        from memu.memorize.fold.mend import mend
        from memu.memorize.fold.patch_order import reopen
        from memu.memorize.fold.patching import patch_page

        draft = _to_draft(state)
        new = any(not draft.marks.get(entry.id) for entry in state.entries)
        if state.tried and not state.due and not new:
            later = (
                f"A model gave no use {state.tried} times; it is asked again later, or now with --retry-failed."
            )
            mended = replace(await asyncio.to_thread(mend, draft), failed=later)
            return replace(_with_patch(state, mended), waiting=True)
        ask = Asker(self.database, state.scope, models.fold, state.meter, "fold", file_id=state.file_id)
        try:
            # What it gave no use for stands as mended; it is shown to it as new, as it was then.
            patched = await patch_page(reopen(draft) if state.tried else draft, ask)
            if state.tried and patched.failed is not None:
                patched = replace(await asyncio.to_thread(mend, draft), asked=patched.asked, failed=patched.failed)
        except CapReached as cap:
            # What sources no longer say goes at once; what they say anew waits for the run that may ask.
            waiting = replace(draft, entries=tuple(entry for entry in draft.entries if entry.id in draft.marks))
            patched = replace(await asyncio.to_thread(mend, waiting), failed=str(cap))
            return replace(_with_patch(state, patched), waiting=True, prompts=tuple(ask.prompts))
        return replace(_with_patch(state, patched), model=models.fold.name, prompts=tuple(ask.prompts))


def _render_whole(state: FoldState) -> Rendered:
    from memu.memorize.fold.render import render_page

    return render_page(state.page.track if state.page else Track.MEMORY, state.entries)


def _to_draft(state: FoldState) -> PageDraft:
    from memu.memorize.fold.patch import PageDraft

    page = state.page
    if page is None:
        return PageDraft(track=Track.MEMORY, name=state.name, entries=state.entries)
    living = {entry.id for entry in state.entries}
    backed = page.described_by is not None and living.issuperset(page.described_by)
    return PageDraft(
        track=page.track,
        name=state.name,
        content=page.content,
        description=page.description if backed else "",
        marks={entry: mark for entry, mark in state.marks.items() if mark and entry in living},
        entries=state.entries,
    )


def _with_patch(state: FoldState, patched: Patched) -> FoldState:
    from memu.memorize.fold.render import Rendered

    page = state.page
    kept = page.described_by if page and page.description == patched.description else None
    rendered = Rendered(
        content=patched.content,
        marks=patched.marks,
        description=patched.description,
        described_by=patched.description_cites or kept,
        written=patched.written,
        counts={"accepted": patched.accepted, "rejected": len(patched.rejected), "asked": patched.asked},
    )
    return replace(state, rendered=rendered, failed=patched.failed)


def import_folding() -> None:
    """Import what the first page that a model has a part in needs, and what its vectors do."""
    import numpy  # noqa: F401

    import memu.memorize.fold.mend
    import memu.memorize.fold.patching  # noqa: F401
