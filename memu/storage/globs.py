"""Globs of paths as regular expressions that Python and Postgres read alike. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memu.arguments import is_storable
from memu.errors import ConfigurationError

__all__ = ["LONGEST_GLOB", "glob_pattern"]

# As long as a path may be. Databases refuse patterns of some hundred thousand characters, each in its own words.
LONGEST_GLOB = 4096

_PARTS = re.compile(r"(?:\*\*/)+|\*{2,}|\*|\?|\[[!^]?[^\]/]+\]|.", flags=re.DOTALL)
# Of POSIX: [[:alpha:]], [[.a.]], [[=a=]]. Each tool means another thing by them.
_NAMED = re.compile(r"\[([:.=]).+\1\Z")


def glob_pattern(glob: str) -> str:
    r"""The pattern of a glob: ``*`` and ``?`` stand for no ``/``, ``**`` for anything, ``**/`` for any folders.

    ``[a-z]`` is one character of these, ``[!a-z]`` and ``[^a-z]`` any other; neither is ever a ``/``. All else is
    itself, a backslash and a bracket that is not closed too. Without a ``/`` a name in any folder is meant; one at
    the end means all below that folder. ``(?s)`` and ``\Z`` let line breaks in names be like other characters.

    Raises:
        ConfigurationError: a range ends before it begins, a class is named, or it is longer than any path.
    """
    if len(glob) > LONGEST_GLOB:
        raise ConfigurationError(
            f"The glob of a path has {len(glob)} characters; more than {LONGEST_GLOB} no path has."
        )
    if not is_storable(glob):
        raise ConfigurationError("The glob of a path holds a NUL or half a character, which no stored path does.")
    glob = glob.removeprefix("./").removeprefix("/")
    if glob.endswith("/"):
        glob += "**"
    start = "^" if "/" in glob else "(^|/)"
    return "(?s)" + start + "".join(map(_to_pattern, _PARTS.findall(glob))) + r"\Z"


def _to_pattern(part: str) -> str:
    if part.startswith("**"):
        return "(.*/)?" if part.endswith("/") else ".*"
    if part == "*":
        return "[^/]*"
    if part == "?":
        return "[^/]"
    if len(part) == 1:
        return re.escape(part)
    inside = part[1:-1]
    # A class of one sign that would turn it around is that sign.
    turned = len(inside) > 1 and inside[0] in "!^"
    members = inside[1:] if turned else inside
    if _NAMED.search(members):
        raise ConfigurationError(f"The glob's {part}] names a class of characters; write them out, as [a-zA-Z].")
    return f"[{'^/' if turned else ''}{''.join(_to_members(part, members))}]"


def _to_members(part: str, members: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(members):
        first = members[at]
        if members[at + 1 : at + 2] != "-" or at + 2 >= len(members):
            yield re.escape(first)
            at += 1
            continue
        last = members[at + 2]
        if last < first:
            raise ConfigurationError(
                f"The glob's {part} has a range that ends before it begins; write {last}-{first}, or the - last."
            )
        # A name holds no /, which is what .- and 0 have between them.
        pieces = ((first, "."), ("0", last)) if first < "/" < last else ((first, last),)
        yield from (f"{re.escape(low)}-{re.escape(high)}" for low, high in pieces)
        at += 3
