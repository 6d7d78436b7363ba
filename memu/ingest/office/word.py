"""Word documents: opened by ``python-docx``, their text taken from the markup in its order.

The library's own texts of paragraphs leave out what stands in content controls, insertions and text boxes. Word
keeps where its pages last broke; where a document has that, its places are pages, else numbers of paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from memu.ingest.document import BlockKind
from memu.ingest.office.archive import open_archive, parse_xml
from memu.ingest.office.transcript import Outline, Transcript
from memu.ingest.office.word_styles import WORD, Styles

__all__ = ["read_word"]

_P, _TABLE, _ROW, _CELL, _TEXT, _BREAK = (f"{WORD}{name}" for name in ("p", "tbl", "tr", "tc", "t", "br"))
_PAGE_END, _BOX = f"{WORD}lastRenderedPageBreak", f"{WORD}txbxContent"
_SPACES = {f"{WORD}tab": "\t", _BREAK: "\n", f"{WORD}cr": "\n", f"{WORD}noBreakHyphen": "-"}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# Deleted or moved away, said again for programs that do not know the newer form, or how it looks.
_LEFT_OUT = frozenset(
    {f"{WORD}del", f"{WORD}moveFrom", _FALLBACK, _BOX, f"{WORD}pPr", f"{WORD}rPr", f"{WORD}instrText"}
)
_BUCKET = 20
# What the library gives a document without properties, and writes into those that it makes.
_NO_TITLE = frozenset(["word document"])


def read_word(data: bytes, outline: Outline) -> Transcript:
    """Headings, paragraphs, lists, tables, text boxes and footnotes.

    Raises:
        ReadError: it is damaged, encrypted or unpacks to too much.
    """
    from docx import Document

    open_archive(data)
    document = Document(BytesIO(data))
    body = document.element.body
    reading = _Reading(outline, Styles.of(document), _Places.of(body))
    reading.walk(body)
    reading.read_notes(document)
    first = next((block.text for block in outline.blocks if block.kind is BlockKind.HEADING), "")
    named = str(document.core_properties.title or "")
    return outline.finish(title=reading.title or (first if named.lower() in _NO_TITLE or not named else named))


@dataclass(slots=True)
class _Places:
    """Where paragraphs stand. ``numbers``: of each, counted over the whole document; ``paged``: whether Word has
    kept where its pages end; ``page``: the one that is being read."""

    numbers: dict[Any, int]
    paged: bool
    page: int = 1

    @classmethod
    def of(cls, body: Any) -> _Places:
        numbers = {element: number for number, element in enumerate(body.iter(_P), 1)}
        return cls(numbers, any(True for _ in body.iter(_PAGE_END)))

    def name(self, paragraphs: list[Any], first_page: int) -> str:
        """The place of what these paragraphs say, begun on this page and ended on the present one."""
        if self.paged:
            return _span("page", first_page, self.page)
        numbers = [self.numbers[each] for each in paragraphs if each in self.numbers] or [1]
        start, end = (min(numbers) - 1) // _BUCKET, (max(numbers) - 1) // _BUCKET
        return _span("paragraph", start * _BUCKET + 1, (end + 1) * _BUCKET)


def _span(name: str, first: int, last: int) -> str:
    return f"{name} {first}" if first == last else f"{name}s {first}–{last}"


@dataclass(slots=True)
class _Reading:
    outline: Outline
    styles: Styles
    places: _Places
    title: str = ""

    def walk(self, parent: Any) -> None:
        """Everything below an element that holds blocks, in order."""
        for child in parent:
            if child.tag == _P:
                self._read_paragraph(child)
            elif child.tag == _TABLE:
                self._read_table(child)
            elif child.tag not in _LEFT_OUT:
                self.walk(child)

    def read_notes(self, document: Any) -> None:
        """The footnotes and endnotes, each in a place of its own."""
        self.outline.open_section()
        for kind in ("footnote", "endnote"):
            related = (rel for rel in document.part.rels.values() if rel.reltype.endswith(f"/{kind}s"))
            part = next((rel.target_part for rel in related if not rel.is_external), None)
            for note in parse_xml(part.blob).iter(f"{WORD}{kind}") if part is not None else ():
                number = note.get(f"{WORD}id", "")
                # Those that are no numbers above 0 draw the line above the notes.
                if number.isdecimal() and number != "0":
                    self.outline.place = f"{kind} {number}"
                    self.outline.add_text(" ".join(self._tell(each) for each in note.iter(_P)))

    def _read_paragraph(self, element: Any) -> None:
        text, first = self._tell_placed(element)
        outline, style = self.outline, self.styles.look_up(element)
        outline.place = self.places.name([element], first)
        if style.is_title and not self.title:
            self.title = " ".join(text.split())
            outline.add_heading(1, text)
        elif style.level:
            outline.add_heading(style.level, text)
        elif style.depth is not None:
            outline.add_item(text, style.depth, BlockKind.STEP if style.is_numbered else BlockKind.BULLET)
        else:
            outline.add_text(text)
        for box in element.iter(_BOX):
            if not any(above.tag == _FALLBACK for above in box.iterancestors()):
                self.walk(box)

    def _read_table(self, table: Any) -> None:
        header: str | None = None
        for number, row in enumerate(each for each in table.iter(_ROW) if _nearest(each, _TABLE) is table):
            first: int | None = None
            cells: list[str] = []
            paragraphs: list[Any] = []
            for cell in (each for each in row.iter(_CELL) if _nearest(each, _ROW) is row):
                told = []
                for paragraph in cell.iter(_P):
                    text, page = self._tell_placed(paragraph)
                    first = page if first is None else first
                    told.append(" ".join(text.split()))
                    paragraphs.append(paragraph)
                cells.append(" ".join(filter(None, told)))
            line = " | ".join(cells)
            if line.strip(" |"):
                self.outline.place = self.places.name(paragraphs, first or self.places.page)
                self.outline.add_row(line, header, first=header is None)
                header = line if header is None and number == 0 else header or ""

    def _tell_placed(self, element: Any) -> tuple[str, int]:
        """A paragraph's text, and the page that it begins on; the present page is the one that it ends on."""
        first, text = self.places.page, ""
        for piece in _pieces(element):
            if piece is not None:
                text += piece
                continue
            self.places.page += 1
            first = first if text.strip() else self.places.page
        return text, first

    def _tell(self, element: Any) -> str:
        return "".join(piece or "" for piece in _pieces(element)).strip()


def _pieces(element: Any) -> Iterator[str | None]:
    """The texts of a paragraph in order, None where a page ends in it."""
    for child in element:
        if child.tag == _TEXT:
            yield child.text or ""
        elif child.tag == _PAGE_END:
            yield None
        elif child.tag in _SPACES:
            yield _SPACES[child.tag]
        elif child.tag not in _LEFT_OUT:
            yield from _pieces(child)


def _nearest(element: Any, tag: str) -> Any:
    return next((above for above in element.iterancestors() if above.tag == tag), None)
