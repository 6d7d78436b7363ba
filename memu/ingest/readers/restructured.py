"""reStructuredText: docutils gives the structure, the source itself the words and the lines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from memu.ingest.document import Document, Source
from memu.ingest.readers.assembly import assemble
from memu.ingest.readers.dates import find_dateline
from memu.ingest.readers.markdown import choose_title
from memu.ingest.readers.runs import number_lines
from memu.records import Kind

__all__ = ["RestructuredReader"]

_ODD_SPACE = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_LINK = re.compile(r"<([\w./-]{1,200}\.(?:rst|md|txt|html))>`_|:doc:`(?:[^`<]*<)?([^`<>]{1,200})>?`")


class RestructuredReader:
    """Python projects' documents."""

    name = "restructured"
    suffixes = frozenset([".rst", ".rest"])

    def recognises(self, source: Source) -> bool:
        return False

    def read(self, source: Source) -> Document:
        from memu.ingest.readers.restructured_tree import read_tree

        damage: Counter[str] = Counter()
        # The library ends lines at signs that are none for us; a space in their place keeps the count.
        safe = _ODD_SPACE.sub(" ", source.text)
        run = number_lines(safe.split("\n"))
        blocks = read_tree(safe, run, damage)
        title, place = choose_title(blocks)
        blocks = [
            replace(block, heading=block.heading[1:])
            if title and at > place and block.heading[:1] == (title,)
            else block
            for at, block in enumerate(blocks)
        ]
        return assemble(
            source,
            kind=Kind.DOCUMENT,
            title=title,
            blocks=blocks,
            happened_at=next(filter(None, (find_dateline(block.text) for block in blocks[:8])), None),
            links=[match[1] or match[2] for match in _LINK.finditer(source.text)],
            damage=damage,
        )
