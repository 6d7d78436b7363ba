"""Private keys in armour: PEM and OpenSSH blocks, whole, cut off, escaped into one line, and PuTTY's own form."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["find_private_keys"]

_MAX_BLOCK = 20_000
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# A line of a block as it may be quoted, indented, escaped or put together in code.
_BODY_LINE = re.compile(
    r"""(?:[ \t>|"'+\\]|\\[nr])*+
    (?:[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/]{1,15}+={0,2}|[A-Z][A-Za-z-]{2,20}:[ ][^\n]{1,80})?
    (?:[ \t"'+,;\\]|\\[nr])*+(?:\n|$)""",
    re.VERBOSE,
)
_ESCAPED_BODY = re.compile(r"(?:[A-Za-z0-9+/= ]|\\{1,2}[nr]){1,20000}")
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,3}\n(?P<body>(?:[A-Za-z0-9+/=]{1,80}(?:\n|$)){1,99})")


def find_private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each private key block. One without an end reaches as far as its lines look like one."""
    position = 0
    while (begin := _BEGIN.search(text, position)) is not None:
        position = _block_end(text, begin.end())
        yield begin.start(), position
    if "Private-Lines: " in text:
        for match in _PUTTY.finditer(text):
            yield match.span("body")


def _block_end(text: str, start: int) -> int:
    limit = min(len(text), start + _MAX_BLOCK)
    following = text.find("-----BEGIN ", start, limit)
    limit = following if following >= 0 else limit
    if (end := _END.search(text, start, limit)) is not None:
        return end.end()
    position = start
    escaped = _ESCAPED_BODY.match(text, position, limit)
    if escaped is not None and "\\n" in escaped[0]:
        return escaped.end()
    while position < limit:
        line = _BODY_LINE.match(text, position, limit)
        if line is None or line.end() == position:
            break
        position = line.end()
    # The line break after the last line is not the key's.
    return position - 1 if position > start and text[position - 1] == "\n" else position
