"""What an answer may be taken from: an app's words for it made a filter that the store keeps to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, time
from enum import StrEnum
from typing import TypeVar

from memu.arguments import require_text
from memu.errors import ConfigurationError
from memu.records import Kind, Layer, MemoryType
from memu.storage.globs import glob_pattern
from memu.storage.search import EVERYTHING, SearchFilter

__all__ = ["Moment", "bound", "choose", "leave_out_pages"]

Moment = datetime | str
Choice = TypeVar("Choice", bound=StrEnum)


def bound(
    *,
    path: str | None = None,
    kinds: Iterable[Kind | str] | None = None,
    memory_types: Iterable[MemoryType | str] | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    changed_since: Moment | None = None,
    changed_until: Moment | None = None,
    workspace_id: str | None = None,
) -> SearchFilter:
    """The filter of these bounds; None leaves a side open. A text is a date or a time in ISO 8601.

    Without a zone a text is taken as UTC. A date alone is the whole day: its first moment as a beginning, its last
    as an end. A moment that lies before the year 1 in UTC, or after 9999, is the first or last there is.

    Raises:
        ConfigurationError: there is no such kind or type; a time cannot be read or has no zone; a range ends
            before it begins; the path is empty, or no glob.
    """
    if path is not None:
        _require_glob(path)
    first, last = _range(since, until, ("since", "until"))
    changed_first, changed_last = _range(changed_since, changed_until, ("changed_since", "changed_until"))
    return SearchFilter(
        path_glob=path,
        kinds=None if kinds is None else choose(Kind, "kinds", kinds),
        memory_types=None if memory_types is None else choose(MemoryType, "memory_types", memory_types),
        workspace_id=workspace_id,
        since=first,
        until=last,
        changed_since=changed_first,
        changed_until=changed_last,
    )


def leave_out_pages(wanted: SearchFilter, layers: frozenset[Layer]) -> frozenset[Layer]:
    """The layers that can be found within these bounds: a page has no path, kind, type or time.

    Raises:
        ConfigurationError: only pages are asked for, and by what they do not have.
    """
    if replace(wanted, layers=None, tracks=None, workspace_id=None, among=None) == EVERYTHING:
        return layers
    if layers == {Layer.FILE}:
        raise ConfigurationError(
            "Pages have no path, kind, type or time to be found by; ask for the layers entry or resource."
        )
    return layers - {Layer.FILE}


def choose(kind: type[Choice], name: str, wanted: Iterable[Choice | str] | None) -> frozenset[Choice]:
    """The members that were asked for; all where none were.

    Raises:
        ConfigurationError: one is not among them.
    """
    if wanted is None:
        return frozenset(kind)
    given = [wanted] if isinstance(wanted, str) else list(wanted)
    if unknown := sorted(each for each in given if each not in set(kind)):
        raise ConfigurationError(f"{name}: there is no {unknown[0]!r}; there are: {', '.join(kind)}.")
    return frozenset(kind(each) for each in given)


def _require_glob(path: str) -> None:
    if not require_text("path", path).strip():
        raise ConfigurationError("path is empty; give a glob such as docs/** or *.md.")
    glob_pattern(path)


def _range(
    begin: Moment | None, end: Moment | None, names: tuple[str, str]
) -> tuple[datetime | None, datetime | None]:
    first = None if begin is None else _read(begin, names[0], time.min)
    last = None if end is None else _read(end, names[1], time.max)
    if first is not None and last is not None and last < first:
        raise ConfigurationError(f"{names[1]} ({last.isoformat()}) is before {names[0]} ({first.isoformat()}).")
    return first, last


def _read(moment: Moment, name: str, of_day: time) -> datetime:
    if isinstance(moment, datetime):
        if moment.utcoffset() is None:
            raise ConfigurationError(f"{name} has no time zone; give one, such as datetime.UTC.")
        return _to_utc(moment)
    if not isinstance(moment, str):
        raise ConfigurationError(f"{name} is a {type(moment).__name__}; give a datetime, or a text of ISO 8601.")
    text = moment.strip()
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(
            f"{name}: {text!r} is no date such as 2026-03-01, nor a time of ISO 8601."
        ) from None
    if len(text) <= len("2026-03-01"):
        read = datetime.combine(read.date(), of_day)
    return read.replace(tzinfo=UTC) if read.tzinfo is None else _to_utc(read)


def _to_utc(moment: datetime) -> datetime:
    """The same moment in UTC; the first or last there is where that lies beyond the calendar."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC) if moment.year == 1 else datetime.max.replace(tzinfo=UTC)
