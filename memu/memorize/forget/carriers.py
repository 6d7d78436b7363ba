"""Which parts of a source say what an entry in a model's words says: its terms, names and numbers decide.

What is forgotten must not be read into an entry again, so of two doubtful parts both are taken; a part that
another entry clearly rests on, and that this one does not need, is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
    others = tuple(others)
    strong = find_strong(text, parts)
    best = _best(text, parts)
    held = frozenset[str]().union(*(_held(text, parts[at].text) for at in strong))
    claimed = {at for other in others for at in find_strong(other, parts) - best}
    chosen = []
    for at, part in enumerate(parts):
        wanted = short or not strong or at in strong or bool(_held(text, part.text) - held)
        goes = at in strong if part.heading else wanted and at not in claimed
        if goes and is_telling(text_key(part.text)):
            chosen.append(part.text)
    return tuple(chosen)


def find_strong(text: str, parts: Sequence[Part]) -> frozenset[int]:
    """Which parts say most of what ``text`` says, by their places: the best one, and those that come near it."""
    shares = _shares(text, parts)
    best = max((share for share, part in zip(shares, parts, strict=True) if not part.heading), default=0.0)
    return frozenset(
        at
        for at, (share, part) in enumerate(zip(shares, parts, strict=True))
        if share > 0 and (_heads(share, part) if part.heading else share >= _NEAR_BEST * best)
    )


def _best(text: str, parts: Sequence[Part]) -> frozenset[int]:
    """Where most of it is said."""
    shares = [0.0 if part.heading else share for part, share in zip(parts, _shares(text, parts), strict=True)]
    return frozenset(at for at, share in enumerate(shares) if share > 0 and share == max(shares))


def _shares(text: str, parts: Sequence[Part]) -> tuple[float, ...]:
    """How much of the statement each part holds, from 0 to 1."""
    most = max(1, len(_features(text)))
    return tuple(len(_held(text, part.text)) / most for part in parts)


def _heads(share: float, part: Part) -> bool:
    """Whether a heading says it by itself, and is not merely what it is about."""
    return share >= _HEADING_SHARE and count_words(part.text) >= _HEADING_WORDS


@lru_cache(maxsize=256)
def _features(text: str) -> frozenset[str]:
    """What makes the statement: its terms, names among them, without stop words, and its numbers and dates."""
    grammar = frozenset().union(*map(stop_words, ("en", "de", "es", "zh")))
    return frozenset(index_terms(text)) - grammar | _figures_beyond(text, "")


def _held(text: str, part: str) -> frozenset[str]:
    """The features of ``text`` that a part has. A date counts however it is written."""
    needed = _features(text)
    figures = _figures_beyond(text, "") - _figures_beyond(text, part)
    return needed.intersection(index_terms(part)) | figures


def _figures_beyond(text: str, part: str) -> frozenset[str]:
    return frozenset(f"={each}" for each in ungrounded(text, (part,)) if re.search(r"\d", each))
