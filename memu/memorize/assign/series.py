"""Dated series: files that bear the same title but for the date, such as a diary or a weekly meeting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from memu.memorize.assign.folders import nearest_folder
from memu.memorize.assign.records import AssignSource
from memu.memorize.assign.stop_phrases import is_stop_phrase
from memu.memorize.assign.words import split_words
from memu.memorize.facts import read_facts
from memu.names import choose_display_name
from memu.records import Kind

__all__ = ["SeriesPlace", "find_series", "place_in_series"]

_LEAST_FILES = 4
# For these the time inside the content is the time of the whole; a document may just mention a date.
_TIMED_KINDS = frozenset({Kind.CHAT, Kind.MEETING, Kind.SESSION, Kind.MAIL})


@dataclass(frozen=True, slots=True)
class SeriesPlace:
    """The series that a source would belong to, what a person calls it, and the source's date in it."""

    key: str
    name: str
    date: str


def place_in_series(path: str, kind: Kind, facts: Mapping[str, object]) -> SeriesPlace | None:
    """Where the source stands in a dated series; None without a date or a name to go by.

    The name is what is left of the title, else of the file's name, else the folder; one that only says "Notes"
    is the last resort, and only for a date that somebody wrote in title or name.
    """
    known = read_facts(facts)
    if known.date is None or not (known.dated or kind in _TIMED_KINDS):
        return None
    written = [name for name in (known.series_title, known.series_stem) if split_words(name)]
    for name in written:
        if not is_stop_phrase(name):
            return SeriesPlace(_key_of(name), name, known.date)
    folder = nearest_folder(path)
    if folder is not None:
        return SeriesPlace(f"in {PurePosixPath(path).parent.parts[0]}/{_key_of(folder)}", folder, known.date)
    if known.dated and written:
        return SeriesPlace(_key_of(written[0]), written[0], known.date)
    return None


def find_series(sources: Iterable[AssignSource]) -> dict[str, str]:
    """The series' page name for each path in a series of four or more files."""
    members: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for source in sources:
        place = place_in_series(source.path, source.kind, source.facts)
        if place is not None:
            members[place.key].append((source.path, place.name))
    names: dict[str, str] = {}
    for found in members.values():
        if len(found) >= _LEAST_FILES:
            name = choose_display_name(spelling for _, spelling in found)
            names.update((path, name) for path, _ in found)
    return names


def _key_of(name: str) -> str:
    return " ".join(word.key for word in split_words(name) if not word.key.isdigit())
