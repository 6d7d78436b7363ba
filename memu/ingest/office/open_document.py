"""OpenDocument: texts, sheets and slides, whose form is one and the same XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memu.errors import ReadError
from memu.ingest.document import BlockKind
from memu.ingest.office.archive import open_archive, parse_xml, read_member
from memu.ingest.office.sheets import read_rows
from memu.ingest.office.transcript import Outline, Transcript
from memu.records import Kind

__all__ = ["read_open_document"]

_SPACE = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _TABLE = f"{_SPACE}office:1.0}}", f"{_SPACE}text:1.0}}", f"{_SPACE}table:1.0}}"
_PAGE, _NOTES = f"{_SPACE}drawing:1.0}}page", f"{_SPACE}presentation:1.0}}notes"
_P, _H, _ITEM, _NOTE = (f"{_TEXT}{name}" for name in ("p", "h", "list-item", "note"))
_ROW, _CELLS = f"{_TABLE}table-row", (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
# What was deleted, what others remarked, and how it looks.
_LEFT_OUT = frozenset(
    {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}sequence-decls", f"{_OFFICE}forms"}
)
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_BUCKET = 20
_MOST_REPEATS = 100
_MOST_SPACES = 100


def read_open_document(data: bytes, outline: Outline) -> Transcript:
    """Headings, paragraphs, lists, tables and notes; of sheets their rows.

    Raises:
        ReadError: it is damaged, encrypted or unpacks to too much.
    """
    archive = open_archive(data)
    manifest = read_member(archive, "META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        raise ReadError("encrypted: save it without a password")
    content = read_member(archive, "content.xml")
    if content is None:
        raise ReadError("damaged: it has no content")
    body = parse_xml(content).find(f"{_OFFICE}body")
    if body is None:
        raise ReadError("damaged: it has no content")
    sheets = body.find(f"{_OFFICE}spreadsheet")
    if sheets is not None:
        for sheet in sheets.iter(f"{_TABLE}table"):
            read_rows(sheet.get(f"{_TABLE}name", ""), _rows(sheet), outline)
    else:
        numbers = {element: number for number, element in enumerate(body.iter(_P, _H), 1)}
        _Reading(outline, numbers).walk(body)
    named = _read_title(read_member(archive, "meta.xml"))
    first = next((block.text for block in outline.blocks if block.kind is BlockKind.HEADING), "")
    return outline.finish(Kind.TABLE if sheets is not None else Kind.DOCUMENT, title=named or first)


def _read_title(meta: bytes | None) -> str:
    try:
        title = parse_xml(meta).find(f".//{_TITLE}") if meta else None
    except ReadError:
        return ""
    return "".join(title.itertext()) if title is not None else ""


@dataclass(slots=True)
class _Reading:
    """``numbers``: of paragraphs and headings, counted over the whole. ``slide``: which one is being read."""

    outline: Outline
    numbers: dict[Any, int]
    slide: int = 0
    notes: bool = False

    def walk(self, parent: Any, depth: int = -1) -> None:
        """Everything below an element, in order; ``depth``: how deep in lists it is."""
        for child in parent:
            if child.tag in (_P, _H):
                self._read(child, depth)
            elif child.tag == f"{_TABLE}table":
                self._read_table(child)
            elif child.tag == _PAGE:
                self.slide += 1
                self.outline.open_section()
                self.walk(child)
            elif child.tag == _NOTES:
                self.notes = True
                self.walk(child)
                self.notes = False
            elif child.tag == f"{_TEXT}list":
                self.walk(child, depth + 1)
            elif child.tag not in _LEFT_OUT:
                self.walk(child, depth)

    def _read(self, element: Any, depth: int) -> None:
        text = "".join(_pieces(element))
        self.outline.place = self._place(element)
        if element.tag == _H:
            level = element.get(f"{_TEXT}outline-level", "1")
            self.outline.add_heading(int(level) if level.isdecimal() else 1, text)
        elif depth >= 0:
            first = next(iter(element.getparent()), None) is element
            (self.outline.add_item(text, depth) if first else self.outline.add_text(text))
        else:
            self.outline.add_text(text)
        for note in element.iter(_NOTE):
            self.walk(note)
        for frame in element.iter(f"{_SPACE}drawing:1.0}}text-box"):
            self.walk(frame)

    def _read_table(self, table: Any) -> None:
        header: str | None = None
        for row in (each for each in table.iter(_ROW) if _nearest(each, f"{_TABLE}table") is table):
            line = " | ".join(" ".join(cell.split()) for cell in _cells(row))
            if line.strip(" |"):
                inside = list(row.iter(_P, _H))
                self.outline.place = self._place(inside[0], inside[-1])
                self.outline.add_row(line, header, first=header is None)
                header = line if header is None else header

    def _place(self, first: Any, last: Any = None) -> str:
        if self.slide:
            return f"slide {self.slide}, notes" if self.notes else f"slide {self.slide}"
        start, end = self.numbers[first], self.numbers[first if last is None else last]
        return f"paragraphs {(start - 1) // _BUCKET * _BUCKET + 1}–{((end - 1) // _BUCKET + 1) * _BUCKET}"


def _pieces(element: Any) -> Iterator[str]:
    """The texts of a paragraph in order; what stands in notes and boxes is told apart from it."""
    yield element.text or ""
    for child in element:
        match child.tag:
            case name if name == f"{_TEXT}s":
                count = child.get(f"{_TEXT}c", "1")
                yield " " * min(int(count) if count.isdecimal() else 1, _MOST_SPACES)
            case name if name == f"{_TEXT}tab":
                yield "\t"
            case name if name == f"{_TEXT}line-break":
                yield "\n"
            case name if isinstance(name, str) and name not in _LEFT_OUT and name != _NOTE:
                if not name.endswith("}text-box"):
                    yield from _pieces(child)
        yield child.tail or ""


def _rows(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    number = 1
    for row in sheet.iter(_ROW):
        cells = list(_cells(row))
        repeats = _repeats(row, "rows")
        for ahead in range(min(repeats, _MOST_REPEATS) if any(cells) else 0):
            yield number + ahead, cells
        number += repeats


def _cells(row: Any) -> Iterator[str]:
    """The cells' texts as they are shown, without the empty ones at the end."""
    blank = 0
    for cell in (each for each in row if each.tag in _CELLS):
        text = "\n".join("".join(_pieces(each)) for each in cell.iter(_P))
        repeats = _repeats(cell, "columns")
        if not text.strip():
            blank += repeats
            continue
        yield from [""] * min(blank, _MOST_REPEATS)
        yield from [text] * min(repeats, _MOST_REPEATS)
        blank = 0


def _repeats(element: Any, name: str) -> int:
    count = element.get(f"{_TABLE}number-{name}-repeated", "1")
    return int(count) if count.isdecimal() else 1


def _nearest(element: Any, tag: str) -> Any:
    return next((above for above in element.iterancestors() if above.tag == tag), None)
