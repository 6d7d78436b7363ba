"""Which parts of a source say what an entry in a model's words says: its terms, names and numbers decide.

What is forgotten must not be read into an entry again, so of two doubtful parts both are taken; a part that
another entry clearly rests on, and that this one does not need, is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memu.languages import stop_words
from memu.memorize.forget.forgotten import is_telling
from memu.memorize.llm.grounding import ungrounded
from memu.memorize.sentences import count_words
from memu.tokens import index_terms, text_key

__all__ = ["Part", "choose_parts", "find_strong"]

_NEAR_BEST = 0.6
_HEADING_SHARE, _HEADING_WORDS = 0.6, 3


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence or line of a source. ``heading``: it says what others are about, more than it says itself."""

    text: str
    heading: bool = False


def choose_parts(text: str, parts: Sequence[Part], others: Iterable[str], *, short: bool) -> tuple[str, ...]:
    """The parts to be forgotten with an entry ``text``, in order.

    Args:
        parts: what stands in the lines that the entry cites.
        others: the texts of entries that cite these lines too and stay.
        short: whether it is so little that all of it is taken to be about the entry.
    """
    strong = find_strong(text, parts)
    needed = _features(text)
    held = frozenset[str]().union(*(_held(text, needed, parts[at].text) for at in strong))
    claimed = {at for other in others for at in find_strong(other, parts)}
    chosen = []
    for at, part in enumerate(parts):
        rest = not part.heading and at not in claimed
        rest = rest and (short or not strong or bool(_held(text, needed, part.text) - held))
        if (at in strong or rest) and is_telling(text_key(part.text)):
            chosen.append(part.text)
    return tuple(chosen)


def find_strong(text: str, parts: Sequence[Part]) -> frozenset[int]:
    """Which parts say most of what ``text`` says, by their places: the best one, and those that come near it."""
    needed = _features(text)
    if not needed:
        return frozenset()
    shares = [len(_held(text, needed, part.text)) / len(needed) for part in parts]
    best = max((share for share, part in zip(shares, parts, strict=True) if not part.heading), default=0.0)
    return frozenset(
        at
        for at, (share, part) in enumerate(zip(shares, parts, strict=True))
        if share > 0 and (_heads(share, part) if part.heading else share >= _NEAR_BEST * best)
    )


def _heads(share: float, part: Part) -> bool:
    """Whether a heading says it by itself, and is not merely what it is about."""
    return share >= _HEADING_SHARE and count_words(part.text) >= _HEADING_WORDS


def _features(text: str) -> frozenset[str]:
    """What makes the statement: its terms without stop words, and its names, numbers and quotes as written."""
    grammar = frozenset().union(*map(stop_words, ("en", "de", "es", "zh")))
    return frozenset(index_terms(text)) - grammar | _marked(ungrounded(text, ()))


def _held(text: str, needed: frozenset[str], part: str) -> frozenset[str]:
    strange = _marked(ungrounded(text, (part,)))
    return frozenset(term for term in index_terms(part) if term in needed) | (_marks_of(needed) - strange)


def _marked(names: Iterable[str]) -> frozenset[str]:
    # A name counts beside its terms, and twice therefore.
    return frozenset(f"={name}" for name in names)


def _marks_of(needed: frozenset[str]) -> frozenset[str]:
    return frozenset(each for each in needed if each.startswith("="))
