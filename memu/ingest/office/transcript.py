"""What was read of a document, on its way from the process that opened it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memu.errors import ReadError
from memu.ingest.document import Block, BlockKind
from memu.records import Kind

__all__ = ["Outline", "Transcript"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The blocks of a document in its order, each with its place and none with lines.

    title: what the document says that it is called, or "". damage: what had to be passed over.
    """

    kind: Kind = Kind.DOCUMENT
    title: str = ""
    blocks: tuple[Block, ...] = ()
    damage: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """As it is sent."""
        rows = [
            [each.kind, each.text, each.heading, each.depth, each.number, each.parent, each.language, each.place]
            for each in self.blocks
        ]
        told = {"kind": self.kind, "title": self.title, "blocks": rows, "damage": dict(self.damage)}
        return json.dumps(told)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Transcript:
        """As it was sent.

        Raises:
            KeyError, TypeError, ValueError: it was not.
        """
        blocks = (
            Block(
                kind=BlockKind(kind),
                text=text,
                lines=None,
                heading=tuple(heading),
                depth=depth,
                number=number,
                parent=parent,
                language=language,
                place=place,
            )
            for kind, text, heading, depth, number, parent, language, place in told["blocks"]
        )
        return cls(kind=Kind(told["kind"]), title=told["title"], blocks=tuple(blocks), damage=told["damage"])


@dataclass(slots=True)
class Outline:
    """Gathers blocks, under the headings that stand above them.

    place: where what is added next stands. most_text: how many characters may be gathered.
    """

    most_text: int
    place: str = ""
    blocks: list[Block] = field(default_factory=list)
    damage: Counter[str] = field(default_factory=Counter)
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _items: list[tuple[int, str]] = field(default_factory=list)
    _size: int = 0

    def add_heading(self, level: int, text: str) -> None:
        """A heading; ``level`` 1 is the outermost."""
        words = " ".join(text.split())
        if not words:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._add(Block(kind=BlockKind.HEADING, text=words, lines=None, depth=level))
        self._headings.append((level, words))

    def add_text(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        """A paragraph or another block that stands by itself."""
        if text.strip():
            self._items.clear()
            self._add(Block(kind=kind, text=text.strip(), lines=None))

    def add_item(self, text: str, depth: int, kind: BlockKind = BlockKind.BULLET) -> None:
        """An item of a list, nested so deep."""
        if not text.strip():
            return
        while self._items and self._items[-1][0] >= depth:
            self._items.pop()
        parent = self._items[-1][1] if self._items else None
        self._add(Block(kind=kind, text=text.strip(), lines=None, depth=depth, parent=parent))
        self._items.append((depth, text.strip()))

    def add_row(self, text: str, header: str | None, kind: BlockKind = BlockKind.TABLE, *, first: bool) -> None:
        """A row of a table, below its ``header`` if it has one."""
        self._items.clear()
        self._add(Block(kind=kind, text=text, lines=None, depth=int(not first), parent=header))

    def add_blocks(self, blocks: list[Block]) -> None:
        """Blocks that another reader made of what stands in this place, under headings of their own."""
        for block in blocks:
            above = self._above()
            self._take(replace(block, lines=None, rows=(), place=self.place, heading=(*above, *block.heading)))

    def finish(self, kind: Kind = Kind.DOCUMENT, title: str = "") -> Transcript:
        """What was gathered."""
        return Transcript(kind=kind, title=" ".join(title.split()), blocks=tuple(self.blocks), damage=self.damage)

    def open_section(self, *names: str) -> None:
        """What is added next stands under these names and under no heading before."""
        self._headings = [(level, name) for level, name in enumerate(names, 1) if name]
        self._items.clear()

    def _add(self, block: Block) -> None:
        self._take(replace(block, place=self.place, heading=self._above()))

    def _above(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _take(self, block: Block) -> None:
        self._size += len(block.text)
        if self._size > self.most_text:
            raise ReadError(f"its text is larger than {self.most_text / (1 << 20):.3g} MiB")
        self.blocks.append(block)
