"""Meetings: decisions, actions and numbers, with the speaker or the parent bullet in front."""

from __future__ import annotations

import re
from collections import Counter

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import Candidate, Extraction
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.memory_types import classify_statement, has_date, has_number
from memu.memorize.extractors.noise import is_noise
from memu.memorize.extractors.quotes import bound_slice, quote
from memu.memorize.extractors.sections import label_block, matches_heading
from memu.memorize.extractors.trust import instructs_model
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
    for block in document.blocks:
        if block.kind not in _READ:
            dropped["no_speech"] += block.kind is not BlockKind.HEADING
            continue
        if any(matches_heading(heading, load_phrases("skipped_headings")) for heading in block.heading):
            dropped["skipped_section"] += 1
            continue
        for sentence in split_sentences(block.text):
            memory_type = _classify(block, sentence.text)
            if memory_type is None or len(found) >= _MAX_PER_SOURCE:
                dropped["unchosen" if memory_type is None else "over_source_limit"] += 1
                continue
            found += _quote(document, block, sentence, memory_type)
    return Extraction(candidates=tuple(found), dropped=dict(dropped))


def _classify(block: Block, text: str) -> MemoryType | None:
    """The type of a sentence worth keeping, or None."""
    if is_noise(text) or instructs_model(text) or _ENDS_OPEN.search(text):
        return None
    under = _type_of_heading(block)
    if under is not None:
        return under if count_words(text) >= 2 else None
    rest = load_phrases("greetings", "acknowledgements").strip_from(text)
    if count_words(rest) < _MIN_WORDS or load_phrases("remarks").open(rest):
        return None
    if _QUESTION.search(text):
        # "Charlie, can you …?" hands out a task; other questions state nothing.
        asked = block.speaker is not None and load_phrases("assignments").are_in(text)
        return MemoryType.ACTION if asked else None
    memory_type = classify_statement(text)
    if memory_type in {MemoryType.DECISION, MemoryType.ACTION}:
        return memory_type
    return memory_type if has_number(text) or has_date(text) else None


def _type_of_heading(block: Block) -> MemoryType | None:
    for heading in reversed(block.heading):
        if matches_heading(heading, load_phrases("decision_headings")):
            return MemoryType.DECISION
        if matches_heading(heading, load_phrases("action_headings")):
            return MemoryType.ACTION
    return None


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
