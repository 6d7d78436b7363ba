"""What a scope holds, listed piece by piece: its pages, entries and sources, in the order of their ids.

An id is made once and never changes, so whoever asks for what comes after the last one they saw meets each thing
that stays exactly once, whatever is deleted, renamed or moved meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memu.arguments import require_count, require_text
from memu.records import Layer, Listing, RecallFile, Resource, Scope, Track
from memu.retrieve.bounds import choose
from memu.storage.database import Database
from memu.storage.entries import PlacedEntry
from memu.storage.owners import PageName
from memu.storage.repository import Repository

__all__ = ["Lists", "entry_listing", "page_reference"]

Row = TypeVar("Row")
Fetch = Callable[[str | None, int], Sequence[Row]]

_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of one scope. ``after`` is the id of the last thing already seen; without a ``limit`` all that follow.

    Raises ConfigurationError where ``after`` is no text, ``limit`` no number from 1, or there is no such track.
    """

    database: Database

    async def list_files(
        self, scope: Scope, *, tracks: Iterable[Track | str] | None, after: str | None, limit: int | None
    ) -> tuple[Listing, ...]:
        """The pages of these tracks, each with its description."""
        _require_piece(after, limit)
        chosen = choose(Track, "tracks", tracks)

        def fetch(repository: Repository) -> Fetch[PageName]:
            return lambda last, wanted: repository.pages.names(chosen, after=last, limit=wanted)

        return await self.database.read(
            lambda session: tuple(
                _page_listing(page)
                for piece in _pieces(fetch(session.within(scope)), lambda page: page.id, after, limit)
                for page in piece
            )
        )

    async def list_entries(
        self, scope: Scope, *, tracks: Iterable[Track | str] | None, after: str | None, limit: int | None
    ) -> tuple[Listing, ...]:
        """The shown entries of these tracks, each with the page that it stands on."""
        _require_piece(after, limit)
        chosen = choose(Track, "tracks", tracks)

        def work(repository: Repository) -> Iterator[Listing]:
            def fetch(last: str | None, wanted: int) -> Sequence[PlacedEntry]:
                return repository.entries.list_shown(chosen, after=last, limit=wanted)

            for piece in _pieces(fetch, lambda found: found.entry.id, after, limit):
                yield from _entry_listings(repository, piece)

        return await self.database.read(lambda session: tuple(work(session.within(scope))))

    async def list_resources(
        self, scope: Scope, *, workspace_id: str | None, after: str | None, limit: int | None
    ) -> tuple[Listing, ...]:
        """The sources of the scope, or of one workspace, each with its caption and state."""
        _require_piece(after, limit)

        def fetch(repository: Repository) -> Fetch[Resource]:
            return lambda last, wanted: repository.resources.list(workspace_id, after=last, limit=wanted)

        return await self.database.read(
            lambda session: tuple(
                _resource_listing(source)
                for piece in _pieces(fetch(session.within(scope)), lambda source: source.id, after, limit)
                for source in piece
            )
        )


def page_reference(page: PageName | RecallFile) -> str:
    """How ``get`` is asked for a page."""
    return f"{page.track.value}/{page.name}"


def entry_listing(found: PlacedEntry, pages: Sequence[str]) -> Listing:
    """An entry for show; ``pages``: references of the pages that it stands on."""
    entry = found.entry
    return Listing(
        reference=entry.id,
        layer=Layer.ENTRY,
        title=found.resource.title,
        text=entry.text,
        track=entry.track,
        path=found.resource.path,
        lines=entry.lines,
        place=entry.place,
        id=entry.id,
        memory_type=entry.memory_type,
        page=min(pages, default=None),
        time=entry.happened_at,
    )


def _pieces(
    fetch: Fetch[Row], id_of: Callable[[Row], str], after: str | None, limit: int | None
) -> Iterator[Sequence[Row]]:
    """Rows in the order of their ids, fetched some at a time."""
    left = limit
    while left is None or left > 0:
        wanted = _ROWS_AT_ONCE if left is None else min(_ROWS_AT_ONCE, left)
        rows = fetch(after, wanted)
        yield rows
        if len(rows) < wanted:
            return
        after = id_of(rows[-1])
        left = None if left is None else left - len(rows)


def _entry_listings(repository: Repository, entries: Sequence[PlacedEntry]) -> Iterator[Listing]:
    standing = repository.pages.pages_of_entries([found.entry.id for found in entries])
    pages = repository.pages.named({page for on in standing.values() for page in on})
    for found in entries:
        on = standing.get(found.entry.id, ())
        yield entry_listing(found, [page_reference(pages[page]) for page in on])


def _page_listing(page: PageName) -> Listing:
    return Listing(
        reference=page_reference(page),
        layer=Layer.FILE,
        title=page.name,
        text=page.description,
        track=page.track,
        id=page.id,
    )


def _resource_listing(source: Resource) -> Listing:
    return Listing(
        reference=source.path,
        layer=Layer.RESOURCE,
        title=source.title,
        text=source.caption,
        path=source.path,
        id=source.id,
        time=source.happened_at,
        state=source.state,
        damage=source.facts.get("damage", {}),
    )


def _require_piece(after: object, limit: object) -> None:
    if after is not None:
        require_text("after", after)
    require_count("limit", limit)
