"""The order of a patched page: settled by what its blocks rest on, not by when they came.

A page that grew over many syncs is then the page that one sync of the same sources makes (P3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memu.memorize.assign.words import plain_title
from memu.memorize.fold.blocks import drop_marks
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.inline import unescape
from memu.memorize.fold.patch import PageDraft
from memu.memorize.fold.patch_earlier import is_earlier
from memu.memorize.fold.patch_reading import Reading
from memu.memorize.fold.patch_sheet import Block, Section, read_sheet
from memu.memorize.fold.patch_words import quotes
from memu.names import fold_name

__all__ = ["order_sections", "reopen", "says_no_more"]

_SOURCE_LEVEL = 2
_Key = tuple[str, str, int, int]


def order_sections(reading: Reading, sections: Sequence[Section]) -> tuple[Section, ...]:
    """Sections with what is below them, by the place of the first entry they rest on; what is superseded last."""
    opening = [section for section in sections[:1] if section.level == 0]
    groups = _group(sections[len(opening) :])
    earlier = [group for group in groups if is_earlier(group[0])]
    others = sorted(
        (group for group in groups if not is_earlier(group[0])), key=lambda group: _first_place(reading, group)
    )
    return (*opening, *(section for group in (*others, *earlier) for section in group))


def reopen(draft: PageDraft) -> PageDraft:
    """The draft without the blocks that are one statement's own words, so that they count as new."""
    said: dict[str, list[PageEntry]] = {}
    for entry in draft.entries:
        said.setdefault(draft.marks.get(entry.id, ""), []).append(entry)
    own = {
        block.cites[0]
        for section in read_sheet(draft.content)
        for block in section.blocks
        if len(block.cites) == 1 and any(quotes(block, entry) for entry in said.get(block.cites[0], ()))
    }
    marks = {entry: mark for entry, mark in draft.marks.items() if mark not in own}
    return replace(draft, content=drop_marks(draft.content, own), marks=marks)


def says_no_more(reading: Reading, sections: Iterable[Section]) -> bool:
    """Whether a page holds nothing but its entries, word for word, under the names of their sources."""
    for group in _group(sections):
        if is_earlier(group[0]) or group[0].level == 0:
            return False
        for section in group:
            if not all(_is_own(reading, group[0], section, block) for block in section.blocks):
                return False
    return True


def _is_own(reading: Reading, top: Section, section: Section, block: Block) -> bool:
    """Whether a block is its entries' own words, in the part of the source that one of them is from."""
    if not all(any(quotes(block, entry) for entry in reading.said[cited]) for cited in block.cites):
        return False
    below = section is not top
    return any(
        _is_named_after(top, entry)
        and (not below or fold_name(entry.section or "") == fold_name(unescape(section.heading)))
        for entry in reading.entries_of(block)
    )


def _is_named_after(section: Section, entry: PageEntry) -> bool:
    """Whether a heading is a source's: its title, maybe with what tells it from others alike."""
    heading, title = fold_name(unescape(section.heading)), fold_name(plain_title(entry.title) or entry.path)
    alike = heading == title or heading.startswith(f"{title} (") or heading.endswith(f" — {title}")
    return section.level == _SOURCE_LEVEL and alike


def _group(sections: Iterable[Section]) -> list[list[Section]]:
    """Each section of the top level with those below it."""
    groups: list[list[Section]] = []
    for section in sections:
        if groups and section.level > _SOURCE_LEVEL:
            groups[-1].append(section)
        else:
            groups.append([section])
    return groups


def _first_place(reading: Reading, group: Sequence[Section]) -> _Key:
    places = (
        entry.place_key for section in group for block in section.blocks for entry in reading.entries_of(block)
    )
    return min(places, default=("", "", 0, 0))
