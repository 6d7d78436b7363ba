"""Bringing a database of memU over, scope by scope: what the verb ``import_memu`` does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from memu.errors import ConfigurationError, EncoderMismatch, NotFound, ScopeError
from memu.memorize.file_work import Carry, FoldPages
from memu.memorize.forget.forgotten import Forgotten
from memu.memorize.imports.source import ImportedSource, make_source
from memu.memorize.imports.storing import Standing, look, store
from memu.memorize.imports.tally import Tally
from memu.memorize.imports.telling import (
    PageLink,
    Told,
    find_doubtful,
    find_empty,
    name_pages,
    note,
    tell_category,
    tell_item,
)
from memu.memorize.states import EmbedState
from memu.providers.meter import Meter
from memu.providers.protocols import Encoder
from memu.records import EncoderIdentity, ExportReport, FileProblem, ImportReport, Scope
from memu.storage.database import Database
from memu.storage.legacy import LegacyStore
from memu.storage.scoped import chunks

__all__ = ["Importer"]

_ITEMS_AT_ONCE = 200
_SOURCES_AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """Imports into one store.

    scope_of: the scope of a row's own fields. scope_fields: the fields that a scope may have. lock_name: of what
    changes a workspace. export: brings a scope's tree up to date; None where it is not known where it lies.
    """

    database: Database
    encoder: Encoder | None
    carry: Carry
    scope_of: Callable[[Mapping[str, Any]], Scope]
    scope_fields: Collection[str]
    lock_name: Callable[[Scope, str], str]
    export: Callable[[Scope], Awaitable[ExportReport | None]]
    concurrency: int

    async def run(self, url: str, *, only: Scope | None, vectors_from: str | None) -> ImportReport:
        """Import the database at ``url``; what is there already as it is stays untouched.

        Args:
            only: this scope's rows alone. vectors_from: the name of the encoder that memU's vectors come from;
                they are kept where it is the store's too. None: everything is encoded anew.

        Raises:
            ConfigurationError: it is no database of memU, its rows belong to scopes that the scope model cannot
                name, or its vectors come from another encoder than the one in use.
            NotFound: it has no rows of ``only``.
            StoreError: it does not answer. EncoderMismatch: the store's vectors come from another encoder.
            BusyError: another import into the same scope runs.
        """
        await self._check_encoder(vectors_from)
        legacy = await asyncio.to_thread(LegacyStore.open, url)
        tally = Tally()
        try:
            tally.dimension = await self._find_size(legacy, vectors_from)
            scopes = await asyncio.to_thread(legacy.scopes)
            self._check_fields(scopes)
            for fields in scopes:
                try:
                    scope = self.scope_of(fields)
                except ScopeError as error:
                    # With ``only``, what other people's rows say is nobody's to be told of here.
                    if only is None:
                        tally.unplaced.append(note(f"the rows of {dict(fields)}", str(error)))
                    continue
                if only is None or scope == only:
                    await self._import_scope(legacy, fields, scope, tally, vectors=vectors_from is not None)
            if only is None:
                await asyncio.to_thread(_find_loose, legacy, tally)
            elif not tally.counts["scopes"]:
                raise NotFound(
                    f"{legacy.shown} has no rows of {only}; without --user all that it has is imported."
                )
        finally:
            await asyncio.to_thread(legacy.close)
        return tally.to_report(legacy.shown)

    async def _check_encoder(self, vectors_from: str | None) -> None:
        encoder = self.encoder
        if vectors_from is not None and (encoder is None or encoder.identity.name != vectors_from):
            used = f"the encoder here is {encoder.identity.name}" if encoder else "no encoder is in use"
            raise ConfigurationError(
                f"The vectors come from {vectors_from}, but {used}. Use that encoder here too, or leave the name "
                "out to have everything encoded anew."
            )
        if encoder is not None:
            identity = encoder.identity
            await self.database.read(lambda session: session.encoders.check(identity))

    def _check_fields(self, scopes: Sequence[Mapping[str, Any]]) -> None:
        unknown = sorted({name for fields in scopes for name in fields} - set(self.scope_fields))
        if unknown:
            raise ConfigurationError(
                f"Rows of this database are told apart by {', '.join(unknown)}, no field of a scope here; "
                "open the store with a scope_model that has it, so that nobody's memory is mixed with another's."
            )

    async def _import_scope(
        self, legacy: LegacyStore, fields: Mapping[str, Any], scope: Scope, tally: Tally, *, vectors: bool
    ) -> None:
        tally.counts["scopes"] += 1
        async with self.database.lock(self.lock_name(scope, "")):
            standing = await self.database.read(lambda session: look(session.within(scope)))
            ids = await asyncio.to_thread(legacy.ids, "categories", fields)
            problems = find_doubtful("category", ids)
            tally.note_replaced("category", ids)
            categories = await asyncio.to_thread(legacy.categories, fields, ids.ids, vectors=vectors)
            pages = name_pages(categories, problems, standing.is_sayable)
            named = [one for one in categories if one.id in pages]
            told = [each for one in named for each in tell_category(one, pages[one.id], problems)]
            await self._store(scope, standing, told, tally, vectors=vectors)
            taken = {each.id for each in told}
            used = await self._import_items(legacy, fields, scope, standing, pages, taken, tally, vectors=vectors)
            problems += find_empty(categories, used)
            tally.sort_out(problems)
            # No model is asked about what people brought along; where one has to be, the next sync does it.
            await FoldPages(self.database, self.carry, self.concurrency).fold(scope, Meter(max_calls=0))
            with suppress(EncoderMismatch):
                tally.counts["missing"] += (await self.carry("embed", EmbedState(scope=scope))).missing
        report = await self.export(scope)
        tally.trees += [report.tree] if report else []

    async def _import_items(
        self,
        legacy: LegacyStore,
        fields: Mapping[str, Any],
        scope: Scope,
        standing: Standing,
        pages: Mapping[str, PageLink],
        taken: Collection[str],
        tally: Tally,
        *,
        vectors: bool,
    ) -> set[str]:
        """Import a scope's items, some at once; returns the categories that they are in."""
        used: set[str] = set()
        ids = await asyncio.to_thread(legacy.ids, "items", fields)
        tally.sort_out(find_doubtful("item", ids))
        tally.note_replaced("item", ids)
        for some in chunks(ids.ids, _ITEMS_AT_ONCE):
            items = await asyncio.to_thread(legacy.items, fields, some, vectors=vectors)
            problems: list[FileProblem] = []
            told = [each for item in items if (each := tell_item(item, pages, taken, problems)) is not None]
            tally.sort_out(problems)
            tally.extra.update(name for item in items for name in item.extra)
            used.update(category for item in items for category in item.categories)
            await self._store(scope, standing, told, tally, vectors=vectors)
        return used

    async def _store(
        self, scope: Scope, standing: Standing, told: Sequence[Told], tally: Tally, *, vectors: bool
    ) -> None:
        """Store what is new of these, a bounded number in one transaction."""
        new = [each for each in told if standing.is_new(each)]
        tally.counts["unchanged"] += len(told) - len(new)
        wanted = [each for each in new if not standing.is_forgotten(each)]
        tally.counts["forgotten"] += len(new) - len(wanted)
        encoder = self._identify(tally) if vectors else None
        for at in range(0, len(wanted), _SOURCES_AT_ONCE):
            some = wanted[at : at + _SOURCES_AT_ONCE]
            made = await asyncio.to_thread(_make_all, some, standing.forgotten)
            stored = await self.database.write(partial(store, scope=scope, sources=made, encoder=encoder))
            tally.counts.update(stored.counts)
            tally.notes += stored.notes

    async def _find_size(self, legacy: LegacyStore, vectors_from: str | None) -> int:
        """The dimension of the vectors that are kept; 0 where none are. If only they can tell it, they do."""
        if self.encoder is None or vectors_from is None:
            return 0
        return self.encoder.identity.dimension or await asyncio.to_thread(legacy.vector_size)

    def _identify(self, tally: Tally) -> EncoderIdentity | None:
        """The encoder of the vectors that are kept."""
        assert self.encoder is not None
        return replace(self.encoder.identity, dimension=tally.dimension) if tally.dimension else None


def _make_all(told: Sequence[Told], forgotten: Forgotten) -> list[ImportedSource]:
    return [make_source(each, forgotten) for each in told]


def _find_loose(legacy: LegacyStore, tally: Tally) -> None:
    for item, category in legacy.loose_links():
        tally.unplaced.append(note(f"link {item} {category}", "its item is gone"))
    for url, caption in legacy.unused_sources():
        about = f"no item was made of it ({caption})" if caption else "no item was made of it"
        tally.unplaced.append(note(f"resource {url}", about))
