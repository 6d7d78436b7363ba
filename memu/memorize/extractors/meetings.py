"""Meetings: decisions, actions and numbers, with the speaker or the parent bullet in front."""

from __future__ import annotations

import re
from collections import Counter

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import Candidate, Extraction
from memu.memorize.extractors.commitments import commits, find_people, settles
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.memory_types import classify_written, has_date, has_number
from memu.memorize.extractors.noise import is_noise
from memu.memorize.extractors.quotes import bound_slice, quote
from memu.memorize.extractors.sections import label_block, matches_heading
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.extractors.verdicts import find_label, name_type, sort_by_lists
from memu.memorize.sentences import Slice, count_words, split_sentences
from memu.records import MemoryType

__all__ = ["extract_meeting"]

_MAX_PER_SOURCE = 120
_MIN_WORDS = 4
_READ = frozenset({BlockKind.TURN, BlockKind.PARAGRAPH, BlockKind.BULLET, BlockKind.STEP, BlockKind.QUOTE})
_ENDS_OPEN = re.compile(r"[:：]\W*$")
_QUESTION = re.compile(r"[?？]\W*$")


def extract_meeting(document: Document) -> Extraction:
    """What was decided, who does what, and the figures named; source order."""
    found: list[Candidate] = []
    dropped: Counter[str] = Counter()
    people = find_people(document.blocks)
    for block, listed in sort_by_lists(document.blocks):
        if block.kind not in _READ:
            dropped["no_speech"] += block.kind is not BlockKind.HEADING
            continue
        if any(matches_heading(heading, load_phrases("skipped_headings")) for heading in block.heading):
            dropped["skipped_section"] += 1
            continue
        under = listed or _type_of_heading(block)
        # A line "Decision: …" of a transcript reads as if somebody of that name had spoken.
        named = name_type(block.speaker) if block.speaker else None
        for at, sentence in enumerate(split_sentences(block.text)):
            told = find_label(sentence.text) or under or (named if at == 0 else None)
            memory_type = _classify(block, sentence.text, told, people)
            if memory_type is None or len(found) >= _MAX_PER_SOURCE:
                dropped["unchosen" if memory_type is None else "over_source_limit"] += 1
                continue
            found += _quote(document, block, sentence, memory_type)
    return Extraction(candidates=tuple(found), dropped=dict(dropped))


def _classify(block: Block, text: str, told: MemoryType | None, people: frozenset[str]) -> MemoryType | None:
    """The type of a sentence worth keeping, or None. ``told``: what its label or its list says that it is."""
    if is_noise(text) or instructs_model(text) or _ENDS_OPEN.search(text):
        return None
    if told is not None:
        return told if count_words(text) >= 2 else None
    rest = load_phrases("greetings", "acknowledgements").strip_from(text)
    if count_words(rest) < _MIN_WORDS or load_phrases("remarks").open(rest):
        return None
    if _QUESTION.search(text):
        # "Charlie, can you …?" hands out a task; other questions state nothing.
        asked = block.speaker is not None and load_phrases("assignments").are_in(text)
        return MemoryType.ACTION if asked else None
    if settles(text):
        return MemoryType.DECISION
    if commits(rest, people):
        return MemoryType.ACTION
    telling = load_phrases("actions").are_in(text) or has_number(text) or has_date(text)
    return classify_written(text) if telling else None


def _type_of_heading(block: Block) -> MemoryType | None:
    return next(filter(None, map(name_type, reversed(block.heading))), None)


def _quote(document: Document, block: Block, sentence: Slice, memory_type: MemoryType) -> list[Candidate]:
    like = Candidate(
        text="",
        lines=None,
        memory_type=memory_type,
        label=block.speaker or label_block(block),
        section=document.title if document.titled else None,
        happened_at=block.time or document.happened_at,
    )
    return [quote(block, piece, like) for piece in bound_slice(sentence)]
