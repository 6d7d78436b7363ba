"""Statements that many files carry alike: headers, footers, standing remarks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from memu.memorize.assign.records import AssignCandidate, AssignSource
from memu.records import Kind, Track

__all__ = ["BOILERPLATE_KINDS", "find_boilerplate"]

BOILERPLATE_KINDS = frozenset({Kind.DOCUMENT, Kind.MEETING})
_LEAST_FILES = 4
_ONE_IN = 10


def find_boilerplate(sources: Mapping[str, AssignSource], candidates: Iterable[AssignCandidate]) -> frozenset[str]:
    """The text keys that at least four documents (or meetings), and at least one in ten of them, have in common.

    Files are counted by their content, so copies of one file make nothing boilerplate. Procedures are left out:
    a step that many procedures share is still a step of each.
    """
    files: dict[Kind, set[str]] = defaultdict(set)
    for source in sources.values():
        files[source.kind].add(_content_of(source))
    holders: dict[tuple[Kind, str], set[str]] = defaultdict(set)
    for candidate in candidates:
        source = sources[candidate.path]
        if candidate.track is Track.MEMORY and candidate.text_key and source.kind in BOILERPLATE_KINDS:
            holders[source.kind, candidate.text_key].add(_content_of(source))
    return frozenset(
        key
        for (kind, key), contents in holders.items()
        if len(contents) >= _LEAST_FILES and len(contents) * _ONE_IN >= len(files[kind])
    )


def _content_of(source: AssignSource) -> str:
    return source.content_hash or f"path:{source.path}"
