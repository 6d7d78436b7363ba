"""Agent Skills (``SKILL.md`` by the public specification): whole, on one page of the skill track."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath

from memu.ingest.document import BlockKind, Document
from memu.memorize.candidate import BlockForm, Candidate, Extraction
from memu.memorize.extractors.procedures import extract_procedure
from memu.memorize.extractors.quotes import order_by_source, quote
from memu.memorize.extractors.sections import clean_heading, split_sections
from memu.memorize.extractors.trust import vouches_for_nothing
from memu.memorize.sentences import Slice
from memu.records import MemoryType, Track

__all__ = ["extract_agent_skill", "is_agent_skill"]


def is_agent_skill(document: Document, path: str) -> bool:
    """Whether this is a skill as its specification has it, with a name and a description, and may teach one."""
    named = PurePosixPath(path).name == "SKILL.md" and document.titled and document.description
    return bool(named) and not vouches_for_nothing(document)


def extract_agent_skill(document: Document) -> Extraction:
    """What it is for, then every section in its own form; a heading stands in front of the first of its blocks."""
    dropped: Counter[str] = Counter()
    found = _quote_description(document)
    for section in split_sections(document):
        made = extract_procedure(document, section, dropped, page=document.title)
        if made and section.heading:
            index, first = made[0]
            made[0] = (index, replace(first, label=clean_heading(section.heading[-1])))
        found += made
    return Extraction(candidates=order_by_source(found), dropped=dict(dropped))


def _quote_description(document: Document) -> list[tuple[int, Candidate]]:
    """The header's own words of what the skill is for and when, where they stand there as one line."""
    for index, block in enumerate(document.blocks):
        start = block.text.find(document.description)
        if block.kind is BlockKind.DATA and start >= 0:
            like = Candidate(
                text="",
                lines=None,
                # What it is for is no step of it; a page's description is known by that.
                memory_type=MemoryType.KNOWLEDGE,
                track=Track.SKILL,
                block=BlockForm.PARAGRAPH,
                page_hint=document.title,
                section=document.title,
            )
            piece = Slice(document.description, start, start + len(document.description))
            return [(index, quote(block, piece, like))]
    return []
