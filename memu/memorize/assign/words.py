"""The words of a title, and how two spellings of one count as the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Word", "plain_title", "split_words"]

# Scripts written without spaces are taken character by character.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_WORD = re.compile(rf"[{_UNSPACED}]|{_LETTER}+(?:[.'’]{_LETTER}+)*(?:\+\+|[+#](?!\w))?")
_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")

# What memu itself put in the place of a secret, or of what was forgotten, is no word of a title.
_MARK = re.compile(r"\[redacted:[a-z0-9-]{1,32}\]|\[forgotten\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)")
_WIKILINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_MARKUP = re.compile(r"`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_REPLY = re.compile(r"^\s*(?:(?:re|fwd?|aw|wg|rv|tr|回复|转发)\s*[:：]\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text: what it is compared by, and where it stands. ``weight`` is 2, or 1 for one character
    of a script without spaces, where two characters make about one word."""

    key: str
    start: int
    end: int
    weight: int


@lru_cache(maxsize=65536)
def split_words(text: str) -> Sequence[Word]:
    """The words of ``text`` in order; case and an English plural's ending do not tell two words apart.

    >>> [word.key for word in split_words("GOV.UK Databases, 数据")]
    ['gov.uk', 'database', '数', '据']
    """
    return tuple(
        Word(_key_of(match.group()), match.start(), match.end(), 1 if _UNSPACED_CHAR.match(match.group()) else 2)
        for match in _WORD.finditer(text)
    )


@lru_cache(maxsize=65536)
def plain_title(title: str) -> str:
    """A title without Markdown's marks, links' targets, a mail's "Re:" and the marks that stand for what was taken
    out, white space made single spaces.

    >>> plain_title("Re: Using `terraform` [here](x.md)"), plain_title("Key [redacted:github-token]")
    ('Using terraform here', 'Key')
    """
    text = _MARK.sub(" ", unicodedata.normalize("NFC", title))
    text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _REPLY.sub("", _MARKUP.sub("", text))
    return " ".join(text.split())


def _key_of(word: str) -> str:
    key = unicodedata.normalize("NFC", word.casefold()).replace("’", "'").removesuffix("'s")
    if len(key) > 4 and key.endswith("ies") and key.isascii():
        return key[:-3] + "y"
    if len(key) > 3 and key.endswith("s") and key.isascii() and not key.endswith(("ss", "us", "is")):
        return key[:-1]
    return key
