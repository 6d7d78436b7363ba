"""Removing what was selected: planned from what is stored, then done in one transaction.

No file is read and no model or encoder asked. Words, postings, vectors, links and the blocks of pages go together
with the entries; the tombstones that keep them from coming back are written with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from memu.errors import BusyError
from memu.memorize.forget.forgotten import REASON, Forgotten, read_forgotten
from memu.memorize.forget.scissors import Scissors
from memu.memorize.forget.selection import Selection, said_key
from memu.memorize.forget.source_cuts import SourceCut, cut_source
from memu.memorize.forget.wordings import Documents, find_lines, find_orphans, find_same, find_told
from memu.memorize.settlement import remove_sources
from memu.memorize.source_rows import page_passages, store_source
from memu.records import Origin, PageChanges, RecallEntry, RecallFile, Resource, Workspace
from memu.storage.entries import PlacedEntry
from memu.storage.repository import Repository

__all__ = ["Removal", "apply_removal", "find_others", "name_pages", "plan_removal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What one transaction will do.

    cuts: sources that lose some words. sources: those that go whole. hashes: tombstones to add.
    gone: the entries that go. texts: what they say, and what sources say of it in words of their own.
    pages: those that rest on them, and whether anything of theirs stays.
    stays: where other sources say what a source that goes said.
    workspaces: all of the scope, as they were when this was planned.
    """

    selection: Selection
    cuts: tuple[SourceCut, ...] = ()
    sources: tuple[Resource, ...] = ()
    hashes: frozenset[str] = frozenset()
    gone: tuple[RecallEntry, ...] = ()
    texts: frozenset[str] = frozenset()
    pages: PageChanges = PageChanges()
    stays: tuple[str, ...] = ()
    workspaces: tuple[Workspace, ...] = ()


def plan_removal(repository: Repository, selection: Selection, documents: Documents) -> Removal:
    """Decide what goes and what is left of each source; reads only.

    Args:
        documents: the sources of what a model worded or that was folded from several lines, as far as they can be
            read: there it is known what stands in which line.
    """
    workspaces = repository.workspaces.list()
    forgotten = read_forgotten(repository)
    if selection.sources:
        return _plan_sources(repository, selection, forgotten, workspaces)
    gone = [each.entry for each in selection.entries]
    told, lines = find_told(repository, gone, documents), find_lines(gone, documents)
    cuts, scissors = _cut(repository, workspaces, gone, told | lines, selection.says)
    orphans = tuple(find_orphans(repository, cuts, {entry.id for entry in gone}))
    if orphans:
        gone += orphans
        cuts, scissors = _cut(repository, workspaces, gone, told | lines, selection.says)
    keys = scissors.keys.union(*(cut.keys for cut in cuts))
    return Removal(
        selection=selection,
        cuts=cuts,
        hashes=forgotten.tombstones(keys),
        gone=tuple(gone),
        texts=told.union(entry.text for entry in gone),
        pages=name_pages(
            repository,
            {entry.id for entry in gone}.union(*(cut.touched for cut in cuts)),
            staying=frozenset(entry.id for cut in cuts for entry in cut.entries),
        ),
        workspaces=workspaces,
    )


def apply_removal(repository: Repository, removal: Removal) -> None:
    """Do it, whole.

    Raises:
        BusyError: a folder was synced into the scope for the first time since this was planned.
    """
    if {each.id for each in repository.workspaces.list()} != {each.id for each in removal.workspaces}:
        raise BusyError("A folder was just synced into this scope for the first time; forget again.")
    repository.tombstones.add(removal.hashes)
    touched = {entry for cut in removal.cuts for entry in cut.touched}
    for source in removal.sources:
        touched |= {entry.id for entry in repository.entries.of_resource(source.id)}
    _clean_pages(repository, touched)
    if removal.hashes and not removal.sources:
        # What a model answered and nobody used yet may say it in any words.
        repository.replies.drop_all()
    for source in removal.sources:
        remove_sources(repository, source.workspace_id, [source.id])
    repository.runs.forget_paths({source.path for source in removal.sources})
    for cut in removal.cuts:
        store_source(repository, cut.resource, cut.entries, cut.passages, cut.entry_passages)


def _plan_sources(
    repository: Repository, selection: Selection, forgotten: Forgotten, workspaces: tuple[Workspace, ...]
) -> Removal:
    resources = [
        resource for workspace in workspaces for resource in repository.resources.of_workspace(workspace.id)
    ]
    homes = {workspace.id: workspace for workspace in workspaces}
    hashes = {
        each for workspace, resource in selection.sources for each in forgotten.hash_path(workspace, resource.path)
    }
    # Two folders of one name share their tombstones, so what lies at this path in either goes.
    going = {
        each.id: each
        for each in resources
        if not hashes.isdisjoint(forgotten.hash_path(homes[each.workspace_id], each.path))
    }
    for each in going.values():
        if each.content_hash:
            hashes.add(forgotten.hash_content(each.content_hash))
            hashes.add(forgotten.hash_name(each.content_hash, each.path))
    contents = {each.content_hash for each in going.values() if each.content_hash}
    for each in resources:
        # A copy that stays says the same under its own name.
        if each.id not in going and each.content_hash in contents and each.reason != REASON:
            hashes |= forgotten.hash_copy(each.content_hash, homes[each.workspace_id], each.path)
    gone = tuple(entry for each in going for entry in repository.entries.of_resource(each))
    return Removal(
        selection=selection,
        sources=tuple(going.values()),
        hashes=frozenset(hashes),
        gone=gone,
        texts=frozenset(entry.text for entry in gone),
        pages=name_pages(repository, {entry.id for entry in gone}),
        stays=tuple(find_others(repository, gone, [each for each in resources if each.id not in going])),
        workspaces=workspaces,
    )


def find_others(repository: Repository, gone: Sequence[RecallEntry], staying: Sequence[Resource]) -> Iterable[str]:
    """Where other sources say the same, in the same words or from the same sentence."""
    keys = {said_key(entry) for entry in gone}
    same = find_same(repository, gone, staying)
    for resource in staying:
        for entry in repository.entries.of_resource(resource.id):
            if said_key(entry) in keys or entry.id in same:
                yield f"{resource.path}#{entry.lines or entry.place or ''}"


def _cut(
    repository: Repository,
    workspaces: Iterable[Workspace],
    gone: Iterable[RecallEntry],
    told: Collection[str],
    says: Callable[[str], bool] | None,
) -> tuple[tuple[SourceCut, ...], Scissors]:
    """Every source that says some of it, without that; and what it was cut with."""
    scissors = Scissors.of((*(entry.text for entry in gone), *told), says)
    return tuple(_cut_sources(repository, workspaces, {entry.id for entry in gone}, scissors)), scissors


def _cut_sources(
    repository: Repository, workspaces: Iterable[Workspace], gone: Collection[str], scissors: Scissors
) -> Iterable[SourceCut]:
    for workspace in workspaces:
        entries: defaultdict[str, list[RecallEntry]] = defaultdict(list)
        for entry in repository.entries.of_workspace(workspace.id):
            entries[entry.resource_id].append(entry)
        for resource in repository.resources.of_workspace(workspace.id):
            passages = repository.passages.of_resource(resource.id)
            cut = cut_source(resource, entries[resource.id], passages, frozenset(gone), scissors)
            if cut is not None:
                yield cut


def name_pages(
    repository: Repository, entries: Collection[str], staying: Collection[str] = frozenset()
) -> PageChanges:
    """The pages that rest on these entries: they go where nothing stays on them, else they change.

    staying: those of the entries that stay, with other words.
    """
    resting = {page for each in repository.pages.pages_of_entries(sorted(entries)).values() for page in each}
    gone = set(entries).difference(staying)
    changed: list[str] = []
    removed: list[str] = []
    for page in repository.pages.list():
        if page.id in resting:
            empty = all(link.entry_id in gone for link in repository.pages.entries_of(page.id))
            (removed if empty else changed).append(f"{page.track.value}/{page.name}")
    return PageChanges(changed=tuple(changed), removed=tuple(removed))


def _clean_pages(repository: Repository, touched: Collection[str]) -> None:
    """Take what rests on these entries off the pages; *fold* brings the pages up to date afterwards."""
    pages = repository.pages.pages_of_entries(sorted(touched))
    for page_id in sorted({page for each in pages.values() for page in each}):
        page = repository.pages.get(page_id)
        if page is None:
            continue
        placed = repository.entries.of_page(page_id)
        if any(each.entry.origin is Origin.MODEL for each in placed):
            _mend_page(repository, page, [each for each in placed if each.entry.id not in touched and each.mark])
        else:
            _drop_blocks(repository, page, touched)


def _drop_blocks(repository: Repository, page: RecallFile, touched: Collection[str]) -> None:
    """Of a page of quotes: each block is one statement, and goes whole."""
    from memu.memorize.fold.blocks import drop_marks

    links = repository.pages.entries_of(page.id)
    standing = {link.mark for link in links if link.entry_id not in touched}
    marks = {link.mark for link in links if link.entry_id in touched} - standing
    if marks:
        cleaned = replace(page, content=drop_marks(page.content, marks), description="", described_by=None)
        _store_page(repository, page, cleaned, ())


def _mend_page(repository: Repository, page: RecallFile, placed: Sequence[PlacedEntry]) -> None:
    """Of a page that a model wrote: one block may say what several entries do, and is said anew without those."""
    from memu.memorize.fold.entries import PageEntry
    from memu.memorize.fold.mend import mend
    from memu.memorize.fold.patch import PageDraft

    entries = tuple(
        PageEntry.of(each.entry, each.resource, each.workspace.name or each.workspace.root) for each in placed
    )
    marks = {each.entry.id: each.mark for each in placed}
    mended = mend(PageDraft(track=page.track, name=page.name, content=page.content, marks=marks, entries=entries))
    cleaned = replace(page, content=mended.content, description=mended.description, described_by=None)
    _store_page(repository, page, cleaned, mended.written)
    repository.pages.set_marks(page.id, mended.marks)


def _store_page(
    repository: Repository, page: RecallFile, cleaned: RecallFile, written: Sequence[tuple[str, str]]
) -> None:
    repository.pages.save(cleaned, page.version)
    repository.passages.replace_for_page(page.id, page_passages(cleaned, written))
    repository.replies.drop_for_page(page.id)
    repository.overviews.remove(page.track)
