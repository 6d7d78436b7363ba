"""What tells a source's language: the beginning of what people and agents say in it, without the tools' output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memu.ingest.document import Block, Document

__all__ = ["sample_language", "tells_language"]

_SAMPLE = 6000


def sample_language(document: Document) -> str:
    """At most 6,000 characters of a document."""
    size, pieces = 0, [document.title]
    for text in _said(document.blocks):
        pieces.append(text)
        size += len(text)
        if size > _SAMPLE:
            break
    return "\n".join(pieces)[:_SAMPLE]


def tells_language(blocks: Iterable[Block]) -> bool:
    """Whether the sample of a document that begins with these blocks is of them alone."""
    size = 0
    for text in _said(blocks):
        size += len(text)
        if size > _SAMPLE:
            return True
    return False


def _said(blocks: Iterable[Block]) -> Iterator[str]:
    return (block.text for block in blocks if block.role != "tool")
