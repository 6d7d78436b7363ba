"""A block with marks in it, that still knows which of its words stand in which line. Pure functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from memu.ingest.document import Block, Row
from memu.memorize.extractors.quotes import locate
from memu.memorize.forget.marks import MARK
from memu.memorize.forget.places import mark_places, merge_places

__all__ = ["mark_block"]


def mark_block(block: Block, places: Sequence[tuple[int, int]]) -> Block:
    """The block with a mark in each of these places of its text; a mark has the lines of what it stands for."""
    if not places:
        return block
    rows = list(_read_rows(block))
    return replace(
        block,
        text=mark_places(block.text, places),
        rows=tuple(_shift(rows, merge_places(block.text, places))),
    )


def _read_rows(block: Block) -> Iterator[Row]:
    """The block's rows; those that its line breaks tell of once words, and breaks with them, are gone."""
    if block.rows or block.lines is None or block.lines.start == block.lines.end:
        yield from block.rows
        return
    start = 0
    for line in block.text.split("\n"):
        span = locate(block, start, start + len(line))
        if span is None or span == block.lines:
            return
        yield Row(start, span.start, span.end)
        start += len(line) + 1


def _shift(rows: Sequence[Row], places: Sequence[tuple[int, int]]) -> Iterator[Row]:
    """The rows where they are once each of these places, in order and apart, holds a mark alone."""
    moved, after = 0, 0
    for start, end in places if rows else ():
        yield from (_move(row, moved) for row in rows if after <= row.start < start)
        first, last = _row_at(rows, start), _row_at(rows, end - 1)
        yield Row(start + moved, first.first, last.last)
        moved += len(MARK) - (end - start)
        # The words behind a mark are of the last line alone that it stands for.
        yield Row(end + moved, last.first, last.last)
        after = end
    yield from (_move(row, moved) for row in rows if row.start >= after)


def _row_at(rows: Sequence[Row], at: int) -> Row:
    return rows[max(0, bisect_right(rows, at, key=attrgetter("start")) - 1)]


def _move(row: Row, by: int) -> Row:
    return row._replace(start=row.start + by)
