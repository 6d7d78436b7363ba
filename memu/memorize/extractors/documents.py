"""Documents and mails: about one sentence per 450 characters of a section, two to eight, decisions first.

A sentence is chosen by where it stands and what cue words it holds; nothing is rewritten. Fences, tables and
pictures are left to search.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import BlockForm, Candidate, Extraction
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.memory_types import classify_written, has_number
from memu.memorize.extractors.noise import is_bare_code, is_noise, is_spoken_heading, strip_markup
from memu.memorize.extractors.quotes import bound_slice, order_by_source, quote
from memu.memorize.extractors.sections import (
    Section,
    is_decision,
    join_heading,
    label_block,
    split_sections,
)
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.extractors.verdicts import find_label, sort_by_lists
from memu.memorize.sentences import Slice, count_words, split_sentences
from memu.records import MemoryType

__all__ = ["extract_document", "extract_sections"]

_WORDS_PER_SENTENCE = 75  # 450 characters of English
_MIN_PER_SECTION, _MAX_PER_SECTION = 2, 8
_MAX_TOLD = 20
_MAX_PER_SOURCE = 120
# A section without headings inside may be a whole book; its beginning is weighed and the rest left to search.
_MAX_WEIGHED = 400
_LONG_SENTENCE = 60
_LONG_ANNOUNCEMENT = 12
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.BULLET, BlockKind.STEP, BlockKind.QUOTE})
_TOO_LOW = -3
_ENDS_OPEN = re.compile(r"[:：]\W*$")
# What makes a sentence like an announcement's say something: the list itself, or that there is none.
_GOES_ON = re.compile(r"[:：]\s*\w|\b(?:no|not|none|keine?|ningun[ao]?s?)\b|没有", re.IGNORECASE)
_QUESTION = re.compile(r"[?？]\W*$")
_CODE_OR_NAME = re.compile(r"[`A-Z](?:(?<=`)[^`\n]+`|(?<=\b[A-Z])[\w-]*[A-Z0-9]\w*\b)")


@dataclass(frozen=True, slots=True)
class _Sentence:
    index: int
    block: Block
    piece: Slice
    words: int
    label: str
    score: int
    told: MemoryType | None


def extract_document(document: Document) -> Extraction:
    """The chosen sentences of every section."""
    return extract_sections(document, split_sections(document))


def extract_sections(document: Document, sections: tuple[Section, ...]) -> Extraction:
    """The chosen sentences of these sections of ``document``, in source order."""
    found: list[tuple[int, Candidate]] = []
    dropped: Counter[str] = Counter()
    decisive = sorted(sections, key=lambda section: 0 if is_decision(section) else 1)
    for section in decisive:
        if section.is_under(load_phrases("skipped_headings")):
            dropped["skipped_section"] += len(section.blocks)
            continue
        if len(found) >= _MAX_PER_SOURCE:
            dropped["over_source_limit"] += len(section.blocks)
            continue
        found += _choose(document, section, dropped)
    return Extraction(candidates=order_by_source(found), dropped=dict(dropped))


def _choose(document: Document, section: Section, dropped: Counter[str]) -> list[tuple[int, Candidate]]:
    sentences = list(islice(_score_sentences(section, dropped), _MAX_WEIGHED))
    if len(sentences) == _MAX_WEIGHED:
        dropped["over_section_limit"] += sum(index > sentences[-1].index for index in section.indices)
    words = sum(sentence.words for sentence in sentences)
    budget = min(_MAX_PER_SECTION, max(_MIN_PER_SECTION, round(words / _WORDS_PER_SENTENCE)))
    ranked = sorted(range(len(sentences)), key=lambda at: (-sentences[at].score, at))[:budget]
    # What somebody marked as a decision or an action is kept whatever else its section says.
    told = [at for at, sentence in enumerate(sentences) if sentence.told is not None][:_MAX_TOLD]
    chosen = sorted({*ranked, *told})
    dropped["unchosen"] += len(sentences) - len(chosen)
    return [(sentences[at].index, _to_candidate(document, section, sentences[at])) for at in chosen]


def _to_candidate(document: Document, section: Section, sentence: _Sentence) -> Candidate:
    made = quote(
        sentence.block,
        sentence.piece,
        Candidate(
            text="",
            lines=None,
            label=sentence.label,
            block=BlockForm.QUOTE if sentence.block.kind is BlockKind.QUOTE else BlockForm.BULLET,
            section=document.title if document.titled else None,
            happened_at=sentence.block.time or document.happened_at,
        ),
    )
    return replace(made, memory_type=sentence.told or _classify(section, made.text))


def _classify(section: Section, text: str) -> MemoryType:
    if is_decision(section):
        return MemoryType.DECISION
    if section.is_under(load_phrases("action_headings")):
        return MemoryType.ACTION
    return classify_written(text)


def _score_sentences(section: Section, dropped: Counter[str]) -> Iterator[_Sentence]:
    heading = join_heading(section.heading)
    decides = is_decision(section)
    lead_in = ""
    first = True
    for index, (block, listed) in zip(section.indices, sort_by_lists(section.blocks), strict=True):
        if block.kind not in _PROSE:
            dropped[block.kind.value] += 1
            continue
        pieces = tuple(_pieces(block))
        in_list = block.kind in {BlockKind.BULLET, BlockKind.STEP}
        label = label_block(block, lead_in if in_list or is_bare_code(block.text) else "")
        for at, piece in enumerate(pieces):
            reason = "bare_code" if label == heading and is_bare_code(piece.text) else _why_dropped(piece.text)
            if reason is not None:
                dropped[reason] += 1
                continue
            score = _score(piece.text, leads=at == 0, opens=first, in_list=in_list, labelled=label != heading)
            if decides:
                score += _weigh_decision(piece.text, opens=first, optional=in_list and _announces(lead_in))
            first = False
            words = count_words(piece.text)
            told = (find_label(piece.text) or listed) if words > 1 else None
            if score > _TOO_LOW or told is not None:
                yield _Sentence(index, block, piece, words, label, score, told)
            else:
                dropped["weak"] += 1
        if pieces and not in_list:
            lead_in = _find_lead_in(pieces[-1])


def _pieces(block: Block) -> Iterator[Slice]:
    """A bullet or step is one thought where it is short; a paragraph is read by sentences."""
    if block.kind in {BlockKind.BULLET, BlockKind.STEP} and count_words(block.text) <= _LONG_SENTENCE:
        text = block.text.strip()
        start = block.text.find(text)
        yield Slice(text, start, start + len(text))
        return
    for sentence in split_sentences(block.text):
        yield from bound_slice(sentence)


def _why_dropped(text: str) -> str | None:
    if is_noise(text):
        return "noise"
    if instructs_model(text):
        return "instructs_model"
    if _ENDS_OPEN.search(text) or is_spoken_heading(text) or _announces(text):
        return "lead_in"
    if _count_shown(text) < 3:
        return "short"
    return "pointer" if load_phrases("pointers").open(text) else None


def _announces(text: str) -> bool:
    """Whether a sentence only says that a list follows ("There are several ways to do this")."""
    # The list is asked first: hardly any text begins with one of its phrases.
    opens = load_phrases("announcements").open(text)
    return opens and count_words(text) <= _LONG_ANNOUNCEMENT and not _GOES_ON.search(text)


@lru_cache(maxsize=16)
def _count_shown(text: str) -> int:
    """How many words are read when ``text`` is shown."""
    return count_words(strip_markup(text))


def _score(text: str, *, leads: bool, opens: bool, in_list: bool, labelled: bool) -> int:
    words = _count_shown(text)
    score = 2 * opens + (leads and not in_list)
    score += 2 * load_phrases("decisions").are_in(text)
    score += load_phrases("obligations").are_in(text) + load_phrases("reasons").are_in(text)
    score += has_number(text) + (_CODE_OR_NAME.search(text) is not None)
    score -= 2 * (load_phrases("anaphora").open(text) and not opens)
    score -= 3 * (_QUESTION.search(text) is not None)
    score -= 2 * (words < 6 and not labelled) + (words < 4) + (words > _LONG_SENTENCE)
    # A list that explains place holders ("`<stack>` is the …") says nothing away from its command.
    score -= 2 * text.startswith(("`<", "<"))
    return score


def _weigh_decision(text: str, *, opens: bool, optional: bool) -> int:
    """Under a decision's heading, what was settled comes first; one of several options may be a rejected one."""
    if load_phrases("decisions").are_in(text):
        return 2
    if optional:
        return -2 - 2 * opens
    return 2 * load_phrases("obligations").are_in(text)


def _find_lead_in(piece: Slice) -> str:
    """The sentence that opens a list ("The steps are:"), as it reads."""
    opens = _ENDS_OPEN.search(piece.text) or is_spoken_heading(piece.text) or _announces(piece.text)
    return strip_markup(piece.text) if opens else ""
