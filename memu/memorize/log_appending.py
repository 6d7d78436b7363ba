"""The end of a log as rows: what a reading of the whole would make of the lines behind its kept point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memu.ingest.document import Document, Source
from memu.ingest.readers.session import SessionReader
from memu.ingest.redacted_lines import redact_lines
from memu.memorize.cleaning import clean_document, note_border
from memu.memorize.extractors.captions import caption_session
from memu.memorize.extractors.noise import find_source_noise
from memu.memorize.extractors.sessions import COMMANDS_PAGE, EPISODE, Earlier, extract_session
from memu.memorize.extractors.trust import vouches_for_nothing
from memu.memorize.facts import DAMAGE, LAST_AT, damage_of
from memu.memorize.kept_points import KEPT_POINT, Added, Grown, KeptPoint, LogTrace, write_kept_point
from memu.memorize.log_keeping import last_time, move_point, take_off
from memu.memorize.passages import cut_passages
from memu.memorize.source_rows import to_entry
from memu.records import RecallEntry, Track

__all__ = ["add_turns"]


def add_turns(grown: Grown) -> Added | None:
    """The rows behind the kept point, and the source with them; None where what stands before would change too."""
    resource, point = grown.resource, grown.point
    redacted = redact_lines(grown.text)
    first = point.border.line
    read = SessionReader().read_on(Source(path=resource.path, text=redacted.text), point.border)
    named = replace(read, title=resource.title) if point.border.titled else read
    document, hidden = clean_document(named, resource.path)
    if not _goes_on(document, grown):
        return None
    document = replace(document, happened_at=resource.happened_at)
    passages = cut_passages(document, resource.path, resource.language)
    noise = find_source_noise(document, resource.path)
    candidates = () if noise else extract_session(document, _recall(point, grown.entries)).candidates
    by_line = {first - 1 + line: counts for line, counts in redacted.by_line.items()}
    trace = note_border(LogTrace(redacted=by_line), named, "", resource.path)
    redactions = _add(point.redactions, redacted.counts, hidden)
    moved = move_point(point, document, candidates, passages)
    if moved is None:
        return None
    if moved is not point:
        head = grown.tail.find_head(moved.border.line - first + 1)
        moved = replace(moved, head=head, redactions=take_off(redactions, trace.redacted_behind))
    return Added(
        resource=replace(
            resource,
            content_hash=grown.tail.content_hash,
            caption=caption_session(point.border.turn - 1 + len(document.turns)),
            redactions=redactions,
            facts={**_tell(resource.facts, point, document), KEPT_POINT: write_kept_point(moved)},
        ),
        entries=tuple(to_entry(point.entries + at, each) for at, each in enumerate(candidates)),
        passages=tuple(replace(each, ordinal=point.passages + each.ordinal) for each in passages),
    )


def _goes_on(document: Document, grown: Grown) -> bool:
    """Whether nothing in the new lines changes what the lines before them gave."""
    resource, point = grown.resource, grown.point
    began = [turn.began for turn in document.turns if turn.began is not None]
    if resource.happened_at is None or (began and min(began) < resource.happened_at):
        return False
    if document.title != resource.title or document.own_run != point.border.own_run:
        return False
    return point.closed or not vouches_for_nothing(document)


def _recall(point: KeptPoint, entries: Sequence[RecallEntry]) -> Earlier:
    said = [each for each in entries if each.track is Track.MEMORY and each.label != EPISODE]
    taught = (each for each in entries if each.track is Track.SKILL and each.page_hint == COMMANDS_PAGE)
    return Earlier(
        said=len(said), commands=tuple(each.text for each in taught), acted=point.acted, closed=point.closed
    )


def _tell(facts: Mapping[str, object], point: KeptPoint, document: Document) -> dict[str, object]:
    """The facts with what the new turns add to them: when the session was last heard of, what was passed over."""
    told = {name: value for name, value in facts.items() if name not in (DAMAGE, LAST_AT, KEPT_POINT)}
    times = [each for each in (point.last_at, last_time(document)) if each is not None]
    if times:
        told[LAST_AT] = max(times, key=datetime.fromisoformat)
    counts = Counter(dict(point.border.damage))
    counts.update(dict(document.damage))
    damage = damage_of(replace(document, damage=tuple(sorted(counts.items()))))
    return {**told, DAMAGE: damage} if damage else told


def _add(*counts: Mapping[str, int]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))
