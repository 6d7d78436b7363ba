"""Whether a log that was read may be read on from its last border, and what has to be kept of it for that.

A kept point is a function of the log alone, as all that is stored of a source. Where anything behind the border
has a say in what stands before it, there is none, and the log is read anew when it grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memu.errors import ReadError
from memu.ingest.document import Block, Document
from memu.ingest.log_heads import LogHead, find_head
from memu.ingest.sessions.borders import Border
from memu.ingest.sessions.events import read_turn
from memu.ingest.sessions.log_records import LINES_THAT_TELL
from memu.memorize.candidate import Candidate
from memu.memorize.extractors.sessions import did_something
from memu.memorize.extractors.trust import vouches_for_nothing
from memu.memorize.kept_points import KeptPoint, reader_version
from memu.memorize.large_logs import HEAD_BYTES
from memu.memorize.spoken import tells_language
from memu.memorize.states import MemorizeState
from memu.records import Kind, Passage, Track

__all__ = ["count_rows", "find_kept_point", "last_time", "move_point", "split_blocks", "take_off"]


def find_kept_point(state: MemorizeState, max_size: int) -> KeptPoint | None:
    """The kept point of a log that was just read; None of any other file, and where there can be none.

    ``max_size``: a log of more bytes was read as a stream.
    """
    document = state.document
    if document is None or document.kind is not Kind.SESSION or document.border is None:
        return None
    border, trace = document.border, state.log
    before, _ = split_blocks(document, border)
    rows = count_rows(state.candidates, state.passages, border)
    unsure = state.untrusted or state.forgotten or state.damage or state.extractor or rows is None
    if unsure or border.line <= max(trace.head_lines, LINES_THAT_TELL) or not tells_language(before):
        return None
    closed = all(each.track is not Track.SKILL for each in state.candidates) and vouches_for_nothing(document)
    settled = not closed or vouches_for_nothing(replace(document, blocks=before))
    head = _look_at(state, border, plain=state.file.size <= max_size) if settled and _is_dated(document) else None
    if head is None or rows is None or (state.file.size > max_size and head.size < HEAD_BYTES):
        return None
    return KeptPoint(
        border=border,
        head=head,
        path=state.file.path,
        version=reader_version(),
        large=state.file.size > max_size,
        redactions=take_off(state.redactions, trace.redacted_behind),
        last_at=last_time(document, border),
        entries=rows[0],
        passages=rows[1],
        acted=acts_last(before),
        closed=closed,
    )


def move_point(
    point: KeptPoint, document: Document, candidates: Sequence[Candidate], passages: Sequence[Passage]
) -> KeptPoint | None:
    """The point moved to the last border of what was read behind it, head and redactions aside.

    None where a row is on both sides of that border; the point itself where there is no further border.
    """
    border = document.border
    if border is None:
        return point
    rows = count_rows(candidates, passages, border)
    if rows is None:
        return None
    before, _ = split_blocks(document, border)
    times = [each for each in (point.last_at, last_time(document, border)) if each is not None]
    return replace(
        point,
        border=border,
        last_at=max(times, key=datetime.fromisoformat, default=None),
        entries=point.entries + rows[0],
        passages=point.passages + rows[1],
        acted=acts_last(before) if before else point.acted,
    )


def split_blocks(document: Document, border: Border) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The blocks before a border and those behind it."""
    before = tuple(block for block in document.blocks if block.event and block.event.turn < border.turn)
    return before, document.blocks[len(before) :]


def count_rows(
    candidates: Sequence[Candidate], passages: Sequence[Passage], border: Border
) -> tuple[int, int] | None:
    """How many candidates and passages are of the turns before a border; None where others stand among them."""
    turns = [read_turn(each.place) for each in candidates], [read_turn(each.place) for each in passages]
    counts = [sum(turn is not None and turn < border.turn for turn in some) for some in turns]
    for some, count in zip(turns, counts, strict=True):
        if any(turn is None or turn >= border.turn for turn in some[:count]):
            return None
    return counts[0], counts[1]


def last_time(document: Document, border: Border | None = None) -> str | None:
    """When the last of a session's turns, or of those before a border, was heard of."""
    turns = (turn for turn in document.turns if border is None or turn.number < border.turn)
    ended = max((turn.ended for turn in turns if turn.ended is not None), default=None)
    return ended.isoformat() if ended is not None else None


def acts_last(blocks: Sequence[Block]) -> bool:
    """Whether the last turn of these blocks did anything that may be corrected."""
    last = blocks[-1].event.turn if blocks and blocks[-1].event else 0
    return did_something(block for block in blocks if block.event and block.event.turn == last)


def take_off(counts: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    """The counts without those of others."""
    left = Counter(counts)
    left.subtract(others)
    return {name: count for name, count in sorted(left.items()) if count}


def _is_dated(document: Document) -> bool:
    """Whether the turns before the border tell when the session began."""
    border = document.border
    assert border is not None
    began = [turn.began for turn in document.turns if turn.number < border.turn and turn.began is not None]
    return bool(began) and min(began) == document.happened_at


def _look_at(state: MemorizeState, border: Border, *, plain: bool) -> LogHead | None:
    """The bytes before the border, if the file still begins with those that were read."""
    trace, root, path = state.log, state.root, state.file.path
    try:
        return find_head(
            root, path, line=border.line, size=trace.size, content_hash=state.content_hash, plain=plain
        )
    except ReadError:
        return None
