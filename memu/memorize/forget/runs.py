"""Finding forgotten statements inside longer texts: runs of words that begin and end as a statement does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from memu.languages import MARKS
from memu.memorize.forget.openings import Openings
from memu.memorize.sentences import Slice
from memu.tokens import blank_signs, fold_case

__all__ = ["LEVELS", "MARKERS", "Statements", "find_runs", "follows_marker"]

LEVELS = r"(?i:trace|debug|info|notice|warn|warning|error|fatal|critical)"
"""How severe a log's line is."""

MARKERS = (
    r"(?:[@#+]\w[\w./-]{0,60}|(?::{3,8}|!{3})\s?[\w-]{1,30}"
    r"|(?:TO-?DO|DONE|NEXT|WAIT(?:ING)?|HOLD|STARTED|DOING|LATER|NOW|CANCELL?ED|FIXME|FIXED|XXX|HACK|BUG|WIP|TBD|NB|NOTE"
    r"|IDEA|TIP|INFO|HINT|IMPORTANT|WARNING|CAUTION|DANGER|ATTENTION|QUESTION|REVIEW|OPTIMI[SZ]E|DEPRECATED|DECIDED"
    r"|ADDED|CHANGED|REMOVED)(?:\([^()\n]{0,40}\))?)"
)
"""What stands before a statement and says what it is, whose or what of, with nothing between but a space."""

_WORD = re.compile(r"\S+")
# A letter of another script with what is written above and below it, or a stretch of ASCII.
_CLUSTER = re.compile(rf"[\x00-\x7f]+(?![{MARKS}\u1160-\u11ff])|.[{MARKS}\u1160-\u11ff]*", re.DOTALL)
_AFTER_LEVEL = re.compile(rf"(?:^|\s|\[){LEVELS}[\]:]?\s+$")
_AFTER_MARKERS = re.compile(rf"(?:^|[^\w\s@#+:!-]\s*|[-:!+]\s+)(?:{MARKERS}\s+)+$")
_AFTER_MARKER = re.compile(rf"(?:^|[^\w@#+:!]){MARKERS}\s+$")
_BEFORE_TAGS = re.compile(r"(?:\s+(?:[@#+^]|:\w)\S{1,60})+\s*$")
_STOP = re.compile(r"[.!?…。！？]+")
_RULE = re.compile(r"([=+#~_-])\1\1")
# It may stand around any word; where it is around the whole, what is seen tells.
_EMPHASIS = "*_`~"
_BINDING = frozenset("-'’_&@+")


class Statements(Protocol):
    """What is to be cut."""

    def covers(self, text: str) -> bool:
        """Whether this text, whole, is a forgotten statement."""

    def covers_run(self, run: str) -> bool:
        """Whether these letters are those of one."""

    @property
    def openings(self) -> Openings:
        """How they begin."""


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters of a text without spaces, and where in the text each stands; ``firsts`` begin words."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    firsts: tuple[int, ...]


def find_runs(text: str, joints: frozenset[int], statements: Statements) -> Iterator[Slice]:
    """The runs of words in ``text`` that are forgotten statements.

    joints: places where markup was left out of it.
    """
    letters, openings = _read_letters(text, joints), statements.openings
    for first in letters.firsts:
        for length in openings.find(letters.text, first):
            last = first + length - 1
            if last >= len(letters.text):
                continue
            start, end = letters.starts[first], letters.ends[last]
            stop = _STOP.match(text, end)
            closed = stop.end() if stop else end
            # What is wrapped in markup may bring its full stop along into the middle of a sentence.
            wrapped = start in joints and not joints.isdisjoint((end, closed))
            stands = wrapped or (_begins(text, start) and _ends(text, end))
            if stands and statements.covers_run(letters.text[first : last + 1]):
                yield Slice(text[start:closed], start, closed)


def follows_marker(head: str, first: str) -> bool:
    """Whether what stands before a text on its line, with the space, leads to it as a marker does.

    ``first``: the text's first letter. In the middle of a sentence only what begins like one begins there.
    """
    pattern = _AFTER_MARKERS if first.islower() else _AFTER_MARKER
    return pattern.search(head) is not None


def _read_letters(text: str, joints: Collection[int]) -> _Letters:
    folded, places = _fold(text)
    kept: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    firsts: list[int] = []
    for word in _WORD.finditer(folded):
        if kept and kept[-1].isdecimal() and folded[word.start()].isdecimal():
            kept.append(" ")
            starts.append(ends[-1])
            ends.append(ends[-1])
        for at in range(word.start(), word.end()):
            char = folded[at]
            begins = at == word.start() or (char.isalnum() and not folded[at - 1].isalnum())
            if begins or (joints and places[at] in joints):
                firsts.append(len(kept))
            kept.append(char)
            starts.append(places[at])
            ends.append(places[at + 1])
    return _Letters("".join(kept), starts, ends, tuple(firsts))


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """The text as keys see it, and the place that each of its letters has in the text, with the text's end."""
    if text.isascii():
        return blank_signs(fold_case(text)), range(len(text) + 1)
    folded: list[str] = []
    places: list[int] = []
    for match in _CLUSTER.finditer(text):
        piece = match.group() if match.group().isascii() else fold_case(match.group())
        if piece.isascii() and len(piece) == len(match.group()):
            piece = piece.lower()
            places += range(match.start(), match.end())
        else:
            places += [match.start()] * len(piece)
        folded.append(piece)
    places.append(len(text))
    return blank_signs("".join(folded)), places


def _begins(text: str, start: int) -> bool:
    """Whether a statement may begin here: after a sign, a line's begin, or what stands before a log's words."""
    head = text[max(0, start - 80) : start].rsplit("\n", 1)[-1]
    head = head.rstrip(_EMPHASIS)
    before = head.rstrip()
    if not before:
        return True
    if head != before:
        if not before[-1].isalnum():
            return before[-1] not in "&+"
        last_word = before.rsplit(None, 1)[-1]
        figure = any(map(str.isdecimal, last_word)) and not text[start].islower()
        return figure or follows_marker(head, text[start]) or _AFTER_LEVEL.search(head) is not None
    return not before[-1].isalnum() and not (before[-1] in _BINDING and before[-2:-1].isalnum())


def _ends(text: str, end: int) -> bool:
    """Whether a statement may end here: before a sign or a line's end."""
    tail = text[end : end + 80].split("\n", 1)[0]
    tail = tail.lstrip(_EMPHASIS)
    after = tail.lstrip()
    if not after:
        return True
    sign, following = after[0], after[1:2]
    if sign.isalnum():
        return False
    if tail != after and _RULE.match(after):
        return True
    if tail != after:
        goes_on = sign in "&+=$%@" or (sign in "-/#" and following.isalnum())
        return not goes_on or _BEFORE_TAGS.match(tail) is not None
    if sign in "+%#" or (sign in _BINDING and following.isalnum()):
        return False
    return not (sign in ".,:" and following.isdecimal() and text[end - 1 : end].isdecimal())
