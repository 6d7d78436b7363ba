"""Fetching one thing by its reference: a page, a source (or lines of it), an entry; and listing entries."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memu.errors import NotFound
from memu.names import fold_name, slugify
from memu.records import Layer, LineSpan, Listing, RecallFile, Resource, Scope, Track
from memu.retrieve.source_text import FORGOTTEN, GONE, show_file, show_stored
from memu.storage.database import Database
from memu.storage.entries import PlacedEntry
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["Lookup"]

_LINES = re.compile(r"#L(\d{1,9})(?:-L?(\d{1,9}))?$")
_PAGE_SIZE = 500


@dataclass(frozen=True, slots=True)
class Lookup:
    """Reads single things of one scope. ``max_bytes`` bounds the source files that are opened for their lines."""

    database: Database
    max_bytes: int

    async def get(self, scope: Scope, reference: str) -> Listing:
        """A page (``memory/NAME`` or ``skill/NAME``, by name or by file name), a source (``PATH`` or
        ``PATH#L10-L12``) or an entry by its id.

        Raises:
            NotFound: nothing of that name is in this scope, or the source has no such lines.
        """
        found = await self.database.read(lambda session: self._find(session.within(scope), reference))
        if found is None:
            raise NotFound(
                f"Nothing in {scope} is called {reference!r}. Give memory/NAME, skill/NAME, a source's path "
                "(with #L10-L12 for lines), or an entry's id; `memu get --entries` lists entries."
            )
        return found

    async def list_entries(
        self, scope: Scope, *, after: str | None = None, limit: int | None = None
    ) -> tuple[Listing, ...]:
        """The shown entries in the order of their ids, those after the id ``after``; all without a ``limit``."""

        def work(session: Session) -> tuple[Listing, ...]:
            repository = session.within(scope)
            pages = {page.id: _reference(page) for page in repository.pages.list()}
            listed: list[Listing] = []
            last = after
            while limit is None or len(listed) < limit:
                wanted = _PAGE_SIZE if limit is None else min(_PAGE_SIZE, limit - len(listed))
                entries = repository.entries.list_shown(after=last, limit=wanted)
                standing = repository.pages.pages_of_entries([found.entry.id for found in entries])
                for found in entries:
                    on = standing.get(found.entry.id, ())
                    listed.append(_entry_listing(found, [pages[page] for page in on]))
                if len(entries) < wanted:
                    break
                last = entries[-1].entry.id
            return tuple(listed)

        return await self.database.read(work)

    def _find(self, repository: Repository, reference: str) -> Listing | None:
        track, slash, name = reference.partition("/")
        if slash and track in set(Track):
            page = _find_page(repository, Track(track), name)
            if page is not None:
                return _page_listing(repository, page)
        entry = repository.entries.get(reference)
        if entry is not None:
            standing = repository.pages.pages_of_entries([reference]).get(reference, ())
            pages = filter(None, map(repository.pages.get, standing))
            return _entry_listing(entry, [_reference(page) for page in pages])
        return self._find_source(repository, reference)

    def _find_source(self, repository: Repository, reference: str) -> Listing | None:
        lines = _LINES.search(reference)
        path = reference[: lines.start()] if lines else reference
        sources = repository.resources.at(path)
        if not sources:
            return None
        span = LineSpan(int(lines[1]), int(lines[2] or lines[1])) if lines else None
        source = sources[0]
        workspace = repository.workspaces.get(source.workspace_id)
        text, notice = _show(source, Path(workspace.root) if workspace else None, span, self.max_bytes)
        if text is None:
            text = show_stored(repository.passages.of_resource(source.id), path, span)
        return Listing(
            reference=reference,
            layer=Layer.RESOURCE,
            title=source.title,
            text=text,
            path=path,
            lines=span,
            id=source.id,
            time=source.happened_at,
            notice=notice,
        )


def _show(
    source: Resource, root: Path | None, span: LineSpan | None, max_size: int
) -> tuple[str | None, str | None]:
    """The source's text from its file, None where only the store may be asked, and why it is not the raw text."""
    if source.facts.get("forgotten") is True:
        return None, FORGOTTEN
    return show_file(root, source.path, span, max_size) if root else (None, GONE)


def _find_page(repository: Repository, track: Track, name: str) -> RecallFile | None:
    found = repository.pages.by_name(track, fold_name(name))
    if found is not None:
        return found
    slug = name.removesuffix(".md")
    return next((page for page in repository.pages.list(track) if slugify(page.name) == slug), None)


def _page_listing(repository: Repository, page: RecallFile) -> Listing:
    cited: dict[str, list[str]] = defaultdict(list)
    for found in repository.entries.of_page(page.id):
        place = found.entry.lines or found.entry.place or ""
        cited[found.mark].append(f"{found.resource.path}#{place}")
    notes = [f"[^{mark}]: {'; '.join(places)}" for mark, places in sorted(cited.items()) if mark]
    return Listing(
        reference=_reference(page),
        layer=Layer.FILE,
        title=page.name,
        text="\n".join([f"# {page.name}", "", page.content, *notes]),
        track=page.track,
        id=page.id,
    )


def _reference(page: RecallFile) -> str:
    return f"{page.track.value}/{page.name}"


def _entry_listing(found: PlacedEntry, pages: Sequence[str]) -> Listing:
    """``pages``: references of the pages that the entry stands on."""
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
