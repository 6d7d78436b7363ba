"""What a reader of a text sees, and where in the text it stands: for finding words in whatever they are wrapped.

Gone are the marks of Markdown, HTML, reStructuredText, AsciiDoc and LaTeX within a line, the targets of links, the
signs of quotes and comments at a line's ends, and characters without width; entities and escapes are undone. The
view is only looked at: what is stored and shown is the text.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_plus

__all__ = ["Visible", "list_views", "plain_text", "read_views"]

# A tag that ends what stands before it; others are within a word, or around one.
_BREAKING = re.compile(
    r"</?(?:br|p|div|li|td|th|tr|h[1-6]|hr|ul|ol|dl|dt|dd|table|blockquote|pre|section|article|option)\b",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
_JOINT = re.compile(r"[?&=#]")
_MARKUP = re.compile(
    r"""
      (?P<gone>
          ^[ \t]*(?:(?:[>*;%|]+|\#+(?!\d)|[-+]+(?!\d)|//+|/\*+|"{3}|'{3}|(?i:rem\b)|\{[\#%-])[ \t]*){1,4}
        | (?<![ \t])[ \t]{0,200}(?:\*{1,80}/|"{3}|'{3}|[\#%-]\}|\|)[ \t]*$
        | !?\[(?=[^\[\]\n]{0,400}\][(\[])                      # the beginning of a link or picture
        | \]\([^()\n]{0,500}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\) | (?<=\S)\]\[[^\[\]\n]{0,200}\]
        | \[\[(?:[^\[\]|\n]{1,200}\|)? | \]\]                  # a wiki's link
        | \[\^[^\s\]]{1,60}\]:?                                # a footnote's mark
        | :[A-Za-z][\w:+-]{0,40}:(?=`) | (?<=`)_{1,2}(?!\w)     # a role and the end of a reference
        | (?:link:|https?://)[^\s\[\]<>]{1,400}\[(?=[^\[\]\n]{1,400}\])
        | \\[A-Za-z]{2,30}\*?\{
        | `+ | ~~ | \*{1,3}(?=\S) | (?<=\S)\*{1,3} | (?<!\w)_{1,3}(?=\w) | (?<=[\w.!?…])_{1,3}(?!\w)
        | [\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]
      )
    | (?P<url>https?://[^\s<>"%]{1,400}%[0-9A-Fa-f]{2}[^\s<>"]{0,2000})
    | (?P<tag></?[A-Za-z][^<>]{0,400}>)
    | (?P<end><!--+|--{1,80}>|/\*+|\*{1,80}/|(?<=\s)(?:\#+|//+|--)(?=\s)|\\[nrt](?:[ ]?(?:[>*;%|\#]+|//+)[ ]?)?)
    | (?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | (?P<escape>\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2})
    """,
    re.VERBOSE | re.MULTILINE,
)
# What stands in the middle of a sentence and is no part of it: remarks, and the small signs of notes.
_ASIDE = (
    r"(?P<aside><!--.{0,2000}?--!?>|%%[^%]{1,2000}%%|\{>>.{0,2000}?<<\}|\{\#.{0,2000}?\#\}"
    r"|<sup\b[^<>]{0,200}>[^<>\n]{0,20}</sup>|\\label\{[^{}\n]{0,100}\}|\{[.\#][^{}\n]{0,200}\})"
)
_WITHOUT_ASIDES = re.compile(f"(?s:{_ASIDE})|{_MARKUP.pattern}", _MARKUP.flags)
_HAS_ASIDE = re.compile(_ASIDE, re.DOTALL)
_SIGNS = re.compile(
    r"[>*;%|#+\-/\"'{}\[\]`~_<&\\\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]|(?i:^[ \t]*rem)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """``view[at:]`` up to the next piece shows ``source[start:end]``; ``kept``: letter by letter."""

    at: int
    start: int
    end: int
    kept: bool


@dataclass(frozen=True, slots=True)
class Visible:
    """A text as it is seen. ``joints``: the places in it where something is left out."""

    text: str
    joints: frozenset[int]
    pieces: tuple[_Piece, ...]
    starts: tuple[int, ...]
    length: int

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` stands in the source, with the marks around it where it is wrapped in some."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        one, other = self.pieces[first], self.pieces[last]
        left = one.start + (start - one.at if one.kept else 0)
        right = other.start + (end - other.at) if other.kept else other.end
        before = self.pieces[first - 1].end if first else 0
        after = self.pieces[last + 1].start if last + 1 < len(self.pieces) else self.length
        opens, closes = left == one.start > before, right == other.end < after
        within = any(self.pieces[at].end < self.pieces[at + 1].start for at in range(first, last))
        if opens and (closes or within):
            left = before
        if closes and (opens or within):
            right = after
        return left, right


def read_views(text: str) -> list[Visible]:
    """What is seen of a text, with and without the asides in it; nothing where that is the text itself."""
    if not _SIGNS.search(text):
        return []
    patterns = (_MARKUP, _WITHOUT_ASIDES) if _HAS_ASIDE.search(text) else (_MARKUP,)
    views = (_read(text, pattern) for pattern in patterns)
    return [view for view in views if view is not None]


def _read(text: str, pattern: re.Pattern[str]) -> Visible | None:
    shown: list[str] = []
    pieces: list[_Piece] = []
    at = 0
    for start, end, said in _parts(text, pattern):
        kept = said is None
        said = text[start:end] if said is None else said
        if said:
            pieces.append(_Piece(at, start, end, kept))
            shown.append(said)
            at += len(said)
    view = "".join(shown)
    if view == text or not pieces:
        return None
    ends = [0, *(piece.end for piece in pieces)]
    joints = {piece.at for piece, before in zip(pieces, ends, strict=False) if piece.start > before}
    if pieces[-1].end < len(text):
        joints.add(len(view))
    return Visible(view, frozenset(joints), tuple(pieces), tuple(piece.at for piece in pieces), len(text))


def list_views(text: str) -> tuple[str, ...]:
    """A text and what is seen of it, each once."""
    return tuple(dict.fromkeys((text, *(view.text for view in read_views(text)))))


def plain_text(text: str) -> str:
    """What is seen of a text."""
    views = read_views(text)
    return views[-1].text if views else text


def _parts(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str | None]]:
    """The parts of a text in order, each with what is seen of it: None where it is what it is."""
    at = 0
    for match in pattern.finditer(text):
        if at < match.start():
            yield at, match.start(), None
        yield match.start(), match.end(), _shown(match)
        at = match.end()
    if at < len(text):
        yield at, len(text), None


def _shown(match: re.Match[str]) -> str | None:
    found = match.group()
    if match.lastgroup in ("gone", "aside"):
        return ""
    if match.lastgroup == "tag":
        return "\n" if _BREAKING.match(found) else ""
    if match.lastgroup == "end":
        return "\n"
    if match.lastgroup == "entity":
        said = html.unescape(found)
        return None if said == found else _UNSEEN.sub("", said)
    if match.lastgroup == "url":
        return f"\n{_JOINT.sub(chr(10), unquote_plus(found))}\n"
    return _UNSEEN.sub("", chr(int(found.lstrip("\\ux"), 16)))
