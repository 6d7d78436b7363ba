"""CSV and TSV: the rows as they stand, each with the raw lines that it takes.

Only quotes decide where a row ends, so that a line break inside a cell keeps its row whole. A quote that is
never closed would swallow the file; past a number of lines it is taken for a stray one.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import assemble, find_suffix
from memu.ingest.readers.runs import NumberedLine, keep, number_lines, shorten, spread
from memu.records import Kind

__all__ = ["TableReader"]

_DELIMITERS = ",;\t|"
_SAMPLE = 20
_LONGEST_ROW = 100
_HEADER_LIMIT = 300


class TableReader:
    """Tables kept as text."""

    name = "table"
    suffixes = frozenset([".csv", ".tsv", ".tab", ".psv"])

    def recognises(self, source: Source) -> bool:
        return False

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        run = number_lines(source.text.replace("\r", " ").split("\n"))
        delimiter = "\t" if find_suffix(source.path) in (".tsv", ".tab") else _find_delimiter(run[:_SAMPLE])
        blocks: list[Block] = []
        header: str | None = None
        for lines in _cut_rows(run, delimiter, damage):
            pieces = keep(lines)
            if not pieces:
                continue
            first = not blocks
            blocks += spread(
                Block(kind=BlockKind.ROW, text="", lines=None, depth=int(not first), parent=header), pieces
            )
            if first and _is_header(pieces[0].text, delimiter):
                header = shorten(pieces[0].text, _HEADER_LIMIT)
        return assemble(source, kind=Kind.TABLE, blocks=blocks, damage=damage)


def _find_delimiter(lines: Sequence[NumberedLine]) -> str:
    """The sign that the most lines have, the same number of times as the first."""
    filled = [line.text[:10_000] for line in lines if line.text.strip()]

    def steadiness(sign: str) -> tuple[int, int]:
        counts = [text.count(sign) for text in filled]
        return (sum(count == counts[0] for count in counts) if counts and counts[0] else 0, sum(counts))

    return max(_DELIMITERS, key=steadiness)


def _is_header(text: str, delimiter: str) -> bool:
    cells = [cell.strip().strip('"') for cell in text.split(delimiter)]
    words = all(cell and any(map(str.isalpha, cell)) for cell in cells)
    return len(cells) > 1 and words and len(set(cells)) == len(cells)


def _cut_rows(
    run: Sequence[NumberedLine], delimiter: str, damage: Counter[str]
) -> Iterator[Sequence[NumberedLine]]:
    start = 0
    while start < len(run):
        size = _measure_row(run, start, delimiter)
        if size > _LONGEST_ROW or (size > 1 and start + size >= len(run) and not _is_closed(run[start:])):
            damage["unclosed_quote"] += 1
            size = 1
        yield run[start : start + size]
        start += size


def _measure_row(run: Sequence[NumberedLine], start: int, delimiter: str) -> int:
    """How many lines the row that begins at ``start`` takes; one more than allowed when it does not end."""
    if '"' not in run[start].text:
        return 1
    # One line more than a row may have is enough to see that it has too many.
    window = (line.text + "\n" for line in run[start : start + _LONGEST_ROW + 1])
    reader = csv.reader(window, delimiter=delimiter)
    try:
        next(reader)
    except (csv.Error, StopIteration):
        # A cell beyond the library's size limit: the line is the row.
        return 1
    return max(1, reader.line_num)


def _is_closed(lines: Sequence[NumberedLine]) -> bool:
    return sum(line.text.count('"') for line in lines) % 2 == 0
