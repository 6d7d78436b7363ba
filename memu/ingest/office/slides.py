"""Slides: the text of shapes, tables and notes, by ``python-pptx``."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from memu.ingest.document import BlockKind
from memu.ingest.office.archive import open_archive
from memu.ingest.office.transcript import Outline, Transcript

__all__ = ["read_slides"]

_DEEPEST = 20
_NO_TITLE = frozenset({"powerpoint presentation", "presentation", "untitled"})


def read_slides(data: bytes, outline: Outline) -> Transcript:
    """Each slide's title, texts and tables in the order in which they lie, then its notes.

    Raises:
        ReadError: it is damaged, encrypted or unpacks to too much.
    """
    from pptx import Presentation

    open_archive(data)
    presentation = Presentation(BytesIO(data))
    for number, slide in enumerate(presentation.slides, 1):
        outline.place = f"slide {number}"
        outline.open_section()
        title = slide.shapes.title
        if title is not None:
            outline.add_heading(1, title.text_frame.text)
        for shape in _shapes(slide.shapes, _DEEPEST):
            if title is None or shape.shape_id != title.shape_id:
                _read_shape(shape, outline)
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None:
            outline.place = f"slide {number}, notes"
            for paragraph in notes.paragraphs:
                outline.add_text(_tell(paragraph))
        if not any(block.place and block.place.startswith(f"slide {number}") for block in outline.blocks[-1:]):
            outline.damage["empty_slide"] += 1
    named = str(presentation.core_properties.title or "")
    first = next((block.text for block in outline.blocks), "")
    return outline.finish(title=first if named.lower() in _NO_TITLE or not named else named)


def _shapes(shapes: Any, depth: int) -> Iterator[Any]:
    """The shapes, those of a group in its stead."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth:
                yield from _shapes(shape.shapes, depth - 1)
        else:
            yield shape


def _read_shape(shape: Any, outline: Outline) -> None:
    if getattr(shape, "has_table", False):
        header: str | None = None
        for row in shape.table.rows:
            line = " | ".join(" ".join(cell.text.split()) for cell in row.cells)
            if line.strip(" |"):
                outline.add_row(line, header, first=header is None)
                header = line if header is None else header
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            # The text of a slide's body is a list, whatever stands in front of its lines.
            if shape.is_placeholder:
                outline.add_item(_tell(paragraph), paragraph.level)
            else:
                outline.add_text(_tell(paragraph), BlockKind.PARAGRAPH)


def _tell(paragraph: Any) -> str:
    return str(paragraph.text).replace("\v", "\n")
