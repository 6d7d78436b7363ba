"""A document's blocks, gathered by the headings they stand under."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.extractors.cue_words import Phrases, load_phrases
from memu.memorize.extractors.noise import strip_markup

__all__ = [
    "HEADING_JOINT",
    "Section",
    "clean_heading",
    "is_decision",
    "join_heading",
    "label_block",
    "matches_heading",
    "split_sections",
]

HEADING_JOINT = " > "
_MAX_ABOVE = 160
_STEP_WORD = r"(?:step|schritt|paso|part|teil|parte|phase|chapter|kapitel)"
_NUMBERING = re.compile(
    rf"^(?:{_STEP_WORD}\s+)?(?:\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}[.):：、]?|[ivx]{{1,5}}[.)]|[a-z]\))(?:\s+|$)"
    rf"|^{_STEP_WORD}\s+\d{{1,3}}\s*[:：.–—-]\s*"
    r"|^第?[一二三四五六七八九十百\d]{1,4}(?:[章节步、.．]|步骤)\s*[:：]?\s*",
    re.IGNORECASE,
)
_EMOJI = re.compile(r"[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+|:[a-z_+-]{2,30}:")


@dataclass(frozen=True, slots=True)
class Section:
    """Neighbouring blocks under one heading path. ``indices`` are their places in the document."""

    heading: tuple[str, ...]
    blocks: tuple[Block, ...]
    indices: tuple[int, ...]

    def is_under(self, phrases: Phrases) -> bool:
        """Whether any heading above these blocks is, or begins or ends with, one of the phrases."""
        return any(matches_heading(heading, phrases) for heading in self.heading)


def split_sections(document: Document) -> tuple[Section, ...]:
    """The sections in source order; heading blocks themselves are left out."""
    sections: list[Section] = []
    blocks: list[Block] = []
    indices: list[int] = []
    for index, block in enumerate(document.blocks):
        if blocks and (block.kind is BlockKind.HEADING or block.heading != blocks[0].heading):
            sections.append(Section(blocks[0].heading, tuple(blocks), tuple(indices)))
            blocks, indices = [], []
        if block.kind is not BlockKind.HEADING:
            blocks.append(block)
            indices.append(index)
    if blocks:
        sections.append(Section(blocks[0].heading, tuple(blocks), tuple(indices)))
    return tuple(sections)


@lru_cache(maxsize=1024)
def clean_heading(heading: str) -> str:
    """A heading as a name: without numbering, markup, emoji and closing punctuation.

    >>> clean_heading("2.1 Restore a `database`:"), clean_heading("Step 3: Deploy")
    ('Restore a database', 'Deploy')
    """
    plain = _EMOJI.sub(" ", strip_markup(heading)).strip(" .:：#-–—*")
    bare = _NUMBERING.sub("", plain, count=1).strip(" .:：#-–—*")
    return re.sub(r"\s+", " ", bare or plain)


def matches_heading(heading: str, phrases: Phrases) -> bool:
    """Whether a heading is one of the phrases, or begins with one and goes on ("Decision: use RDS")."""
    name = clean_heading(heading)
    if phrases.name(name):
        return True
    rest = phrases.strip_from(name)
    return rest != name and rest[:1] in {":", "：", "-", "–", "(", "（"}


def join_heading(heading: Sequence[str]) -> str:
    """A heading path in one line, as a label: names only, outermost first."""
    return HEADING_JOINT.join(part for part in map(clean_heading, heading) if part)


def label_block(block: Block, lead_in: str = "") -> str:
    """What stands in front of a quote: the heading path, then the parent bullet or the list's lead-in if short."""
    heading = join_heading(block.heading)
    above = strip_markup(block.parent or lead_in).rstrip(" :：")
    if not above or len(above) > _MAX_ABOVE or heading.endswith(above):
        return heading
    return f"{heading}{HEADING_JOINT}{above}" if heading else above


def is_decision(section: Section) -> bool:
    """Whether the section states what was decided."""
    return section.is_under(load_phrases("decision_headings"))
