"""Images: sentences of what a model saw in one, and of the text that stands in it."""

from __future__ import annotations

from dataclasses import replace

from memu.ingest.document import BlockKind, Document
from memu.memorize.candidate import Extraction
from memu.memorize.extractors.documents import extract_document
from memu.records import Origin

__all__ = ["extract_image"]


def extract_image(document: Document) -> Extraction:
    """The chosen sentences; those of the caption are a model's words, the others stand in the image."""
    seen = {block.place for block in document.blocks if block.kind is not BlockKind.QUOTE}
    found = extract_document(document)
    told = (replace(each, origin=Origin.MODEL) if each.place in seen else each for each in found.candidates)
    return replace(found, candidates=tuple(told))
