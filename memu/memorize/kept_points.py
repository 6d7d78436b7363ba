"""The point up to which a session's log need not be read again: what a reading leaves for the next one.

It stands among the facts of a source and holds hashes, numbers and names of memu's own, none of the log's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from memu.ingest.log_heads import LogHead, LogTail
from memu.ingest.sessions.borders import Border
from memu.records import Passage, RecallEntry, Resource

__all__ = [
    "KEPT_POINT",
    "Added",
    "Grown",
    "KeptPoint",
    "LogTrace",
    "read_kept_point",
    "reader_version",
    "write_kept_point",
]

KEPT_POINT = "kept_point"
"""Under this name the facts of a log hold its kept point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTrace:
    """What steps note of a reading for its kept point.

    size: bytes that were read. lined: whether each line was redacted by itself. head_lines: how many lines the
    text's head has, by which its reader is found. redacted: how many secrets of each kind stood in which line.
    redacted_behind: how many in what lies behind the border.
    """

    size: int = 0
    lined: bool = False
    head_lines: int = 0
    redacted: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    redacted_behind: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPoint:
    """A border of a log, the bytes before it, and what of the source's rows is of them.

    path, version, large: under which path, by which memu and whether as a stream they were read.
    redactions: secrets found before the border. last_at: when the last of the turns before it was heard of.
    entries, passages: how many of each, in their order, are of those turns.
    acted, closed: as ``extractors.sessions.Earlier`` has them.
    """

    border: Border
    head: LogHead
    path: str
    version: str
    large: bool
    redactions: Mapping[str, int] = field(default_factory=dict)
    last_at: str | None = None
    entries: int = 0
    passages: int = 0
    acted: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A source that was read up to its kept point, the entries before it, and what was written behind it.

    text: of what was written, as a reading of the whole would have it but for its secrets.
    """

    resource: Resource
    point: KeptPoint
    entries: tuple[RecallEntry, ...]
    tail: LogTail
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The source as it is now, and its rows behind the kept point."""

    resource: Resource
    entries: tuple[RecallEntry, ...]
    passages: tuple[Passage, ...]


def write_kept_point(point: KeptPoint) -> dict[str, Any]:
    """The point as facts hold it."""
    return asdict(point) | {"border": asdict(point.border) | {"damage": dict(point.border.damage)}}


def read_kept_point(facts: Mapping[str, Any]) -> KeptPoint | None:
    """The point in the facts of a source; None where there is none, or another version of memu wrote it."""
    stored = facts.get(KEPT_POINT)
    if not isinstance(stored, Mapping) or stored.get("version") != reader_version():
        return None
    border = dict(stored["border"])
    damage = tuple(sorted(border.pop("damage").items()))
    return KeptPoint(**{**stored, "border": Border(**border, damage=damage), "head": LogHead(**stored["head"])})


def reader_version() -> str:
    """The version of memu, which reads logs as no other may: what an older one read is read anew."""
    import importlib.metadata

    try:
        return importlib.metadata.version("memu")
    except importlib.metadata.PackageNotFoundError:
        return ""
