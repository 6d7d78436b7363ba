"""A page taken apart into sections and blocks, and written again: what is not touched comes back as it stood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from memu.memorize.candidate import BlockForm, BlockShape
from memu.memorize.fold.blocks import PageBlock, parse_blocks
from memu.memorize.fold.lists import OpenLists
from memu.memorize.fold.marks import format_marks
from memu.memorize.fold.outline import NodeKind, read_outline

__all__ = ["Block", "Section", "cite", "drop_empty", "read_sheet", "write_sheet"]

_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?P<language>[^\s`]*)")
_NUMBER = re.compile(r"\s*(\d{1,9})[.)]")
_FORMS = {NodeKind.BULLET: BlockForm.BULLET, NodeKind.STEP: BlockForm.STEP}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block without its marks.

    text: inline Markdown, or a fence's code. cites: what it rests on: marks as read, identities once settled.
    lead: the line above a fence. number: a step's. depth: how many items it is nested in.
    """

    kind: NodeKind
    text: str
    cites: tuple[str, ...]
    lead: str = ""
    language: str = ""
    number: int | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading (inline Markdown) and the blocks up to the next; level 0: what stands above the first heading."""

    level: int
    heading: str
    blocks: tuple[Block, ...] = ()


def read_sheet(content: str) -> tuple[Section, ...]:
    """The sections of a page in order; a block without any words is left out."""
    lines = content.split("\n")
    starts = [node.start for node in read_outline(lines) if node.kind is NodeKind.HEADING]
    blocks = [block for block in parse_blocks(content) if block.text.strip() or block.kind is NodeKind.FENCE]
    edges = [-1, *starts, len(lines)]
    sections: list[Section] = []
    for start, end in pairwise(edges):
        inside = tuple(_read_block(block, lines) for block in blocks if start < block.start < end)
        if start >= 0:
            line = lines[start].strip()
            text = line.lstrip("#")
            sections.append(Section(level=len(line) - len(text), heading=text.strip(), blocks=inside))
        elif inside:
            sections.append(Section(level=0, heading="", blocks=inside))
    return tuple(sections)


def write_sheet(sections: Sequence[Section], marks: Mapping[str, str]) -> str:
    """The page's content; ``marks`` gives the mark of whatever a block cites."""
    parts = [part for section in drop_empty(sections) for part in _write_section(section, marks)]
    return "\n\n".join(parts) + "\n" if parts else ""


def drop_empty(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Without sections that have no block in them or in the sections below them."""
    kept: list[Section] = []
    lowest = 7
    for section in reversed(sections):
        # Whether something that stays stands under it: the next that stays is of a lower level than its own.
        if section.blocks or (kept and lowest > section.level > 0 and kept[-1].level > section.level):
            kept.append(section)
            lowest = section.level or 7
    return tuple(reversed(kept))


def cite(sections: Sequence[Section], names: Mapping[str, str]) -> tuple[Section, ...]:
    """The sections with what each block cites under another name; what has none is cited no more."""
    return tuple(
        replace(
            section,
            blocks=tuple(
                replace(block, cites=tuple(dict.fromkeys(names[cited] for cited in block.cites if cited in names)))
                for block in section.blocks
            ),
        )
        for section in sections
    )


def _read_block(block: PageBlock, lines: Sequence[str]) -> Block:
    raw = lines[block.start : block.end]
    language, number = "", None
    if block.kind is NodeKind.FENCE:
        found = next((match for line in raw if (match := _FENCE_LINE.match(line))), None)
        language = found["language"] if found else ""
    elif block.kind is NodeKind.STEP:
        counted = _NUMBER.match(raw[0])
        number = int(counted[1]) if counted else None
    return Block(
        kind=block.kind,
        text=block.text,
        cites=block.marks,
        lead=block.lead,
        language=language,
        number=number,
        depth=block.depth,
    )


def _write_section(section: Section, marks: Mapping[str, str]) -> Iterator[str]:
    if section.level:
        yield f"{'#' * section.level} {section.heading}"
    for is_list, run in groupby(section.blocks, lambda block: block.kind in _FORMS):
        if is_list:
            yield _write_list(tuple(run), marks)
        else:
            yield from (_write_block(block, marks) for block in run)


def _write_list(items: Sequence[Block], marks: Mapping[str, str]) -> str:
    lists, number, text = OpenLists(), 0, ""
    for item in items:
        number = number + 1 if item.number is None else item.number
        form = _FORMS[item.kind]
        place = lists.place(BlockShape(form=form, number=number, depth=item.depth), number)
        words = f"{item.text} {_cite(item, marks)}".replace("\n", "\n" + " " * len(place.marker))
        lines = "\n".join(" " * place.indent + line for line in f"{place.marker}{words}".split("\n"))
        text = lines if not text else f"{text}\n{lines}" if place.tight else f"{text}\n\n{lines}"
    return text


def _write_block(block: Block, marks: Mapping[str, str]) -> str:
    cited = _cite(block, marks)
    if block.kind is NodeKind.FENCE:
        longest = max((len(run) for run in re.findall(r"`+", block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        lead = f"{block.lead}\n\n" if block.lead else ""
        return f"{lead}{fence}{block.language}\n{block.text}\n{fence}\n{cited}"
    if block.kind is NodeKind.QUOTE:
        return "> " + f"{block.text} {cited}".replace("\n", "\n> ")
    if block.kind is NodeKind.UNIT:
        return f"{block.text}\n\n{cited}"
    return f"{block.text} {cited}"


def _cite(block: Block, marks: Mapping[str, str]) -> str:
    return format_marks(dict.fromkeys(marks[cited] for cited in block.cites))
