"""Names of pages, always from what a person wrote: never from the body of a text."""

from __future__ import annotations

from collections.abc import Sequence

from memu.memorize.assign.folders import nearest_folder
from memu.memorize.assign.phrases import Voice, choose_topics
from memu.memorize.assign.records import AssignCandidate, AssignSource
from memu.memorize.assign.series import find_series
from memu.memorize.assign.stop_phrases import is_stop_phrase
from memu.memorize.assign.words import plain_title
from memu.memorize.facts import Facts, read_facts, without_numbers
from memu.records import Kind

__all__ = ["GENERAL", "name_procedure", "name_sources"]

GENERAL = "General"
# Their file names are written by a person; those of chats and sessions mostly by a program.
_NAMED_BY_FILE = frozenset({Kind.DOCUMENT, Kind.MEETING, Kind.MAIL})


def name_sources(sources: Sequence[AssignSource], hints: Sequence[str] = ()) -> dict[str, str]:
    """The memory page of each source, by path, spelled as somebody wrote it.

    In this order: category or tag; dated series; the longest phrase that titles share with one another or with a
    page that stands already (``hints`` and those just named); the nearest telling folder; a phrase that most
    titles share; "General".
    """
    names: dict[str, str] = {}
    facts = {source.path: read_facts(source.facts) for source in sources}
    for source in sources:
        label = _label_of(facts[source.path])
        if label is not None:
            names[source.path] = label
    names.update(find_series(source for source in sources if source.path not in names))
    rest = [source for source in sources if source.path not in names]
    topics = choose_topics((_voice_of(source, facts[source.path]) for source in rest), {*names.values(), *hints})
    for source in rest:
        topic = topics.get(source.path)
        if topic is not None and not topic.broad:
            names[source.path] = topic.name
        else:
            names[source.path] = nearest_folder(source.path) or (topic.name if topic else GENERAL)
    return names


def name_procedure(candidate: AssignCandidate, source: AssignSource) -> str:
    """The skill page of one step or fence: what its procedure is called, told apart where that is only "Usage"."""
    facts = read_facts(source.facts)
    title = plain_title(source.title)
    name = without_numbers(plain_title(candidate.page_hint or "")).rstrip(" :：.") or title
    if not is_stop_phrase(name):
        return name
    about = title if facts.titled and not is_stop_phrase(title) else nearest_folder(source.path)
    if about is None and not is_stop_phrase(title):
        about = title
    return ": ".join(filter(None, (without_numbers(about or ""), name))) or GENERAL


def _label_of(facts: Facts) -> str | None:
    """The category, else the first tag, that is more than a stop phrase."""
    labels = [facts.category, *facts.tags] if facts.category else facts.tags
    cleaned = (plain_title(label or "").lstrip("#").strip() for label in labels)
    return next((label for label in cleaned if label and not is_stop_phrase(label)), None)


def _voice_of(source: AssignSource, facts: Facts) -> Voice:
    title = facts.series_title if facts.titled else ""
    if not title and source.kind in _NAMED_BY_FILE:
        title = facts.series_stem
    texts = (title, without_numbers(facts.heading))
    content = source.content_hash or f"path:{source.path}"
    return Voice(path=source.path, content=content, texts=tuple(text for text in texts if text))
