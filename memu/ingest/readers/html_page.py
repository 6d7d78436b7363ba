"""HTML pages and templates."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import assemble
from memu.ingest.readers.html_blocks import parse_html
from memu.records import Kind

__all__ = ["HtmlReader"]

_OPENING = re.compile(
    r"\s*(?:<!--.{0,2000}?-->\s*|<\?xml[^>]{0,200}\?>\s*)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)


class HtmlReader:
    """Web pages and templates."""

    name = "html"
    suffixes = frozenset([".html", ".htm", ".xhtml"])

    def recognises(self, source: Source) -> bool:
        return bool(_OPENING.match(source.text[:4096]))

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        page = parse_html(source.text, damage)
        heading = next((block.text for block in page.blocks if block.kind is BlockKind.HEADING), None)
        title = " ".join(page.title.split())
        if not title or "{" in title:
            title = heading or ""
        return assemble(
            source,
            kind=Kind.DOCUMENT,
            title=title,
            blocks=_without_title(page.blocks, title),
            description=page.description,
            happened_at=page.happened_at,
            links=page.links,
            damage=damage,
        )


def _without_title(blocks: list[Block], title: str) -> list[Block]:
    return [
        replace(block, heading=block.heading[1:]) if block.heading[:1] == (title,) else block for block in blocks
    ]
