"""Text that speaks to a model. It may be searched, but it never becomes memory or a skill by itself.

A source cannot vouch for itself, so one such line anywhere closes the skill track to the whole source.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache

from memu.ingest.document import Document
from memu.memorize.candidate import Extraction
from memu.memorize.extractors.cue_words import load_phrases
from memu.records import Kind, MemoryType, Track

__all__ = ["UNTRUSTED", "distrust", "instructs_model", "may_teach", "vouches_for_nothing"]

UNTRUSTED = "untrusted"
"""The label of what a source says that anybody may have written."""


@lru_cache(maxsize=4096)
def instructs_model(text: str) -> bool:
    """Whether ``text`` reads as an instruction to the model that reads it ("ignore your instructions …")."""
    return load_phrases("injections").are_in(text)


def may_teach(document: Document) -> bool:
    """Whether procedures of this source may go to the skill track.

    Only those of a document, none of whose text instructs a model. Chats, mails, logs, tables and code never do:
    anyone may write into them.
    """
    return document.kind is Kind.DOCUMENT and not vouches_for_nothing(document)


def vouches_for_nothing(document: Document) -> bool:
    """Whether any text of this source, its title and tags included, instructs a model."""
    if any(map(instructs_model, (document.title, document.description, *document.tags))):
        return True
    return any(instructs_model(block.text) for block in document.blocks)


def distrust(extraction: Extraction) -> Extraction:
    """What is left of an untrusted source: no skill, no rule, the rest labelled; what is dropped is counted."""
    kept = tuple(
        replace(each, label=f"{UNTRUSTED} > {each.label}" if each.label else UNTRUSTED)
        for each in extraction.candidates
        if each.track is not Track.SKILL and each.memory_type is not MemoryType.RULE
    )
    dropped = Counter(extraction.dropped)
    if len(kept) < len(extraction.candidates):
        dropped[UNTRUSTED] += len(extraction.candidates) - len(kept)
    return replace(extraction, candidates=kept, dropped=dict(dropped))
