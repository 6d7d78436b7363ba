"""A draft before anybody adds to it: nothing on it that a lost entry said, and what is still to be said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memu.memorize.assign.words import plain_title
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.forms import format_heading
from memu.memorize.fold.inline import unescape
from memu.memorize.fold.marks import marks_for
from memu.memorize.fold.patch import PageDraft
from memu.memorize.fold.patch_earlier import is_earlier, keep_earlier, said_in
from memu.memorize.fold.patch_sheet import Block, Section, cite, drop_empty, read_sheet
from memu.memorize.fold.patch_words import (
    evidence_of,
    general_headings,
    heading_words,
    own_block,
    plain_text,
    quotes,
    relabels,
)
from memu.memorize.fold.render import name_sources
from memu.memorize.llm.grounding import ungrounded
from memu.names import fold_name

__all__ = ["Reading", "heading_of", "heading_terms", "is_backed", "read_draft"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A draft without what is lost.

    sections: blocks cite identities. said: identity → the living entries that say it, first by place.
    gained: one entry for each identity that no block cites, by place.
    open: identity → those that one block said together before it lost a source: they stand in ``sections`` in
        their own words and may be said together again.
    lost: whether anything that the page rested on is gone. stands: whether nothing on it had to be changed, nor
        its marks.
    """

    draft: PageDraft
    sections: tuple[Section, ...]
    said: Mapping[str, tuple[PageEntry, ...]]
    gained: tuple[PageEntry, ...]
    open: Mapping[str, frozenset[str]]
    lost: bool
    stands: bool

    @property
    def headings(self) -> Mapping[tuple[str, str], str]:
        """The heading of each source's own section, as it stands on the page."""
        return {key: heading_of(title) for key, title in name_sources(self.draft.entries).items()}

    @property
    def titles(self) -> Mapping[tuple[str, str], str]:
        """The title of each source, by place."""
        titles: dict[tuple[str, str], str] = {}
        for entry in sorted(self.draft.entries, key=lambda entry: entry.place_key):
            titles.setdefault(entry.source_key, _title_of(entry))
        return titles

    def entries_of(self, block: Block) -> tuple[PageEntry, ...]:
        """The living entries behind a block."""
        return tuple(entry for cited in block.cites for entry in self.said[cited])


def heading_of(title: str) -> str:
    """A title as inline Markdown of a heading."""
    return format_heading(1, title).removeprefix("# ")


def read_draft(draft: PageDraft) -> Reading:
    """The page with every lost mark and every word that may have been a lost entry's taken out.

    A block keeps what it says where it lost nothing, or quotes a living entry; what rested on several sources and
    lost one falls back to what those that are left say themselves. A superseded statement comes back when nothing
    newer stands against it. A heading whose words no living entry, source title or general word has goes back to
    the title of its first source.
    """
    said: dict[str, tuple[PageEntry, ...]] = {}
    for entry in sorted(draft.entries, key=lambda entry: entry.place_key):
        said[entry.identity] = (*said.get(entry.identity, ()), entry)
    known = _read_marks(draft)
    sheet = read_sheet(draft.content)
    lost = any(cited not in known for section in sheet for block in section.blocks for cited in block.cites)
    kept = tuple(
        keep_earlier(section, known, said)
        if is_earlier(section)
        else replace(section, blocks=tuple(_keep(block, known, said) for block in section.blocks))
        for section in sheet
    )
    stays = (replace(each, blocks=tuple(block for block in each.blocks if block.text)) for each in kept)
    whole = set().union(*(said_in(section, said) for section in stays))
    opened: dict[str, frozenset[str]] = {}
    sections = tuple(_fall_back(section, whole, said, opened) for section in kept)
    sections = _back_headings(drop_empty(sections), draft, said)
    cited = set().union(*(said_in(section, said) for section in sections))
    gained = tuple(entries[0] for identity, entries in said.items() if identity not in cited)
    marks = marks_for(said)
    stands = not lost and sections == cite(sheet, known) and all(marks[known[mark]] == mark for mark in known)
    return Reading(draft=draft, sections=sections, said=said, gained=gained, open=opened, lost=lost, stands=stands)


def _read_marks(draft: PageDraft) -> dict[str, str]:
    """Mark → the identity that it stands for; one that stands for several is none."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in draft.entries:
        if mark := draft.marks.get(entry.id):
            found[mark].add(entry.identity)
    return {mark: identities.pop() for mark, identities in found.items() if len(identities) == 1}


def _keep(block: Block, known: Mapping[str, str], said: Mapping[str, tuple[PageEntry, ...]]) -> Block:
    """The block citing what lives; with no text if its words cannot stay."""
    cites = tuple(dict.fromkeys(known[mark] for mark in block.cites if mark in known))
    left = replace(block, cites=cites)
    entries = [entry for identity in cites for entry in said[identity]]
    if any(quotes(block, entry) for entry in entries):
        return left
    for entry in entries:
        if relabels(block, entry):
            return replace(left, text=(mine := own_block(entry)).text, lead=mine.lead)
    whole = len(cites) == len(set(block.cites))
    if whole and entries and not ungrounded(plain_text(block), [*map(evidence_of, entries)]):
        return left
    return replace(left, text="", lead="")


def _fall_back(
    section: Section,
    whole: set[str],
    said: Mapping[str, tuple[PageEntry, ...]],
    opened: dict[str, frozenset[str]],
) -> Section:
    """Each block whose words could not stay as the own words of what it cites, once on the page."""
    blocks: list[Block] = []
    for block in section.blocks:
        if block.text and block.cites:
            blocks.append(block)
            continue
        open_here = [identity for identity in block.cites if identity not in whole]
        whole.update(open_here)
        opened.update((identity, frozenset(open_here)) for identity in open_here)
        blocks += [_in_place(own_block(said[identity][0]), block) for identity in open_here]
    return replace(section, blocks=tuple(blocks))


def _in_place(mine: Block, old: Block) -> Block:
    return replace(mine, number=old.number, depth=old.depth) if mine.kind is old.kind else mine


def _back_headings(
    sections: Sequence[Section], draft: PageDraft, said: Mapping[str, tuple[PageEntry, ...]]
) -> tuple[Section, ...]:
    """Headings that something living backs, and sections of one name joined where they follow one another."""
    titles = name_sources(draft.entries)
    backed = heading_terms(draft)
    living = {fold_name(heading_of(title)) for title in (*titles.values(), *map(_title_of, draft.entries))}
    kept: list[Section] = []
    for index, section in enumerate(sections):
        below = [*section.blocks, *(block for later in sections[index + 1 :] for block in later.blocks)]
        is_ours = section.level == 0 or is_earlier(section) or fold_name(section.heading) in living
        if not is_ours and not is_backed(section.heading, backed):
            first = said[below[0].cites[0]][0]
            section = replace(section, heading=heading_of(titles[first.source_key]))
        before = kept[-1] if kept else None
        if before and before.level == section.level and _same(before, section):
            kept[-1] = replace(before, blocks=before.blocks + section.blocks)
        else:
            kept.append(section)
    return tuple(kept)


def _title_of(entry: PageEntry) -> str:
    return plain_title(entry.title) or entry.path


def _same(one: Section, other: Section) -> bool:
    return fold_name(one.heading) == fold_name(other.heading)


def heading_terms(draft: PageDraft) -> frozenset[str]:
    """The terms that a heading of this page may hold."""
    titles = name_sources(draft.entries).values()
    spoken = [f"{evidence_of(entry)}\n{entry.title}\n{entry.path}\n{entry.date or ''}" for entry in draft.entries]
    return frozenset().union(*map(heading_words, [*spoken, *titles, draft.name, general_headings()]))


def is_backed(heading: str, backed: frozenset[str]) -> bool:
    """Whether every word of a heading is one that the page's headings may hold, and there is one."""
    words = heading_words(unescape(heading))
    return bool(words) and words <= backed
