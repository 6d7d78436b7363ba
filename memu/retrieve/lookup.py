"""Fetching one thing by its reference: a page, a source (or lines of it), an entry."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from memu.arguments import is_storable
from memu.errors import NotFound
from memu.ingest.paths import stored_path
from memu.names import fold_name, slugify
from memu.records import Layer, LineSpan, Listing, RecallFile, Resource, Scope, Track
from memu.retrieve.listings import entry_listing, page_reference
from memu.retrieve.source_text import FORGOTTEN, GONE, show_file, show_kept, show_stored
from memu.retrieve.turns import show_turn
from memu.storage.database import Database
from memu.storage.repository import Repository

__all__ = ["Lookup"]

_TURN = re.compile(r"#(?:turn[-_ ]?)?([0-9]{1,9})$", re.IGNORECASE)
_LINES = re.compile(r"#L([0-9]{1,9})(?:-L?([0-9]{1,9}))?$")
# "page--1" and "page-" name no page, though they have its words.
_NAMELESS = re.compile(r"[^\W\d_]+(?:[-_ ]{2,}|[-_ ]$)")


@dataclass(frozen=True, slots=True)
class Lookup:
    """Reads single things of one scope. ``max_bytes`` bounds the source files that are opened for their lines."""

    database: Database
    max_bytes: int

    async def get(self, scope: Scope, reference: str) -> Listing:
        """A page (``memory/NAME`` or ``skill/NAME``, by name or by file name), a source (``PATH`` or
        ``PATH#L10-L12``, and of a document ``PATH#page-3``, by any place as it is cited), a session's turn
        (``PATH#turn-3`` or ``PATH#3``), or any of the first three by its id.

        Raises:
            NotFound: nothing of that name is in this scope, or the source has no such lines.
        """
        # The command line gives bytes that are no UTF-8 as halves of characters; so does a list of files.
        named = reference if is_storable(reference) else stored_path(reference)
        found = None
        if is_storable(named):
            found = await self.database.read(lambda session: self._find(session.within(scope), named))
        if found is None:
            raise NotFound(
                f"Nothing in {scope} is called {reference!r}. Give memory/NAME, skill/NAME, a source's path (with "
                "#L10-L12 for lines, #page-3 for a document's page, #turn-3 for a session's turn), or an id; "
                "`memu get --entries` lists entries."
            )
        return found

    def _find(self, repository: Repository, reference: str) -> Listing | None:
        track, slash, name = reference.partition("/")
        if slash and track in set(Track):
            page = _find_page(repository, Track(track), name)
            if page is not None:
                return _page_listing(repository, page)
        entry = repository.entries.get(reference)
        if entry is not None:
            standing = repository.pages.pages_of_entries([reference]).get(reference, ())
            pages = repository.pages.named(standing).values()
            return entry_listing(entry, [page_reference(page) for page in pages])
        found = repository.pages.get(reference)
        return _page_listing(repository, found) if found else self._find_source(repository, reference)

    def _find_source(self, repository: Repository, reference: str) -> Listing | None:
        turn = _TURN.search(reference)
        if turn is not None and not repository.resources.at(reference):
            source = next(iter(repository.resources.at(reference[: turn.start()])), None)
            return show_turn(repository, source, int(turn[1])) if source is not None else None
        lines = _LINES.search(reference)
        path = reference[: lines.start()] if lines else reference
        source = next(iter(repository.resources.at(path)), None) or repository.resources.get(path)
        if source is None:
            return _find_place(repository, reference)
        span = LineSpan(int(lines[1]), int(lines[2] or lines[1])) if lines else None
        workspace = repository.workspaces.get(source.workspace_id)
        text, notice = _show(source, Path(workspace.root) if workspace else None, span, self.max_bytes)
        if text is None:
            title = source.title if source.facts.get("titled") is True else ""
            text = show_stored(repository.passages.of_resource(source.id), source.path, span, title)
        return Listing(
            reference=reference,
            layer=Layer.RESOURCE,
            title=source.title,
            text=text,
            path=source.path,
            lines=span,
            id=source.id,
            time=source.happened_at,
            notice=notice,
            damage=source.facts.get("damage", {}),
        )


def _show(
    source: Resource, root: Path | None, span: LineSpan | None, max_size: int
) -> tuple[str | None, str | None]:
    """The source's text from its file, None where only the store may be asked, and why it is not the raw text."""
    if source.kept_text is not None:
        return (show_kept(source.kept_text, source.path, span) or None), None
    if source.facts.get("forgotten") is True:
        return None, FORGOTTEN
    return show_file(root, source.path, span, max_size) if root else (None, GONE)


def _find_place(repository: Repository, reference: str) -> Listing | None:
    """What was stored of one page, slide or sheet of a source, as far as the reference names one."""
    path, _, place = reference.rpartition("#")
    source = next(iter(repository.resources.at(path)), None) if path else None
    wanted = _fold_place(place)
    if source is None or not wanted:
        return None
    stored = repository.passages.of_resource(source.id)
    passages = [each for each in stored if each.place and f"{_fold_place(each.place)} ".startswith(f"{wanted} ")]
    if _NAMELESS.match(place):
        passages = [each for each in passages if each.place and each.place.startswith(place)]
    if not passages:
        return None
    return Listing(
        reference=reference,
        layer=Layer.RESOURCE,
        title=source.title,
        text=show_stored(passages, source.path, None),
        path=source.path,
        place=passages[0].place,
        id=source.id,
        time=source.happened_at,
    )


def _fold_place(place: str) -> str:
    """``Page-3`` and ``page 3`` are one place."""
    return " ".join(re.findall(r"\w+", place.replace("_", " ").casefold()))


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
        reference=page_reference(page),
        layer=Layer.FILE,
        title=page.name,
        text="\n".join([f"# {page.name}", "", page.content, *notes]),
        track=page.track,
        id=page.id,
    )
