"""Which turns of a talk only ask what the question asks: near it in words, and no answer to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memu.records import Kind, Passage
from memu.tokens import QueryTerm

__all__ = ["only_asks", "write_patterns"]

_TALKS = frozenset({Kind.CHAT, Kind.MEETING})
_LONGEST = 2000
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ASKING = ("?", "？")
# Of scripts without spaces a word begins anywhere.
_WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"


def write_patterns(terms: Sequence[QueryTerm]) -> tuple[re.Pattern[str], ...]:
    """For each word of a question what finds it in lower-case text: a word that begins with one of its stems.

    To stem each word of some hundred turns, as the index does, would take longer than the search.
    """
    return tuple(
        re.compile(rf"(?<![^\W{_WITHOUT_SPACES}])(?:{'|'.join(map(re.escape, term.variants))})") for term in terms
    )


def only_asks(passage: Passage, words: Sequence[re.Pattern[str]]) -> bool:
    """Whether no statement of a turn holds as many of the question's words as what it asks does.

    Where they hold as many, the turn's end decides.

    >>> from memu.tokens import query_terms
    >>> words = write_patterns(query_terms("which editor do I use", ["en"]))
    >>> turn = Passage(id="", ordinal=0, header="", text="Nice! What editor do you use?", kind=Kind.CHAT)
    >>> only_asks(turn, words)
    True
    """
    text = passage.text[:_LONGEST].strip().lower()
    if passage.kind not in _TALKS or not any(mark in text for mark in _ASKING):
        return False
    sentences = [each for each in map(str.strip, _SENTENCE.findall(text)) if each]
    asked = _most_held((each for each in sentences if each.endswith(_ASKING)), words)
    told = _most_held((each for each in sentences if not each.endswith(_ASKING)), words)
    return asked > told or (asked == told and text.endswith(_ASKING))


def _most_held(sentences: Iterable[str], words: Sequence[re.Pattern[str]]) -> int:
    """How many of the question's words the sentence holds that holds most of them."""
    return max((sum(word.search(each) is not None for word in words) for each in sentences), default=0)
