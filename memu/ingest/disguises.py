r"""Secrets that a text's raw lines disguise: HTML entities, JSON escapes, a mail's own encodings, and marks inside
a token that nobody sees once it is shown (emphasis, tags, characters without width).

What a reader makes of a source is redacted once more when it is stored. Whoever shows raw lines asks here first.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.ingest.redact import Redacted, redact
from memu.ingest.secret_patterns import TOKEN_MIN_LENGTH

__all__ = ["hides_secret", "redact_disguised"]

_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})")
_PERCENT = re.compile("%[2-7][0-9A-Fa-f]")
# Soft hyphens, joiners and spaces without width.
_UNSEEN = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
# What a viewer of Markdown does not show: emphasis and code marks, a backslash before a sign, a tag or comment.
_MARKUP = re.compile(
    r"\*{1,3}|~~|`+|\\(?=[!-/:-@\[-`{-~])|</?[A-Za-z][^<>\s]{0,40}>|<!--[^\s>]{0,40}-->", re.ASCII
)
# No mark is without one of them; to look for each is many times faster than to look for marks.
_SIGNS = "*`<\\~"
_WORD = re.compile(rf"\S{{{TOKEN_MIN_LENGTH},}}")


def hides_secret(text: str, path: str) -> bool:
    """Whether the redacted ``text`` of a source still shows a secret to whoever undoes its escapes.

    Looked at are the whole text with each sort of escape undone, comments and attributes included, and the
    strings that its reader makes of it.
    """
    return _shows(text) or _read_hides(text, path)


def redact_disguised(text: str) -> Redacted:
    """The text; where a secret stands in it in escapes, the text with those undone and the secret redacted.

    A secret with marks inside gives way with them; the rest keeps its marks.
    """
    for form in _undone(text):
        redacted = redact(form)
        if redacted.counts or _redact_marked(form).counts:
            deeper = redact_disguised(redacted.text)
            return Redacted(text=deeper.text, counts=Counter(redacted.counts) + Counter(deeper.counts))
    return _redact_marked(text)


def _shows(text: str) -> bool:
    if _redact_marked(text).counts:
        return True
    return any(redact(form).counts or _redact_marked(form).counts for form in _undone(text))


def _undone(text: str) -> Iterator[str]:
    """The text with each sort of escape undone, and then without what has no width."""
    for form in (text, *_unescaped(text)):
        if form != text:
            yield form
        if not form.isascii() and _UNSEEN.search(form):
            yield _UNSEEN.sub("", form)


def _unescaped(text: str) -> Iterator[str]:
    if "&" in text and (plain := html.unescape(text)) != text:
        yield plain
    if "\\" in text and _ESCAPE.search(text):
        yield _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)
    if _PERCENT.search(text):
        yield unquote(text)


def _redact_marked(text: str) -> Redacted:
    """The text without the secrets whose words have marks inside."""
    if not any(sign in text for sign in _SIGNS):
        return Redacted(text=text)
    words = [(match, plain) for match in _WORD.finditer(text) if (plain := _strip(match.group()))]
    # One look at them all, for hardly ever is there any.
    if not words or not redact("\n".join(plain for _, plain in words)).counts:
        return Redacted(text=text)
    counts: Counter[str] = Counter()
    parts: list[str] = []
    done = 0
    for match, plain in words:
        redacted = redact(plain)
        if redacted.counts:
            counts.update(redacted.counts)
            parts += (text[done : match.start()], _put_back(match.group(), plain, redacted.text))
            done = match.end()
    return Redacted(text="".join((*parts, text[done:])), counts=dict(counts))


def _strip(word: str) -> str:
    """The word without marks, or "" where it had none or is too short for a token then."""
    plain = _MARKUP.sub("", word) if any(sign in word for sign in _SIGNS) else word
    return plain if TOKEN_MIN_LENGTH <= len(plain) < len(word) else ""


def _put_back(word: str, plain: str, redacted: str) -> str:
    """``word`` with what differs between ``plain`` and ``redacted``; the marks around that place are left out."""
    same = _count_same(plain, redacted)
    after = min(min(len(plain), len(redacted)) - same, _count_same(plain[::-1], redacted[::-1]))
    hidden = [False] * len(word)
    for match in _MARKUP.finditer(word):
        hidden[match.start() : match.end()] = [True] * len(match.group())
    places = [at for at, mark in enumerate(hidden) if not mark]
    start = places[same - 1] + 1 if same else 0
    end = places[len(plain) - after] if after else len(word)
    return word[:start] + redacted[same : len(redacted) - after] + word[end:]


def _count_same(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _read_hides(text: str, path: str) -> bool:
    source = Source(path=path, text=text)
    document = find_reader(source).read(source)
    return any(redact(block.text).counts or _shows(block.text) for block in document.blocks)
