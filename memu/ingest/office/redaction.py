"""Secrets out of a document that is no text: its blocks are looked at as one, for a key may take many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from memu.ingest.document import Document
from memu.ingest.redact import redact

__all__ = ["redact_document"]


def redact_document(document: Document, path: str) -> tuple[Document, Mapping[str, int]]:
    """The document without its secrets, and how many of each kind there were."""
    whole = redact("\n".join(block.text for block in document.blocks), path=path)
    counts = Counter(whole.counts)
    # The number of lines never changes, so each block's are found again.
    lines = iter(whole.text.split("\n"))
    blocks = tuple(
        block.retold("\n".join(next(lines) for _ in range(block.text.count("\n") + 1)))
        for block in document.blocks
    )

    def clean(text: str) -> str:
        redacted = redact(text, path=path)
        counts.update(redacted.counts)
        return redacted.text

    # What stands above the blocks, too.
    return replace(document, blocks=blocks).map_text(clean), dict(counts)
