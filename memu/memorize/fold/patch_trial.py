"""A model's operations tried one by one: what holds is carried out, what does not goes back with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memu.memorize.candidate import BlockForm
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.mend import close_page
from memu.memorize.fold.operations import Operation
from memu.memorize.fold.outline import NodeKind
from memu.memorize.fold.patch import Patched
from memu.memorize.fold.patch_claims import (
    Refused,
    check_words,
    find_dropped,
    find_left_out,
    read_heading,
    read_text,
    shape_like,
)
from memu.memorize.fold.patch_earlier import is_superseded
from memu.memorize.fold.patch_numbers import Numbers
from memu.memorize.fold.patch_places import Places
from memu.memorize.fold.patch_reading import Reading
from memu.memorize.fold.patch_sheet import Block
from memu.memorize.fold.patch_words import evidence_of, find_strange_words, plain_text, terms_of

__all__ = ["PROMPT_TOKENS", "Verdict", "try_operations"]

PROMPT_TOKENS = 6000
"""About how many tokens of a page and of what is new are shown to a model at once."""
_MOST_MOVED = 0.3
_DESCRIPTION_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The page with what was accepted, and what was not with the reasons."""

    patched: Patched
    accepted: tuple[Operation, ...] = ()
    refused: tuple[tuple[Operation, str], ...] = ()


def try_operations(reading: Reading, numbers: Numbers, operations: Iterable[Operation]) -> Verdict:
    """What the operations come to, in their order."""
    trial = _Trial(reading, numbers)
    accepted: list[Operation] = []
    refused: list[tuple[Operation, str]] = []
    for operation in operations:
        try:
            trial.carry_out(operation)
        except Refused as reason:
            refused.append((operation, f"{operation.label}: {reason}"))
        else:
            accepted.append(operation)
    patched = replace(trial.finish(), accepted=len(accepted), rejected=tuple(reason for _, reason in refused))
    return Verdict(patched=patched, accepted=tuple(accepted), refused=tuple(refused))


@dataclass(slots=True)
class _Trial:
    """What has been accepted so far.

    changed: name → the block that stands in its place. moved: name → the block as it was, and
    the identities that supersede it.
    added: heading ("" for the source's own) and block with its first source. said: identities.
    """

    reading: Reading
    numbers: Numbers
    changed: dict[str, Block] = field(default_factory=dict)
    moved: dict[str, tuple[Block, tuple[str, ...]]] = field(default_factory=dict)
    added: list[tuple[str, Block, PageEntry]] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    description: tuple[str, tuple[str, ...]] | None = None
    told: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.told = frozenset().union(*(terms_of(evidence_of(entry)) for entry in self.reading.draft.entries))

    def carry_out(self, operation: Operation) -> None:
        """Raises:
        Refused: it does not hold.
        """
        match operation.op:
            case "add":
                self._add(operation)
            case "replace":
                self._replace(operation)
            case "remove":
                self._remove(operation)
            case "same_as":
                self._join(operation)
            case "description":
                self._describe(operation)

    def finish(self) -> Patched:
        """The page as it comes out."""
        names = {place: name for name, place in self.numbers.blocks.items()}
        open_said = self.said & self.reading.open.keys()
        places = Places(self.reading)
        for at, section in enumerate(self.reading.sections):
            blocks: list[Block] = []
            for index, block in enumerate(section.blocks):
                name = names.get((at, index))
                if name is not None and (name in self.changed or name in self.moved):
                    blocks += [self.changed[name]] if name in self.changed else []
                elif not open_said.issuperset(block.cites):
                    blocks.append(block)
            places.sections[at] = replace(section, blocks=tuple(blocks))
        for heading, block, entry in self.added:
            if heading:
                places.put_under(heading, block, entry)
            else:
                places.put_by(block, entry)
        for block, newer in self.moved.values():
            superseded = replace(block, cites=(*block.cites, *newer))
            places.put_earlier(superseded, self.reading.entries_of(block))
        patched = close_page(self.reading, places)
        if self.description is None:
            return patched
        return replace(patched, description=self.description[0], description_cites=self.description[1])

    def _add(self, operation: Operation) -> None:
        cited = self._cited(operation.cites)
        new = self._new_of(operation.cites)
        if not new:
            raise Refused("it cites nothing that is still to be said")
        block = self._read(operation.text, cited, new)
        self._say(new)
        first = min(new, key=lambda entry: entry.place_key)
        self.added.append((read_heading(operation.section, self.reading.draft), block, first))

    def _replace(self, operation: Operation) -> None:
        old = self._block(operation.block)
        if operation.block in self.changed:
            raise Refused("this block was changed already")
        own, cited = self.reading.entries_of(old), self._cited(operation.cites, may_be_empty=True)
        new = self._new_of(operation.cites)
        block = shape_like(old, self._read(operation.text, (*own, *cited), new))
        left_out = find_dropped(old, block)
        if not left_out:
            cites = dict.fromkeys([*old.cites, *(entry.identity for entry in cited)])
            self.changed[operation.block] = replace(block, cites=tuple(cites))
        elif newer := tuple(entry.identity for entry in new if is_superseded(own, entry)):
            self._check_room()
            self.changed[operation.block] = shape_like(old, self._read(operation.text, new, new))
            self.moved[operation.block] = old, newer
        else:
            raise Refused(f"it leaves out {left_out} of the block, and no newer entry says otherwise")
        self._say(new)

    def _remove(self, operation: Operation) -> None:
        old = self._block(operation.block)
        if operation.block in self.changed:
            raise Refused("this block was changed already")
        newer = self.numbers.entries.get(operation.by)
        if newer is None:
            raise Refused("sources still say it; only a newer entry can supersede it, named as by")
        if not is_superseded(self.reading.entries_of(old), newer):
            raise Refused(f"{operation.by} is not dated after it, or speaks of other things")
        self._check_room()
        self.moved[operation.block] = old, (newer.identity,)

    def _join(self, operation: Operation) -> None:
        block = self.changed.get(operation.block) or self._block(operation.block)
        entry = self.numbers.entries.get(operation.entry)
        if entry is None or entry.identity in self.said:
            raise Refused("there is no such entry still to be said")
        if left_out := find_left_out(entry, block):
            raise Refused(f"the block does not say {left_out} of it")
        self.changed[operation.block] = replace(block, cites=(*block.cites, entry.identity))
        self._say((entry,))

    def _describe(self, operation: Operation) -> None:
        text = " ".join(operation.text.split())
        cited = self._cited(operation.cites)
        if not text or len(text) > _DESCRIPTION_CHARS or "[^" in text:
            raise Refused(f"a description is one line of at most {_DESCRIPTION_CHARS} characters without marks")
        check_words(text, cited, name=self.reading.draft.name, told=self.told)
        if strange := find_strange_words(text, (*map(evidence_of, cited), self.reading.draft.name)):
            raise Refused(f"{', '.join(strange)} stand in nothing that it cites")
        self.description = text, tuple(dict.fromkeys(entry.id for entry in cited))

    def _read(self, text: str, cited: Sequence[PageEntry], new: Sequence[PageEntry]) -> Block:
        """The text as a block that cites ``cited`` and says what is ``new``."""
        block = read_text(text, cited)
        check_words(_words_to_check(text, block, cited), cited, name=self.reading.draft.name, told=self.told)
        for entry in new:
            if left_out := find_left_out(entry, block):
                raise Refused(f"it leaves out {left_out} of {self._name_of(entry)}")
        return replace(block, cites=tuple(dict.fromkeys(entry.identity for entry in cited)))

    def _cited(self, names: Sequence[str], *, may_be_empty: bool = False) -> tuple[PageEntry, ...]:
        found: list[PageEntry] = []
        for name in names:
            if entry := self.numbers.entries.get(name):
                found += self.reading.said[entry.identity]
            elif place := self.numbers.blocks.get(name):
                found += self.reading.entries_of(self.reading.sections[place[0]].blocks[place[1]])
            else:
                raise Refused(f"{name[:20]} is not there")
        if not found and not may_be_empty:
            raise Refused("it cites nothing")
        return tuple(dict.fromkeys(found))

    def _new_of(self, names: Sequence[str]) -> tuple[PageEntry, ...]:
        """The cited entries that nothing says yet."""
        found = (self.numbers.entries.get(name) for name in names)
        return tuple(dict.fromkeys(entry for entry in found if entry and entry.identity not in self.said))

    def _block(self, name: str) -> Block:
        place = self.numbers.blocks.get(name)
        if place is None:
            raise Refused("there is no such block")
        if name in self.moved:
            raise Refused("this block was superseded already")
        return self.reading.sections[place[0]].blocks[place[1]]

    def _check_room(self) -> None:
        most = max(1, int(_MOST_MOVED * len(self.numbers.blocks)))
        if len(self.moved) >= most:
            raise Refused(f"at most {most} blocks of this page may be superseded at once")

    def _say(self, entries: Iterable[PageEntry]) -> None:
        self.said.update(entry.identity for entry in entries)

    def _name_of(self, entry: PageEntry) -> str:
        return next(name for name, each in self.numbers.entries.items() if each == entry)


def _words_to_check(text: str, block: Block, cited: Sequence[PageEntry]) -> str:
    """The words that must be somebody's: code is held to its source elsewhere, a step's number is its place."""
    if block.kind is NodeKind.FENCE:
        return block.lead
    # In front of anything but a step a number may be a day ("4. März").
    is_step = block.kind is NodeKind.STEP and all(entry.shape.form is BlockForm.STEP for entry in cited)
    return plain_text(block) if is_step else text
