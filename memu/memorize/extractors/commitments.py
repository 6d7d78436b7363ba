"""What is settled and who is bound by a sentence of a meeting, by its cue words.

An action is what a person binds themselves or another to ("I will", "Dana will", "assigned to"), or what has to be
done by a day. Plans to talk, needs ("I'll need three days"), states and suppositions are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memu.ingest.document import Block
from memu.memorize.extractors.cue_words import load_phrases

__all__ = ["commits", "find_people", "settles"]

_NAME = r"[^\W\d_a-zß-öø-ÿ\u3400-\u9fff][^\W\d_]*"
_JOINED = rf"{_NAME}(?:\s+{_NAME})?(?:\s*(?:,|and|und|y|&)\s+{_NAME})*"
_OPENS = re.compile(rf"\W*(?:(?:and|und|y)\s+)?({_JOINED})\s+(?=\S)")
_OPENS_WIDE = re.compile(r"\W*([\u3400-\u9fff]{2,4})(?=\S)")
_WORD = re.compile(r"[^\W\d_]+")


def find_people(blocks: Iterable[Block]) -> frozenset[str]:
    """The names of those who speak, whole and in parts, in lower case."""
    names = {block.speaker.lower() for block in blocks if block.speaker}
    return frozenset(names | {part for name in names for part in _WORD.findall(name)})


def settles(text: str) -> bool:
    """Whether a sentence says what was decided."""
    if load_phrases("decisions").are_in(text):
        return True
    return load_phrases("settlements").are_in(text) and not load_phrases("talk").are_in(text)


def commits(text: str, people: frozenset[str]) -> bool:
    """Whether a sentence binds somebody to something. ``people``: who speaks; where empty, any name may act."""
    if load_phrases("suppositions").open(text) or load_phrases("talk").are_in(text):
        return False
    if load_phrases("commitments").are_in(text) or _hands_over(text, people):
        return True
    return load_phrases("needs").are_in(text) and load_phrases("dues").are_in(text)


def _hands_over(text: str, people: frozenset[str]) -> bool:
    """Whether a sentence opens with a name and with what its bearer will do."""
    wide = _OPENS_WIDE.match(text)
    for end in range(wide.end(1), wide.start(1) + 1, -1) if wide else ():
        if text[wide.start(1) : end] in people and load_phrases("handings").open(text[end:]):  # type: ignore[union-attr]
            return True
    match = _OPENS.match(text)
    if match is None or load_phrases("anaphora").open(text):
        return False
    known = not people or people & set(_WORD.findall(match[1].lower()))
    return bool(known) and load_phrases("handings").open(text[match.end() :])
