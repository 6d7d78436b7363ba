"""Page names: how spellings fold together, and the file name that a page gets.

Pure functions of the name alone, so adding a page never renames another.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["MAX_SLUG_BYTES", "choose_display_name", "fold_name", "slugify"]

MAX_SLUG_BYTES = 120
_HASH_DIGITS = 6
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))]
)
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """The identity of a page: NFC, case-folded, runs of white space made one space, punctuation kept.

    >>> fold_name("  Deploy   NOTES ")
    'deploy notes'
    """
    # Case folding can denormalise (İ, ŉ), so the form is settled last.
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return _SPACE.sub(" ", folded).strip()


def choose_display_name(spellings: Iterable[str]) -> str:
    """The spelling shown for a page: the lowest by code point, whatever order the sources came in."""
    return min(_SPACE.sub(" ", unicodedata.normalize("NFC", spelling)).strip() for spelling in spellings)


def slugify(name: str) -> str:
    """The file name (without suffix) of a page: readable where it can be, unique always.

    Letters and digits of any script are kept; everything else becomes a hyphen, and then six hex digits of
    the folded name's hash follow, so that "a b" and "a-b" never meet. At most 120 bytes of UTF-8.

    >>> slugify("deploys"), slugify("a-2")
    ('deploys', 'a-2')
    """
    folded = fold_name(name)
    kept = "".join(char if _is_kept(char) else "-" for char in folded)
    readable = re.sub(r"-{2,}", "-", kept).strip("-")
    digest = hashlib.sha256(folded.encode("utf-8")).hexdigest()[:_HASH_DIGITS]
    suffix = f"-{digest}"
    cut = _cut_bytes(readable, MAX_SLUG_BYTES - len(suffix)).strip("-")
    # A readable part that already ends like one of our suffixes could meet another page's slug.
    lossless = (
        bool(cut) and cut == folded and folded not in _RESERVED and not re.search(r"(^|-)[0-9a-f]{6}$", folded)
    )
    return folded if lossless else f"{cut or 'page'}{suffix}"


def _is_kept(char: str) -> bool:
    return char == "-" or unicodedata.category(char)[0] in "LNM"


def _cut_bytes(text: str, limit: int) -> str:
    return text.encode("utf-8")[:limit].decode("utf-8", errors="ignore")
