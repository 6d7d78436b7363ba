"""How forgotten statements begin, as far as it is known: enough to pass over nearly every text and place in one.

With each statement's hash goes a few bits of a checksum of its first letters, and how many letters it has. Nothing
can be read by that.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from memu.memorize.sentences import count_words
from memu.tokens import blank_signs, fold_case

__all__ = ["Openings", "letters_of", "may_hold", "note_of", "read_notes", "run_of", "sum_up"]

_OPENING = 12
_RUN_WORDS = 4
_UNNOTED = "run:any"
"""Stands among the tombstones of a scope that was told to forget before such notes were kept."""
_NOTE = re.compile(r"run:([0-9a-f]{4}):(\d+)")
_SPACE = re.compile(r"(?<!\d) | (?!\d)")
# What may begin in the middle of what has no space in it.
_INNER = re.compile(
    "(?<=[\\W_])[^\\W_]|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Openings:
    """How forgotten statements begin, as far as it is known: lengths in letters, by the bits of a checksum.

    ``sizes``: how many letters the checksums are of. ``complete``: false where of some it is not known.
    """

    seed: int
    lengths: Mapping[int, tuple[int, ...]]
    sizes: tuple[int, ...]
    complete: bool = True

    @classmethod
    def of(cls, notes: Iterable[tuple[int, int]], salt: str, *, complete: bool = True) -> Openings:
        """From pairs of bits and length."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        for bits, length in notes:
            found[bits].add(length)
        sizes = {min(_OPENING, length) for lengths in found.values() for length in lengths}
        return cls(
            _seed(salt),
            {bits: tuple(sorted(each)) for bits, each in found.items()},
            tuple(sorted(sizes)),
            complete,
        )

    def find(self, letters: str, first: int) -> Iterator[int]:
        """The lengths of statements that may begin at this letter."""
        for size in self.sizes:
            lengths = self.lengths.get(_sum(letters[first : first + size], self.seed), ())
            yield from (length for length in lengths if min(_OPENING, length) == size)


def letters_of(key: str) -> str:
    """A key without its spaces, but those between digits: however its words are parted, it says the same."""
    return _SPACE.sub("", key)


def run_of(key: str) -> str:
    """The letters of a statement's key; "" for one that is too short to be looked for inside others."""
    run = letters_of(key)
    return run if count_words(key) >= _RUN_WORDS and len(run) >= _OPENING else ""


def note_of(key: str, salt: str) -> str:
    """What is kept of a statement beside its hash, so that it can be looked for."""
    bits, length = sum_up(key, salt)
    return f"run:{bits:04x}:{length}"


def sum_up(key: str, salt: str) -> tuple[int, int]:
    """Sixteen bits that tell most openings from one another, and the length."""
    letters = letters_of(key)
    return _sum(letters[:_OPENING], _seed(salt)), len(letters)


@lru_cache(maxsize=16)
def read_notes(hashes: frozenset[str], salt: str) -> Openings:
    """What notes among these tombstones tell."""
    found = filter(None, map(_NOTE.fullmatch, hashes))
    notes = ((int(match[1], 16), int(match[2])) for match in found)
    return Openings.of(notes, salt, complete=_UNNOTED not in hashes)


def may_hold(text: str, joints: Collection[int], openings: Openings) -> bool:
    """Whether a statement may begin anywhere in ``text``. Most texts need no closer look."""
    if not openings.complete:
        return True
    if not openings.lengths:
        return False
    if any(text[at - 1 : at].isalnum() and text[at : at + 1].isalnum() for at in joints):
        return True
    parts: list[str] = []
    firsts: list[int] = []
    at = 0
    for word in blank_signs(fold_case(text)).split():
        if parts and parts[-1][-1].isdecimal() and word[0].isdecimal():
            parts.append(" ")
            at += 1
        firsts.append(at)
        if not (word.isalnum() and word.isascii()):
            firsts += (at + match.start() for match in _INNER.finditer(word))
        parts.append(word)
        at += len(word)
    letters = "".join(parts)
    seed, lengths = openings.seed, openings.lengths
    return any(_sum(letters[at : at + size], seed) in lengths for size in openings.sizes for at in firsts)


def _seed(salt: str) -> int:
    return zlib.crc32(salt.encode())


def _sum(opening: str, seed: int) -> int:
    return zlib.crc32(opening.encode("utf-8", "surrogatepass"), seed) & 0xFFFF
