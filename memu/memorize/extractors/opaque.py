"""Strings that no person reads: base64, hashes, packed data, the same words over and over, words without an end.

They can be searched; they state nothing.
"""

from __future__ import annotations

import re

from memu.memorize.candidate import MAX_CHARS, MAX_WORDS
from memu.memorize.sentences import count_words

__all__ = ["is_endless", "is_opaque"]

_LONG = 24
# Longer than any word, compounds included.
_ENDLESS = 80
_RUN = re.compile(rf"\S{{{_LONG},}}")
_PIECE = re.compile(rf"[A-Za-z0-9+/_=-]{{{_LONG},}}")
_PARTS = re.compile(r"[/_=+-]+")
# From a small letter to a capital, and between letters and figures: where written names change too, but seldom.
_TURN = re.compile(r"[a-z](?=[A-Z])|[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_ARMOUR = re.compile(r"^-{5}[A-Z\d ]+-{5}$", re.MULTILINE)
_LEAST_REPEATED = 40
_LEAST_TOLD = 0.15
# Longer texts use their words again, whoever writes them.
_MOST_COMPARED = 200
_SENTENCE_END = re.compile(r"[.!?…;:][\"'”’)*_]*\s+\S|[。！？；：]|\n")
_LEAST_TURNS = 0.22
_LEAST_WORDS = 2
_HALF, _NEARLY_ALL = 0.5, 0.9


def is_endless(text: str) -> bool:
    """Whether ``text`` is longer than any sentence, than two entries, and nothing ends in it."""
    # No text has more words than characters.
    long = len(text) > 2 * MAX_CHARS or (len(text) > 2 * MAX_WORDS and count_words(text) > 2 * MAX_WORDS)
    return long and _SENTENCE_END.search(text) is None


def is_opaque(text: str) -> bool:
    """Whether most of ``text`` is packed data, and what is left is no sentence and no command; or it says a few
    words over and over.

    >>> is_opaque("aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IHRleHQ="), is_opaque("Run `make a_very_long_target_name`.")
    (True, False)
    """
    if _repeats(text):
        return True
    if _RUN.search(text) is None:
        return False
    text = _ARMOUR.sub("", text)
    packed = sum(len(piece) for run in _RUN.findall(text) for piece in _PIECE.findall(run) if _is_packed(piece))
    share = packed / max(1, len("".join(text.split())))
    if share < _HALF:
        return False
    left = _PIECE.sub(lambda match: " " if _is_packed(match.group()) else match.group(), text)
    return share >= _NEARLY_ALL or count_words(re.sub(r"[\W_]+", " ", left)) < _LEAST_WORDS


def _repeats(text: str) -> bool:
    """Whether so few words, or letters of a script without spaces, make up so long a text."""
    if len(text) < 2 * _LEAST_REPEATED:
        return False
    words = text.split()
    parts = words if len(words) >= _LEAST_REPEATED else [char for char in text if char > "\u2fff"]
    return len(parts) >= _LEAST_REPEATED and len(set(parts)) < _LEAST_TOLD * min(len(parts), _MOST_COMPARED)


def _is_packed(piece: str) -> bool:
    """Whether a string changes its kind of character as chance does, or never ends."""
    if max(map(len, _PARTS.split(piece))) >= _ENDLESS:
        return True
    letters = _PARTS.sub("", piece)
    return len(letters) >= _LONG and len(_TURN.findall(letters)) >= _LEAST_TURNS * len(letters)
