"""Where a block goes on a page: under a heading, and among what the same source says in its own order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memu.memorize.assign.words import plain_title
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.outline import NodeKind
from memu.memorize.fold.patch_earlier import earlier_heading, is_earlier
from memu.memorize.fold.patch_reading import Reading, heading_of
from memu.memorize.fold.patch_sheet import Block, Section
from memu.memorize.fold.patch_words import own_block
from memu.names import fold_name

__all__ = ["Places"]

_SOURCE_LEVEL = 2


@dataclass(slots=True)
class Places:
    """A page that blocks are put on, one by one; ``sections`` is how it stands."""

    reading: Reading
    sections: list[Section] = field(default_factory=list)
    _headings: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sections = list(self.reading.sections)
        self._headings = self.reading.headings

    def put_own(self, entry: PageEntry) -> None:
        """An entry as it stands, in its source's section; steps and code do not repeat the label above."""
        home = self._home_of(entry)
        at = self._part_of(entry, home)
        once = entry.shape.form.value in (NodeKind.STEP, NodeKind.FENCE)
        place = self._place_in(self.sections[at].blocks, entry)
        above = self.sections[at].blocks[place - 1] if place else None
        shown = above is not None and any(
            said.source_key == entry.source_key and said.label == entry.label
            for said in self.reading.entries_of(above)
        )
        self._insert(at, place, own_block(entry, label="" if once and shown else entry.label))

    def put_under(self, heading: str, block: Block, entry: PageEntry) -> None:
        """A block under the section of that name (made where there is none), ``entry`` being its first source."""
        at = self._find(lambda section: fold_name(section.heading) == fold_name(heading))
        if at is None:
            at = self._open(Section(level=_SOURCE_LEVEL, heading=heading))
        self._insert(at, self._place_in(self.sections[at].blocks, entry), block)

    def put_by(self, block: Block, entry: PageEntry) -> None:
        """A block in the section of its first source."""
        at = self._part_of(entry, self._home_of(entry))
        self._insert(at, self._place_in(self.sections[at].blocks, entry), block)

    def put_earlier(self, block: Block, entries: Sequence[PageEntry]) -> None:
        """A superseded block of these entries at the end of the page, the latest day first."""
        heading = earlier_heading(entries)
        at = next((at for at, section in enumerate(self.sections) if section.heading == heading), None)
        if at is None:
            at = next(
                (at for at, each in enumerate(self.sections) if is_earlier(each) and each.heading < heading),
                len(self.sections),
            )
            self.sections.insert(at, Section(level=_SOURCE_LEVEL, heading=heading))
        section = self.sections[at]
        self.sections[at] = replace(section, blocks=(*section.blocks, replace(block, depth=0)))

    def _home_of(self, entry: PageEntry) -> int:
        """The section named after a source: by heading, or by title where no other source stands there."""
        heading = fold_name(self._headings[entry.source_key])
        at = self._find(lambda section: section.level == _SOURCE_LEVEL and fold_name(section.heading) == heading)
        if at is not None:
            return at
        title = fold_name(heading_of(plain_title(entry.title) or entry.path))
        at = self._find(lambda section: fold_name(section.heading) == title and self._is_only(section, entry))
        return (
            self._open(Section(level=_SOURCE_LEVEL, heading=self._headings[entry.source_key]))
            if at is None
            else at
        )

    def _is_only(self, section: Section, entry: PageEntry) -> bool:
        sources = {said.source_key for block in section.blocks for said in self.reading.entries_of(block)}
        return section.level == _SOURCE_LEVEL and sources == {entry.source_key}

    def _part_of(self, entry: PageEntry, home: int) -> int:
        """The section, below that of its source, for the part of the source that an entry is from."""
        end = home + 1
        while end < len(self.sections) and self.sections[end].level > _SOURCE_LEVEL:
            end += 1
        if entry.section is None:
            before = [at for at in range(home, end) if self._keys_in(self.sections[at].blocks, entry, before=True)]
            return before[-1] if before else home
        if fold_name(entry.section) == fold_name(entry.title):
            return home
        part = heading_of(entry.section)
        for at in range(home + 1, end):
            if fold_name(self.sections[at].heading) == fold_name(part):
                return at
        self.sections.insert(end, Section(level=_SOURCE_LEVEL + 1, heading=part))
        return end

    def _place_in(self, blocks: Sequence[Block], entry: PageEntry) -> int:
        """Behind what the same source says before, else in front of what it says after, else at the end."""
        if before := self._keys_in(blocks, entry, before=True):
            return before[-1] + 1
        after = self._keys_in(blocks, entry, before=False)
        return after[0] if after else len(blocks)

    def _keys_in(self, blocks: Sequence[Block], entry: PageEntry, *, before: bool) -> list[int]:
        """Which blocks the same source says before (or after) an entry."""
        found: list[int] = []
        for at, block in enumerate(blocks):
            keys = [
                said.place_key
                for said in self.reading.entries_of(block)
                if said.source_key == entry.source_key and said.identity != entry.identity
            ]
            if keys and (min(keys) < entry.place_key) is before:
                found.append(at)
        return found

    def _insert(self, at: int, place: int, block: Block) -> None:
        blocks = list(self.sections[at].blocks)
        if block.kind is NodeKind.STEP and block.number is None:
            above = [step.number or 0 for step in blocks[:place] if _is_step(step, block.depth)]
            block = replace(block, number=above[-1] + 1 if above else 1)
        blocks.insert(place, block)
        self.sections[at] = replace(self.sections[at], blocks=tuple(_count_on(blocks, place)))

    def _open(self, section: Section) -> int:
        """A new section at the end, in front of what is superseded."""
        at = len(self.sections)
        while at and is_earlier(self.sections[at - 1]):
            at -= 1
        self.sections.insert(at, section)
        return at

    def _find(self, wanted: Callable[[Section], bool]) -> int | None:
        for at, section in enumerate(self.sections):
            if section.level and wanted(section) and not is_earlier(section):
                return at
        return None


def _is_step(block: Block, depth: int) -> bool:
    return block.kind is NodeKind.STEP and block.depth == depth


def _count_on(blocks: list[Block], place: int) -> list[Block]:
    """Steps behind a new one counted up as far as their numbers collide."""
    new = blocks[place]
    number = new.number
    if new.kind is not NodeKind.STEP or number is None:
        return blocks
    for at in range(place + 1, len(blocks)):
        if blocks[at].kind in (NodeKind.STEP, NodeKind.BULLET) and blocks[at].depth < new.depth:
            break
        if _is_step(blocks[at], new.depth):
            if blocks[at].number != number:
                break
            number += 1
            blocks[at] = replace(blocks[at], number=number)
    return blocks
