"""What a request to forget means: which entries and sources of the scope it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from memu.arguments import is_storable
from memu.errors import ConfigurationError, NotFound
from memu.ingest.paths import stored_path
from memu.memorize.forget.joined import list_shown
from memu.memorize.forget.visible import list_views, plain_text
from memu.names import fold_name, slugify
from memu.records import RecallEntry, Resource, Track, Workspace
from memu.storage.entries import PlacedEntry
from memu.storage.repository import Repository
from memu.tokens import text_key

__all__ = [
    "Request",
    "Selection",
    "is_said",
    "list_placed",
    "locate_path",
    "matcher",
    "said_key",
    "select",
    "select_again",
]

# Written without spaces, so that a word's border says nothing there.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_LETTER = rf"[^\W{_UNSPACED}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be forgotten: one thing by reference, what contains a text, or everything.

    reference: an entry's id, ``memory/NAME``, ``skill/NAME``, a source's path in its workspace or on the disk.
    """

    reference: str | None = None
    match: str | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is forgotten: statements wherever they stand, and whole sources.

    what: "entry", "page", "source", "match" or "scope". says: whether a text is to go beside the entries.
    """

    what: str
    entries: tuple[PlacedEntry, ...] = ()
    sources: tuple[tuple[Workspace, Resource], ...] = ()
    says: Callable[[str], bool] | None = None


def select(repository: Repository, request: Request) -> Selection:
    """Find what the request names.

    Raises:
        NotFound: nothing of that name is in the scope.
        ConfigurationError: the match has no word in it, or several workspaces have a source of that path.
    """
    if request.match is not None:
        return _select_said(repository, matcher(request.match))
    reference = request.reference or ""
    if not is_storable(reference):
        return Selection(what="source", sources=_find_sources(repository, reference))
    track, slash, name = reference.partition("/")
    if slash and track in set(Track):
        page_id = _find_page(repository, Track(track), name)
        if page_id is not None:
            return Selection(what="page", entries=_alike(repository, repository.entries.of_page(page_id)))
    entry = repository.entries.get(reference)
    if entry is not None:
        return Selection(what="entry", entries=_alike(repository, (entry,)))
    return Selection(what="source", sources=_find_sources(repository, reference))


def select_again(repository: Repository, before: Selection) -> Selection:
    """What of a selection is in the scope again, after its sources were read once more; sources stay away."""
    if before.says is not None:
        return _select_said(repository, before.says)
    return replace(before, entries=_alike(repository, before.entries), sources=())


def list_placed(repository: Repository) -> tuple[PlacedEntry, ...]:
    """Every entry of the scope with its source."""
    placed: list[PlacedEntry] = []
    for workspace in repository.workspaces.list():
        resources = {each.id: each for each in repository.resources.of_workspace(workspace.id)}
        placed += (
            PlacedEntry(entry=entry, resource=resources[entry.resource_id], workspace=workspace)
            for entry in repository.entries.of_workspace(workspace.id)
        )
    return tuple(placed)


def matcher(text: str) -> Callable[[str], bool]:
    """Tells whether a text, or what is seen of it, contains ``text`` as whole words, case and punctuation folded.

    Raises:
        ConfigurationError: there is no word in it.
    """
    wanted = text_key(text)
    if not any(char.isalnum() for char in wanted):
        raise ConfigurationError(
            "The text to match has no word in it; give some words of what is to be forgotten."
        )
    left = rf"(?<!{_LETTER})" if re.match(_LETTER, wanted) else ""
    right = rf"(?!{_LETTER})" if re.search(rf"{_LETTER}\Z", wanted) else ""
    pattern = re.compile(f"{left}{re.escape(wanted)}{right}")

    def says(said: str) -> bool:
        return any(pattern.search(text_key(view)) for view in list_views(said))

    return says


def said_key(entry: RecallEntry) -> str:
    """The key of what is seen of an entry: two that differ in markup alone say the same."""
    return text_key(plain_text(entry.text))


def _select_said(repository: Repository, says: Callable[[str], bool]) -> Selection:
    found = tuple(each for each in list_placed(repository) if is_said(each.entry, says))
    return Selection(what="match", entries=found, says=says)


def is_said(entry: RecallEntry, says: Callable[[str], bool]) -> bool:
    """Whether it says so, alone or only together with what stands in front of it where it is shown."""
    fronts = list_shown(entry)
    return says(entry.text) or any(says(f"{each} {entry.text}") and not says(each) for each in fronts)


def locate_path(repository: Repository, reference: str) -> tuple[tuple[Workspace, str], ...]:
    """Where a path may lie: a file on the disk in the workspace around it, else the path in every workspace."""
    workspaces = repository.workspaces.list()
    if "\0" in reference:
        return ()
    given = Path(reference)
    # Of a user that is not known here it is a name like any other.
    with suppress(RuntimeError):
        given = given.expanduser()
    if given.is_absolute():
        inside = (each for each in workspaces if given.is_relative_to(each.root))
        found = [(each, stored_path(given.relative_to(each.root).as_posix())) for each in inside]
    else:
        # Bytes that are no UTF-8 come as halves of characters.
        path = reference if is_storable(reference) else stored_path(reference)
        found = [(each, path) for each in workspaces]
    return tuple((workspace, path) for workspace, path in found if is_storable(path))


def _alike(repository: Repository, wanted: tuple[PlacedEntry, ...]) -> tuple[PlacedEntry, ...]:
    """These and every other entry of the scope that says the same."""
    keys = {said_key(each.entry) for each in wanted}
    return tuple(each for each in list_placed(repository) if said_key(each.entry) in keys)


def _find_page(repository: Repository, track: Track, name: str) -> str | None:
    found = repository.pages.by_name(track, fold_name(name))
    if found is not None:
        return found.id
    slug = name.removesuffix(".md")
    return next((page.id for page in repository.pages.list(track) if slugify(page.name) == slug), None)


def _find_sources(repository: Repository, reference: str) -> tuple[tuple[Workspace, Resource], ...]:
    places = locate_path(repository, reference)
    found = [
        (workspace, resource)
        for workspace, path in places
        if (resource := repository.resources.by_path(workspace.id, path)) is not None
    ]
    if not found:
        raise NotFound(_tell_missing(repository, reference))
    if len(found) > 1:
        roots = ", ".join(f"{workspace.root}/{resource.path}" for workspace, resource in found)
        raise ConfigurationError(f"Several workspaces have {reference!r}; give one of: {roots}.")
    return tuple(found)


def _tell_missing(repository: Repository, reference: str) -> str:
    """What to give instead of a reference that names nothing, or only a part of a source."""
    path, _, place = reference.rpartition("#")
    places = locate_path(repository, path) if path and place else ()
    if any(repository.resources.by_path(workspace.id, each) for workspace, each in places):
        return (
            f"{reference!r} is a part of a source; no part is forgotten by its place. Give words of it with "
            "--match, the id of an entry on it (`memu get --entries`), or the path alone for the whole source."
        )
    return f"Nothing is called {reference!r} here. Give memory/NAME, skill/NAME, a source's path or an entry id."
