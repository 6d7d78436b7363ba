"""Which sources are worth a model's time, and which of them may teach."""

from __future__ import annotations

from memu.ingest.document import BlockKind, Document
from memu.memorize.extractors.agent_skills import is_agent_skill
from memu.memorize.extractors.noise import find_source_noise
from memu.memorize.extractors.trust import vouches_for_nothing
from memu.memorize.sentences import count_words
from memu.records import Kind

__all__ = ["is_worth_asking", "may_give_skills"]

_ASKED = frozenset({Kind.DOCUMENT, Kind.RULES, Kind.CHAT, Kind.SESSION, Kind.MEETING, Kind.MAIL})
# Their words are the workspace's own; into chats, meetings' minutes and mails others write.
_TEACHERS = frozenset({Kind.DOCUMENT, Kind.RULES, Kind.SESSION})
_PROSE = frozenset(
    {BlockKind.PARAGRAPH, BlockKind.BULLET, BlockKind.STEP, BlockKind.QUOTE, BlockKind.TURN, BlockKind.DOCSTRING}
)
_LEAST_WORDS = 5


def is_worth_asking(document: Document, path: str) -> bool:
    """Whether there is prose in a source of a kind that people write.

    Code, tables, logs and data are read by rule; licences, lock files and templates are no memory; an Agent Skill
    is written for models already and kept whole.
    """
    if document.kind not in _ASKED or find_source_noise(document, path) or is_agent_skill(document, path):
        return False
    if document.own_run:
        return False
    words = 0
    for block in document.blocks:
        words += count_words(block.text) if block.kind in _PROSE else 0
        if words >= _LEAST_WORDS:
            return True
    return False


def may_give_skills(document: Document, *, untrusted: bool) -> bool:
    """Whether a source may give skills and rules: it is trusted, and no text in it speaks to a model."""
    return not untrusted and document.kind in _TEACHERS and not vouches_for_nothing(document)
