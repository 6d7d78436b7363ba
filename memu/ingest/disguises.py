r"""Secrets that a text's raw lines disguise: HTML entities, JSON escapes, a mail's own encodings.

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

__all__ = ["hides_secret", "redact_disguised"]

_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})")
_PERCENT = re.compile("%[2-7][0-9A-Fa-f]")


def hides_secret(text: str, path: str) -> bool:
    """Whether the redacted ``text`` of a source still shows a secret to whoever undoes its escapes.

    Looked at are the whole text with each sort of escape undone, comments and attributes included, and the
    strings that its reader makes of it.
    """
    return any(redact(form).counts for form in _undone(text)) or _read_hides(text, path)


def redact_disguised(text: str) -> Redacted:
    """The text; where a secret stands in it in escapes, the text with those undone and the secret redacted."""
    for form in _undone(text):
        redacted = redact(form)
        if redacted.counts:
            deeper = redact_disguised(redacted.text)
            return Redacted(text=deeper.text, counts=Counter(redacted.counts) + Counter(deeper.counts))
    return Redacted(text=text)


def _undone(text: str) -> Iterator[str]:
    if "&" in text and (plain := html.unescape(text)) != text:
        yield plain
    if "\\" in text and _ESCAPE.search(text):
        yield _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)
    if _PERCENT.search(text):
        yield unquote(text)


def _read_hides(text: str, path: str) -> bool:
    source = Source(path=path, text=text)
    document = find_reader(source).read(source)
    return any(redact(block.text).counts for block in document.blocks)
