"""What several texts say only together: an item and its sub-item, a heading and its section, a label and its text.

They are shown one after the other, or one in front of the other, so together they may be a forgotten statement
that neither is. Pure functions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

from memu.ingest.document import Block, BlockKind
from memu.memorize.candidate import Candidate
from memu.memorize.forget.marked_blocks import mark_block
from memu.memorize.forget.places import find_places, mark_places
from memu.memorize.forget.runs import Statements
from memu.records import RecallEntry

__all__ = ["cut_blocks", "cut_row", "cut_shown", "list_shown"]

Shown = TypeVar("Shown", Candidate, RecallEntry)

# Their lines are records; what stands in two of them was not said in one.
_RECORDS = frozenset(
    {BlockKind.ROW, BlockKind.TABLE, BlockKind.LOG_LINE, BlockKind.DATA, BlockKind.CODE, BlockKind.SIGNATURE}
)
_GROUP_CHARS = 8_000
_OVERLAP_CHARS = 2_400
_SHORT_CHARS = 80
_MOST_SHORT = 4


def cut_blocks(blocks: Sequence[Block], statements: Statements) -> tuple[Block, ...]:
    """The blocks without what some that follow one another say together."""
    cut = list(blocks)
    for run in _list_runs(blocks):

        def mark(at: int, _: str, places: Sequence[tuple[int, int]], run: Sequence[int] = run) -> str:
            cut[run[at]] = mark_block(cut[run[at]], places)
            return cut[run[at]].text

        _mark_row([blocks[at].text for at in run], statements, mark)
    told = {old.text: new.text for old, new in zip(blocks, cut, strict=True) if old.text != new.text}
    if not told:
        return tuple(cut)
    return tuple(replace(block, parent=told.get(block.parent or "", block.parent)) for block in cut)


def cut_row(texts: Sequence[str], statements: Statements) -> tuple[str, ...]:
    """The texts, which are read one after the other, without what only several of them say together."""
    return _mark_row(texts, statements, lambda _, text, places: mark_places(text, places))


def _mark_row(
    texts: Sequence[str],
    statements: Statements,
    mark: Callable[[int, str, Sequence[tuple[int, int]]], str],
) -> tuple[str, ...]:
    """The texts, each as ``mark`` leaves it: asked with the text's index, the text, and places in it."""
    left = list(texts)
    for first, last in _group(texts):
        group = left[first:last]
        ends = list(accumulate(len(text) + 1 for text in group))
        starts = [0, *ends[:-1]]
        across = [
            (start, end)
            for start, end in (*find_places("\n".join(group), statements), *_find_short(group, starts, statements))
            # What one of them says alone was cut before.
            if bisect_right(starts, start) != bisect_right(starts, end - 1)
        ]
        for at, (begin, text) in enumerate(zip(starts, group, strict=True), first) if across else ():
            own = [(max(0, start - begin), min(len(text), end - begin)) for start, end in across]
            left[at] = mark(at, text, [(start, end) for start, end in own if start < end])
    return tuple(left)


def list_shown(one: Candidate | RecallEntry) -> tuple[str, ...]:
    """What stands in front of it where it is shown: label, section and page, as far as it has them."""
    return tuple(dict.fromkeys(filter(None, (one.label, one.section, one.page_hint))))


def cut_shown(one: Shown, statements: Statements) -> Shown:
    """It without what its text says only together with what stands in front of it."""
    text = one.text
    for context in list_shown(one):
        text = cut_row((context, text), statements)[1]
    return one if text == one.text else replace(one, text=text)


def _list_runs(blocks: Sequence[Block]) -> Iterator[list[int]]:
    """The places of blocks that are read one after the other: prose, and of a talk what one speaker says."""
    run: list[int] = []
    for at, block in enumerate(blocks):
        if run and (block.kind in _RECORDS or block.speaker != blocks[run[-1]].speaker):
            yield run
            run = []
        if block.kind not in _RECORDS:
            run.append(at)
    if run:
        yield run


def _group(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Stretches of bounded length that overlap by more than a statement has."""
    first = 0
    while first < len(texts) - 1:
        last, size = first + 1, len(texts[first])
        while last < len(texts) and (last < first + 2 or size + len(texts[last]) <= _GROUP_CHARS):
            size += len(texts[last])
            last += 1
        yield first, last
        if last == len(texts):
            return
        back, size = last - 1, len(texts[last - 1])
        while back > first + 1 and size < _OVERLAP_CHARS:
            back -= 1
            size += len(texts[back])
        first = back


def _find_short(texts: Sequence[str], starts: Sequence[int], statements: Statements) -> Iterator[tuple[int, int]]:
    """Where several texts together are one statement that is too short to be looked for inside of others."""
    for first in range(len(texts)):
        for last in range(first + 1, min(first + _MOST_SHORT, len(texts))):
            said = " ".join(texts[first : last + 1])
            if len(said) > _SHORT_CHARS:
                break
            if statements.covers(said):
                yield starts[first], starts[last] + len(texts[last])
