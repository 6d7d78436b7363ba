"""Whether a line tells someone to do something, or is a command that a shell would run."""

from __future__ import annotations

import re

from memu.memorize.extractors.cue_words import load_phrases, load_source_words
from memu.memorize.extractors.noise import strip_markup

__all__ = ["count_commands", "is_imperative"]

_OPENERS = re.compile(
    r"(?:\([^)]{0,40}\)\s*|\[[ xX]\]\s*"
    r"|(?:first|second|third|then|next|now|finally|lastly|afterwards|also|optionally|again|once \w+,"
    r"|zuerst|dann|danach|anschließend|primero|luego|después|finalmente|首先|然后|接着|最后|再)[,，:]?\s+)+",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"^\s*(?:\$|%|>|#|PS [^>]*>|\w+@[\w.-]+[:~][^$#]*[$#])\s+(?=\S)")
_FIRST_WORD = re.compile(r"^\W*([\w'’-]+)")


def is_imperative(text: str) -> bool:
    """Whether ``text`` begins like an instruction: a verb of the list, or a command."""
    plain = strip_markup(text)
    if (opener := _OPENERS.match(plain)) is not None:
        plain = plain[opener.end() :]
    word = _FIRST_WORD.match(plain)
    if word is None:
        return False
    if load_phrases("imperatives").name(word.group(1)) or _is_command(text):
        return True
    return not plain[:1].isascii() and load_phrases("imperatives").open(plain[:4])


def _is_command(text: str) -> bool:
    """Whether ``text`` is a code span or line that a shell would run."""
    line = text.strip()
    if not line.startswith("`"):
        return False
    return count_commands(line.strip("`").split("`")[0]) > 0


def count_commands(text: str) -> int:
    """How many lines of ``text`` a shell would run, going by their first word."""
    count = 0
    for line in text.split("\n"):
        bare = _PROMPT.sub("", line).strip()
        first = bare.split(maxsplit=1)[0] if bare else ""
        count += first in load_source_words("commands") or (first.startswith("./") and len(first) > 2)
    return count
