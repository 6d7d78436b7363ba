"""A page brought up to date without a model: what is lost goes, what is gained is added in its own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memu.memorize.fold.describe import describe_memory, describe_skill
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.inline import unescape
from memu.memorize.fold.marks import marks_for
from memu.memorize.fold.outline import NodeKind
from memu.memorize.fold.patch import PageDraft, Patched
from memu.memorize.fold.patch_earlier import said_in
from memu.memorize.fold.patch_order import order_sections, says_no_more
from memu.memorize.fold.patch_places import Places
from memu.memorize.fold.patch_reading import Reading, read_draft
from memu.memorize.fold.patch_sheet import Section, cite, drop_empty, read_sheet, write_sheet
from memu.memorize.fold.patch_words import evidence_of, plain_text, quotes
from memu.memorize.fold.render import render_page
from memu.memorize.llm.grounding import ungrounded
from memu.records import Track

__all__ = ["close_page", "mend"]

_COUNTED = re.compile(r"(?:How to[,:] )?\d+ (?:statement|step|command|note)s? ")


def mend(draft: PageDraft) -> Patched:
    """The page without what only lost entries said, and with what is new as its sources say it.

    What lost nothing keeps its words and its place. A page that stands as rendered is rendered whole again; so is
    a skill in its sources' own words that lost one, for the steps that stood among those of the lost one.
    """
    reading = read_draft(draft)
    shrunk = draft.track is Track.SKILL and reading.lost and not any(_find_written(reading, reading.sections))
    if not reading.stands and (shrunk or is_rendering(reading)):
        page = render_page(draft.track, draft.entries)
        return Patched(content=page.content, marks=page.marks, description=page.description)
    return close_page(reading, Places(reading))


def close_page(reading: Reading, places: Places) -> Patched:
    """The page as it stands on ``places``, with every entry that nothing there cites put on it as it stands."""
    draft = reading.draft
    cited = set().union(*(said_in(section, reading.said) for section in places.sections))
    gained = [entries[0] for identity, entries in reading.said.items() if identity not in cited]
    for entry in complete_procedures(draft, gained):
        places.put_own(entry)
    sections = order_sections(reading, drop_empty(places.sections))
    kept = None if reading.lost else _kept_description(draft)
    if says_no_more(reading, sections):
        page = render_page(draft.track, draft.entries)
        return Patched(content=page.content, marks=page.marks, description=kept or page.description)
    marks = marks_for(reading.said)
    stands = reading.stands and sections == reading.sections
    return Patched(
        content=draft.content if stands else write_sheet(sections, marks),
        marks={entry.id: marks[entry.identity] for entry in draft.entries},
        description=describe(reading, sections) if kept is None else kept,
        written=tuple(_find_written(reading, sections)),
    )


def is_rendering(reading: Reading) -> bool:
    """Whether the page, lost and gained entries aside, is what rendering its entries gives."""
    gained = {entry.identity for entry in reading.gained}
    stayed = [entry for entry in reading.draft.entries if entry.identity not in gained]
    page = render_page(reading.draft.track, stayed)
    identities = {page.marks[entry.id]: entry.identity for entry in stayed}
    return cite(read_sheet(page.content), identities) == reading.sections


def complete_procedures(draft: PageDraft, gained: Sequence[PageEntry]) -> list[PageEntry]:
    """What is gained, by place; of a skill's new source the steps too that another source gives already."""
    if draft.track is not Track.SKILL:
        return list(gained)
    known = {entry.source_key for entry in draft.entries if draft.marks.get(entry.id)}
    new = {entry.source_key for entry in gained} - known
    one_by_one = [entry for entry in gained if entry.source_key not in new]
    whole = {
        (entry.source_key, entry.identity): entry
        for entry in sorted(draft.entries, key=lambda entry: entry.place_key, reverse=True)
        if entry.source_key in new
    }
    return sorted([*one_by_one, *whole.values()], key=lambda entry: entry.place_key)


def describe(reading: Reading, sections: Iterable[Section]) -> str:
    """What a list says of the page: its blocks and sources, counted."""
    blocks = [block for section in sections for block in section.blocks]
    titles = list(reading.titles.values())
    kinds = Counter(block.kind for block in blocks)
    if not blocks:
        return ""
    if reading.draft.track is Track.MEMORY:
        return describe_memory(len(blocks), titles)
    steps, commands = kinds[NodeKind.STEP], kinds[NodeKind.FENCE]
    return describe_skill(steps, commands, len(blocks) - steps - commands, titles)


def _kept_description(draft: PageDraft) -> str | None:
    """A model's description, where nothing that it may rest on is gone."""
    text = draft.description
    if not text or _COUNTED.match(text):
        return None
    spoken = [f"{evidence_of(entry)}\n{entry.title}" for entry in draft.entries]
    return None if ungrounded(text, [*spoken, draft.name]) else text


def _find_written(reading: Reading, sections: Iterable[Section]) -> Iterable[tuple[str, str]]:
    for section in sections:
        for block in section.blocks:
            if not any(quotes(block, entry) for entry in reading.entries_of(block)):
                yield plain_text(block), unescape(section.heading)
