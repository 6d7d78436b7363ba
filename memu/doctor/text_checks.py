"""Whether texts still say what they said when they were stored: rows that say one thing twice, held together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from memu.doctor.checked import ScopeRows
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.mend import mend
from memu.memorize.fold.patch import PageDraft
from memu.memorize.fold.render import render_page
from memu.memorize.source_rows import page_passages
from memu.records import Origin, Passage, RecallFile, Track, Workspace
from memu.storage.entries import PlacedEntry
from memu.tokens import text_key

__all__ = ["find_changed_entries", "says_its_entries"]


def find_changed_entries(rows: ScopeRows, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """The source's path and the fault of each entry that is not what search and its source's passages have.

    Sources themselves are not opened: what they hold now the next sync finds.
    """
    repository = rows.repository
    for path in repository.inspection.unlike_their_passage(workspace.id):
        yield path, "say something else than what search finds them by"
    for path in repository.inspection.headed_unlike_their_entry(workspace.id):
        yield path, "are found under another heading or track than their own"
    for path in repository.inspection.outside_their_source(workspace.id):
        yield path, "name lines that their source does not have"
    paths = {each.id: each.path for each in repository.resources.of_workspace(workspace.id)}
    for entry in repository.entries.of_workspace(workspace.id):
        if text_key(entry.text) != entry.text_key:
            yield paths[entry.resource_id], "have words that their key does not have"


def says_its_entries(rows: ScopeRows, page: RecallFile) -> bool:
    """Whether a page that rests on its entries, and waits for nothing, reads as it was folded from them.

    So does what lists say of it, which a search finds it by too.
    """
    found = rows.repository.entries.of_page(page.id)
    entries = tuple(map(_to_entry, found))
    passages = rows.repository.passages.of_page(page.id)
    if not any(entry.origin is Origin.MODEL for entry in entries):
        rendered = render_page(page.track, entries)
        said = (rendered.content, rendered.description, _told(page_passages(page, ())))
        return said == (page.content, page.description, _told(passages))
    draft = PageDraft(
        track=page.track,
        name=page.name,
        content=page.content,
        description=page.description,
        marks={each.entry.id: each.mark for each in found if each.mark},
        entries=entries,
    )
    # With nothing new or lost it stays as it is, and what no entry says itself is what a model's passages say.
    folded = mend(draft)
    return folded.content == page.content and _told(page_passages(page, folded.written)) == _told(passages)


def _told(passages: Iterable[Passage]) -> Counter[tuple[str, str, str, Track | None]]:
    return Counter((each.header, each.heading, each.text, each.track) for each in passages)


def _to_entry(found: PlacedEntry) -> PageEntry:
    return PageEntry.of(found.entry, found.resource, found.workspace.name or found.workspace.root)
