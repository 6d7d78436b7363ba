"""Which turns of a talk only ask what the question asks: near it in words, and no answer to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memu.records import Kind, Passage
from memu.tokens import QueryTerm, index_terms

__all__ = ["only_asks"]

_TALKS = frozenset({Kind.CHAT, Kind.MEETING})
_LONGEST = 2000
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ASKING = ("?", "？")


def only_asks(passage: Passage, terms: Sequence[QueryTerm]) -> bool:
    """Whether no statement of a turn holds as many of the question's words as what it asks does.

    Where they hold as many, the turn's end decides.

    >>> from memu.tokens import query_terms
    >>> turn = Passage(id="", ordinal=0, header="", text="Nice! What editor do you use?", kind=Kind.CHAT)
    >>> only_asks(turn, query_terms("which editor do I use", ["en"]))
    True
    """
    text = passage.text[:_LONGEST].strip()
    if passage.kind not in _TALKS or not any(mark in text for mark in _ASKING):
        return False
    sentences = [each for each in map(str.strip, _SENTENCE.findall(text)) if each]
    asked = _most_held((each for each in sentences if each.endswith(_ASKING)), passage.language, terms)
    told = _most_held((each for each in sentences if not each.endswith(_ASKING)), passage.language, terms)
    return asked > told or (asked == told and text.endswith(_ASKING))


def _most_held(sentences: Iterable[str], language: str | None, terms: Sequence[QueryTerm]) -> int:
    """How many of the question's words the sentence holds that holds most of them."""
    held = (index_terms(each, language).keys() for each in sentences)
    return max((sum(not each.isdisjoint(term.variants) for term in terms) for each in held), default=0)
