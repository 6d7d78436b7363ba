"""Footnote marks: what a block ends in and by which its page cites the entries behind it."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable

__all__ = ["MARK_PATTERN", "format_marks", "marks_for"]

# A footnote reference as it stands in a page.
MARK_PATTERN = r"\[\^([a-z2-7]{5,52})\]"
_LEAST = 5


def marks_for(text_keys: Iterable[str]) -> dict[str, str]:
    """The mark of each distinct text key on one page.

    The first five or more characters of the key's SHA-256 in lower-case base32, lengthened just until no other
    key of the page begins alike. The order of the keys decides nothing.
    """
    digests = {key: _digest(key) for key in text_keys}
    marks: dict[str, str] = {}
    length, open_keys = _LEAST, set(digests)
    while open_keys:
        shared = Counter(digest[:length] for digest in digests.values())
        settled = {key for key in open_keys if shared[digests[key][:length]] == 1}
        marks.update((key, digests[key][:length]) for key in settled)
        open_keys -= settled
        length += 1
    return marks


def format_marks(marks: Iterable[str]) -> str:
    """Marks as they stand at the end of a block: ``[^k3f9a] [^bcd2e]``."""
    return " ".join(f"[^{mark}]" for mark in marks)


def _digest(key: str) -> str:
    raw = hashlib.sha256(key.encode("utf-8", errors="surrogatepass")).digest()
    return base64.b32encode(raw).decode("ascii").rstrip("=").lower()
