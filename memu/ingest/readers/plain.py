"""Plain text: paragraphs, lists and headings where the layout leaves no doubt, Org outlines, and transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.dates import find_dateline
from memu.ingest.readers.meeting import SPOKEN, is_meeting, is_transcript
from memu.ingest.readers.runs import NumberedLine, fold, keep, number_lines, replace_text, spread
from memu.records import Kind

__all__ = ["PlainReader", "TranscriptReader", "read_plain_blocks"]

_BULLET = re.compile(r"[ \t]*(?:[-*+•·‣◦▪●○–]|\[[ xX]\])[ \t]+(?=\S)")
_STEP = re.compile(r"[ \t]*(?:\d{1,3}[.)、]|\(\d{1,3}\)|(?i:step) \d{1,3}[:.])[ \t]+(?=\S)")
_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,4})\.?[ \t]+\S[^.!?。]{0,78}$")
_UNDERLINE = re.compile(r"([=\-~^*#])\1{2,}[ \t]*$")
_HEADLINE = re.compile(r"(\*{1,20})[ \t]+(?=\S)")
_STATES = re.compile(r"(?:TODO|DONE|NEXT|WAIT(?:ING)?|HOLD|STARTED|CANCELL?ED)[ \t]|\[#[A-Z]\]")
_HEADING_LIMIT = 80
_TEXT_SUFFIXES = frozenset([".txt", ".text", ".md", ".markdown", ""])


class PlainReader:
    """The reader of last resort."""

    name = "plain"
    suffixes = frozenset([".txt", ".text", ".org"])

    def recognises(self, source: Source) -> bool:
        return False

    def read(self, source: Source) -> Document:
        outline = find_suffix(source.path) == ".org"
        blocks = read_plain_blocks(number_lines(source.text.split("\n")), outline=outline)
        title = blocks[0].text if blocks and blocks[0].kind is BlockKind.HEADING else None
        if title:
            blocks = [
                replace(block, heading=block.heading[1:]) if block.heading[:1] == (title,) else block
                for block in blocks
            ]
        return assemble(
            source,
            kind=Kind.MEETING if is_meeting(title or "", blocks) else Kind.DOCUMENT,
            title=title,
            blocks=blocks,
            happened_at=next(filter(None, (find_dateline(block.text) for block in blocks[:8])), None),
        )


class TranscriptReader:
    """Text in which most lines say who spoke (``Alice: …``)."""

    name = "transcript"
    suffixes: frozenset[str] = frozenset()

    def recognises(self, source: Source) -> bool:
        return find_suffix(source.path) in _TEXT_SUFFIXES and is_transcript(
            number_lines(source.text[:HEAD].split("\n"))
        )

    def read(self, source: Source) -> Document:
        blocks: list[Block] = []
        for speaker, run in _cut_turns(number_lines(source.text.split("\n"))):
            kind = BlockKind.TURN if speaker else BlockKind.PARAGRAPH
            blocks += spread(Block(kind=kind, text="", lines=None, speaker=speaker), fold(run))
        lead = [block.text for block in blocks[:3] if block.kind is BlockKind.PARAGRAPH]
        return assemble(
            source,
            kind=Kind.MEETING,
            blocks=blocks,
            happened_at=next(filter(None, map(find_dateline, lead)), None),
        )


def read_plain_blocks(run: Sequence[NumberedLine], *, outline: bool = False) -> list[Block]:
    """The blocks of plain text. ``outline``: stars at a line's beginning make it a headline, as Org has them."""
    layout = _Layout(outline)
    place = 0
    while place < len(run):
        place = layout.take(run, place)
    layout.flush()
    return layout.blocks


@dataclass(slots=True)
class _Layout:
    outline: bool = False
    blocks: list[Block] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    held: list[NumberedLine] = field(default_factory=list)
    kind: BlockKind = BlockKind.PARAGRAPH
    items: list[tuple[int, str]] = field(default_factory=list)
    indent: int = 0
    number: int | None = None

    def take(self, run: Sequence[NumberedLine], place: int) -> int:
        """Reads the line at ``place`` and says where to go on."""
        line = run[place]
        text = line.text.strip()
        if not text:
            self.flush()
            return place + 1
        if self.outline and (headline := _HEADLINE.match(line.text)):
            self._take_headline(len(headline[1]), replace_text(line, line.text[headline.end() :]))
            return place + 1
        level, used = self._find_heading(run, place)
        if level:
            self.flush()
            self._take_heading(level, line)
            return place + used
        if marker := _BULLET.match(line.text) or _STEP.match(line.text):
            self.flush()
            digits = None if _BULLET.match(line.text) else _DIGITS.search(marker.group())
            self.kind = BlockKind.STEP if digits else BlockKind.BULLET
            self.number = int(digits.group()) if digits else None
            self.indent = len(line.text) - len(line.text.lstrip())
            self.held.append(replace_text(line, line.text[marker.end() :]))
        elif _UNDERLINE.fullmatch(text):
            self.flush()
        else:
            self._take_text(line)
        return place + 1

    def flush(self) -> None:
        """Ends the block that is being gathered."""
        pieces = fold(self.held)
        if pieces and self.kind in (BlockKind.BULLET, BlockKind.STEP):
            while self.items and self.items[-1][0] >= self.indent:
                self.items.pop()
            template = replace(
                self._template(self.kind),
                depth=len(self.items),
                number=self.number,
                parent=self.items[-1][1] if self.items else None,
            )
            self.items.append((self.indent, pieces[0].text))
            self.blocks += spread(template, pieces)
        elif pieces:
            self.blocks += spread(self._template(self.kind), pieces)
        self.held, self.kind, self.number = [], BlockKind.PARAGRAPH, None

    def _take_text(self, line: NumberedLine) -> None:
        quoted = line.text.startswith(">")
        if quoted != (self.kind is BlockKind.QUOTE) and (quoted or self.kind is BlockKind.QUOTE):
            self.flush()
        if quoted:
            self.kind = BlockKind.QUOTE
            line = replace_text(line, line.text.lstrip("> "))
        indented = line.text[:1] in (" ", "\t")
        if not indented and self.kind is BlockKind.PARAGRAPH:
            self.items = []
        self.held.append(line)

    def _template(self, kind: BlockKind) -> Block:
        return Block(kind=kind, text="", lines=None, heading=tuple(text for _, text in self.headings))

    def _take_heading(self, level: int, line: NumberedLine) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.items = []
        pieces = keep([replace_text(line, line.text.strip())])
        self.blocks += spread(replace(self._template(BlockKind.HEADING), depth=level), pieces)
        self.headings.append((level, pieces[0].text))

    def _take_headline(self, level: int, line: NumberedLine) -> None:
        """A headline heads what follows; one that is something to do, or a whole sentence, is an item."""
        self.flush()
        text = line.text.strip()
        if not _STATES.match(text) and len(text) <= _HEADING_LIMIT and text[-1] not in ".!?":
            self._take_heading(level, line)
            return
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.items, self.kind, self.indent = [], BlockKind.BULLET, 0
        self.held.append(line)
        self.flush()

    def _find_heading(self, run: Sequence[NumberedLine], place: int) -> tuple[int, int]:
        """The level of the heading at ``place`` (0 for none) and how many lines it takes."""
        text = run[place].text.strip()
        if self.held or len(text) > _HEADING_LIMIT or run[place].text[:1] in (" ", "\t"):
            return 0, 1
        after = run[place + 1].text.strip() if place + 1 < len(run) else ""
        if (match := _UNDERLINE.fullmatch(after)) and len(after) >= len(text) // 2 and not _UNDERLINE.match(text):
            return (1 if match[1] in "=#*" else 2), 2
        if not after and (match := _NUMBERED.fullmatch(text)):
            return 1 + match[1].count("."), 1
        shouted = text.isupper() and sum(map(str.isalpha, text)) > 3 and text[-1] not in ".,;!?"
        return (2 if shouted and not after and not _BULLET.match(text) else 0), 1


def _cut_turns(run: Sequence[NumberedLine]) -> Iterator[tuple[str | None, list[NumberedLine]]]:
    speaker: str | None = None
    held: list[NumberedLine] = []
    for line in run:
        text = line.text.strip()
        match = SPOKEN.match(text)
        if match or not text:
            if held:
                yield speaker, held
            held = []
        if match:
            speaker = match[1]
            text = text[match.end() :]
        if text:
            held.append(replace_text(line, text))
    if held:
        yield speaker, held
