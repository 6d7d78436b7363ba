"""Text that speaks to a model. It may be searched, but it never becomes memory or a skill by itself.

A source cannot vouch for itself, so one such line anywhere closes the skill track to the whole source.
"""

from __future__ import annotations

from memu.ingest.document import Document
from memu.memorize.extractors.cue_words import load_phrases
from memu.records import Kind

__all__ = ["instructs_model", "may_teach"]


def instructs_model(text: str) -> bool:
    """Whether ``text`` reads as an instruction to the model that reads it ("ignore your instructions …")."""
    return load_phrases("injections").are_in(text)


def may_teach(document: Document) -> bool:
    """Whether procedures of this source may go to the skill track.

    Only those of a document, none of whose text instructs a model. Chats, mails, logs, tables and code never do:
    anyone may write into them.
    """
    if document.kind is not Kind.DOCUMENT:
        return False
    if any(map(instructs_model, (document.title, document.description, *document.tags))):
        return False
    return not any(instructs_model(block.text) for block in document.blocks)
