"""Workbooks: the rows of each sheet, by ``openpyxl``, with the values that formulas had when it was saved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from io import BytesIO
from itertools import zip_longest
from typing import Any

from memu.ingest.document import BlockKind
from memu.ingest.office.archive import open_archive, read_member
from memu.ingest.office.transcript import Outline, Transcript
from memu.records import Kind

__all__ = ["name_rows", "read_rows", "read_sheets"]

_BUCKET = 20
_FORMULA = re.compile(rb"<(?:\w+:)?f[ >/]")
_Row = tuple[int, Sequence[object]]


def read_sheets(data: bytes, outline: Outline) -> Transcript:
    """The rows that hold anything; a formula that was saved without its value is told itself.

    Raises:
        ReadError: it is damaged, encrypted or unpacks to too much.
    """
    from openpyxl import load_workbook

    archive = open_archive(data)
    sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
    calculates = any(_FORMULA.search(read_member(archive, name) or b"") for name in sheets)
    book = load_workbook(BytesIO(data), read_only=True, data_only=True)
    written = load_workbook(BytesIO(data), read_only=True) if calculates else None
    for sheet in book.worksheets:
        rows = _rows(sheet, written[sheet.title] if written is not None else None)
        read_rows(sheet.title, rows, outline)
    return outline.finish(Kind.TABLE, title=str(book.properties.title or ""))


def read_rows(name: str, rows: Iterator[_Row], outline: Outline) -> None:
    """The rows of one sheet, each with its number, as blocks."""
    outline.open_section(name)
    header: str | None = None
    first = True
    for number, cells in rows:
        told = [" ".join(str(cell).split()) for cell in cells]
        while told and not told[-1]:
            told.pop()
        if not any(told):
            continue
        outline.place = name_rows(name, number)
        line = " | ".join(told)
        outline.add_row(line, header, BlockKind.ROW, first=first)
        header = line if first and _is_header(told) else header
        first = False


def name_rows(name: str, number: int) -> str:
    """The place of a row: its sheet, and which rows stand around it."""
    start = (number - 1) // _BUCKET * _BUCKET
    return f"sheet {name}, rows {start + 1}–{start + _BUCKET}"


def _rows(sheet: Any, written: Any) -> Iterator[_Row]:
    # What a file says of its own size may be wrong, or a trap.
    sheet.reset_dimensions()
    if written is None:
        for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            yield number, [_tell(cell) for cell in cells]
        return
    written.reset_dimensions()
    both = zip(sheet.iter_rows(values_only=True), written.iter_rows(values_only=True), strict=False)
    for number, (values, formulas) in enumerate(both, 1):
        pairs = zip_longest(values, formulas)
        yield number, [_tell(formula if value is None else value) for value, formula in pairs]


def _tell(cell: object) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "TRUE" if cell else "FALSE"
        case float():
            return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
        case datetime():
            return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ", "seconds")
        case date() | time():
            return cell.isoformat()
        case _:
            # An array's formula is an object that keeps its text.
            return str(getattr(cell, "text", cell))


def _is_header(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and all(any(map(str.isalpha, cell)) for cell in cells) and len(set(cells)) == len(cells)
