"""Which sources anybody may have written: by kind, and by the folder's own rules, which may change."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from memu.ingest.ignore import IgnoreRules, parse_rules
from memu.records import Kind, Resource

__all__ = ["TRUST_RULES", "find_misjudged", "is_anybodys", "number_rules"]

TRUST_RULES = "trust_rules"
"""Under this name a run's counts keep the number of the rules that it went by."""
_ANYBODYS = frozenset({Kind.MAIL, Kind.IMAGE, Kind.AUDIO})
_WEB_PAGES = (".html", ".htm", ".xhtml", ".mht", ".mhtml")


def is_anybodys(kind: Kind, path: str) -> bool:
    """Whether anybody may have written a source of this kind, wherever it lies: mail, web pages, what a model saw
    or heard."""
    return kind in _ANYBODYS or path.endswith(_WEB_PAGES)


def number_rules(patterns: Sequence[str]) -> int:
    """A number that tells these patterns from others; 0 of none."""
    return zlib.crc32("\n".join(patterns).encode("utf-8")) if patterns else 0


def find_misjudged(sources: Sequence[Resource], patterns: Sequence[str]) -> frozenset[str]:
    """The paths of sources that were read as trusted and are not by these patterns, or the other way round."""
    rules = IgnoreRules(tuple(parse_rules(patterns, "untrusted")))
    return frozenset(
        each.path
        for each in sources
        if (each.facts.get("untrusted") is True)
        is not (rules.covers(each.path) or is_anybodys(each.kind, each.path))
    )
