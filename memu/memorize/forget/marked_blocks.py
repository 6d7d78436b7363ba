"""A block with marks in it, that still knows which of its words stand in which line. Pure functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from memu.ingest.document import Block, Row
from memu.memorize.extractors.quotes import locate
from memu.memorize.forget.marks import MARK
from memu.memorize.forget.places import find_places, mark_places, merge_places
from memu.memorize.forget.runs import Statements

__all__ = ["find_in_block", "list_lines", "mark_block"]


def find_in_block(block: Block, statements: Statements) -> list[tuple[int, int]]:
    """Where forgotten statements stand in a block's text, by its sentences and by the lines of its file.

    Running text is kept with its line ends as spaces; what stood on a line of its own ended there all the same.
    """
    hits = find_places(block.text, statements)
    lined = _break_lines(block)
    return hits if lined == block.text else [*hits, *find_places(lined, statements)]


def list_lines(block: Block) -> tuple[tuple[str, int, int], ...]:
    """What stands on each of the file's lines that a block is folded from, with the first and last of them."""
    ends = [*(row.start for row in block.rows[1:]), len(block.text)]
    parts = ((block.text[row.start : end].strip(), row) for row, end in zip(block.rows, ends, strict=False))
    return tuple((text, row.first, row.last) for text, row in parts if text)


def _break_lines(block: Block) -> str:
    """The text with a line end for each space that stands for one: as long as it is."""
    chars = list(block.text)
    for row in block.rows:
        if row.start and chars[row.start - 1] == " ":
            chars[row.start - 1] = "\n"
    return "".join(chars)


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
