"""Procedures: how something is done, verbatim, for the skill track.

A section is one when its structure says so: three or more ordered steps that begin like instructions, or a how-to
heading over shell commands. Where the source speaks to a model (see ``trust``), nothing is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import BlockForm, Candidate
from memu.memorize.extractors.cue_words import load_phrases, load_source_words
from memu.memorize.extractors.imperatives import count_commands, is_imperative
from memu.memorize.extractors.noise import has_words, is_noise
from memu.memorize.extractors.opaque import is_opaque
from memu.memorize.extractors.quotes import bound, cut_fence, form_of, quote_pieces, shape_like
from memu.memorize.extractors.sections import Section, clean_heading, is_decision
from memu.records import MemoryType, Track

__all__ = ["extract_procedure", "is_procedure", "name_procedure"]

_MIN_STEPS = 3
_MAX_FENCE_PIECES = 3
_MAX_PER_SECTION = 60
_LISTED = frozenset({BlockKind.STEP, BlockKind.BULLET})
_UNQUOTED = frozenset({BlockKind.TABLE, BlockKind.DATA})
_GERUND = re.compile(r"^([A-Za-z]{3,}ing)\s+\S")


@dataclass(frozen=True, slots=True)
class _Signs:
    """What a section shows of being a procedure."""

    steps: int
    imperative_steps: int
    imperatives: int
    prose: int
    shell_fences: int
    command_lines: int
    howto: bool


def is_procedure(section: Section, title: str) -> bool:
    """Whether the section tells how something is done."""
    if is_decision(section) or section.is_under(load_phrases("skipped_headings", "note_headings")):
        return False
    signs = _read_signs(section, title)
    if signs.steps >= _MIN_STEPS:
        half = 2 * signs.imperative_steps >= signs.steps
        return half or ((signs.howto or signs.shell_fences > 1) and signs.imperative_steps > 0)
    if signs.howto and signs.shell_fences:
        return signs.imperatives > 0 or signs.command_lines > 1 or _names_procedure(section)
    # Commands that are each introduced by an instruction; the examples of a reference are not.
    introduced = signs.imperatives >= signs.shell_fences and 2 * signs.imperatives >= signs.prose
    return signs.shell_fences >= 2 and introduced


def name_procedure(section: Section, title: str) -> str:
    """The nearest heading that names something, cleaned of numbering; else the source's title."""
    for heading in reversed(section.heading):
        name = clean_heading(heading)
        if name and not load_phrases("generic_headings").name(name):
            return name
    return clean_heading(title)


def extract_procedure(
    document: Document, section: Section, dropped: Counter[str], page: str | None = None
) -> list[tuple[int, Candidate]]:
    """One candidate a step, fence or paragraph of the section, each with its block's index.

    ``page`` names the page, where it is not the section that does.
    """
    like = Candidate(
        text="",
        lines=None,
        memory_type=MemoryType.SKILL,
        track=Track.SKILL,
        page_hint=page or name_procedure(section, document.title),
        section=document.title,
        happened_at=document.happened_at,
    )
    found: list[tuple[int, Candidate]] = []
    above: list[Block] = []
    cut = _find_cut_fences(section)
    if cut:
        dropped["long_fence"] += 1
    for index, block in zip(section.indices, section.blocks, strict=True):
        made = [] if index in cut else _quote_block(_settle_depth(block, above), like, dropped)
        if made and block.kind in _LISTED:
            above.append(block)
        elif made:
            above.clear()
        if len(found) + len(made) > _MAX_PER_SECTION:
            dropped["over_section_limit"] += len(made)
            continue
        found += [(index, candidate) for candidate in made]
    return found


def _settle_depth(block: Block, above: list[Block]) -> Block:
    """The block nested only where its parent was kept and nothing but items stands between. Trims ``above``."""
    while above and above[-1].depth >= block.depth:
        above.pop()
    # Readers fold a parent's text and may shorten it; its beginning tells it.
    nested = bool(above) and block.parent is not None and above[-1].text.startswith(block.parent[:40])
    return block if nested else replace(block, depth=0)


def _find_cut_fences(section: Section) -> frozenset[int]:
    """The indices of blocks that a reader made of one fence too long for one block; half a fence is no use."""
    cut: set[int] = set()
    pairs = zip(section.indices, section.blocks, strict=True)
    for (before, one), (after, other) in pairwise(pairs):
        fences = one.kind is BlockKind.FENCE and other.kind is BlockKind.FENCE
        if fences and one.lines and other.lines and other.lines.start <= one.lines.end + 1:
            cut |= {before, after}
    return frozenset(cut)


def _quote_block(block: Block, like: Candidate, dropped: Counter[str]) -> list[Candidate]:
    like = shape_like(block, like)
    if is_opaque(block.text):
        dropped["noise"] += 1
        return []
    if like.block is BlockForm.FENCE:
        pieces = cut_fence(block.text)
        if pieces is None or len(pieces) > _MAX_FENCE_PIECES:
            dropped["long_fence"] += 1
            return []
    elif block.kind in _UNQUOTED or not (has_words(block.text) or "`" in block.text):
        dropped["noise"] += 1
        return []
    else:
        pieces = tuple(bound(block.text))
    return quote_pieces(block, pieces, like)


def _read_signs(section: Section, title: str) -> _Signs:
    steps = [block for block in section.blocks if block.kind is BlockKind.STEP and block.depth == 0]
    real = [block for block in steps if not is_noise(block.text)]
    prose = [block for block in section.blocks if block.kind in {*_LISTED, BlockKind.PARAGRAPH}]
    fences = [block for block in section.blocks if form_of(block) is BlockForm.FENCE]
    shells = [block for block in fences if _is_shell(block)]
    named = section.heading[-1] if section.heading else title
    return _Signs(
        steps=len(real),
        imperative_steps=sum(is_imperative(block.text) for block in real),
        imperatives=sum(is_imperative(block.text) and not is_noise(block.text) for block in prose),
        prose=len(prose),
        shell_fences=len(shells),
        command_lines=sum(count_commands(block.text) for block in shells),
        howto=_is_howto(named),
    )


def _is_howto(heading: str) -> bool:
    name = clean_heading(heading)
    if load_phrases("howto_headings").open(name):
        return True
    gerund = _GERUND.match(name)
    if gerund and not load_phrases("not_gerunds").name(gerund.group(1)):
        return True
    # "GET requests" is a noun, and Chinese verbs at the head of a heading mostly are.
    return len(name.split()) > 1 and name.isascii() and not name.split()[0].isupper() and is_imperative(name)


def _names_procedure(section: Section) -> bool:
    """Whether the heading says by itself what its command does ("Install"; not "Usage", of anything)."""
    name = clean_heading(section.heading[-1]) if section.heading else ""
    return load_phrases("howto_headings").name(name) and not load_phrases("generic_headings").name(name)


def _is_shell(block: Block) -> bool:
    if block.language in load_source_words("shells"):
        return count_commands(block.text) > 0
    return block.language in {"", "text", "none"} and count_commands(block.text) > 0
