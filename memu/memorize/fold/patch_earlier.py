"""What was superseded: it stands at the end of a page under the day it was last said, citing what came after it.

Such a block ends in its own marks and in those of the newer entries that superseded it; days tell them apart. When
the newer ones go, it is said again; when its own go, it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.patch_sheet import Block, Section
from memu.memorize.fold.patch_words import evidence_of, plain_text, quotes, relabels
from memu.memorize.llm.grounding import overlap, ungrounded

__all__ = ["earlier_heading", "is_earlier", "is_superseded", "keep_earlier", "said_in"]

_HEADING = re.compile(r"Earlier \((\d{4}-\d{2}-\d{2})\)")
_LEAST_SHARED = 0.3

_Said = Mapping[str, tuple[PageEntry, ...]]


def earlier_heading(entries: Iterable[PageEntry]) -> str:
    """The heading under which a block of these (dated) entries stands once it is superseded."""
    return f"Earlier ({max(_days(entries), default='')})"


def is_earlier(section: Section) -> bool:
    """Whether a section holds what was superseded."""
    return _HEADING.fullmatch(section.heading) is not None


def is_superseded(block: Sequence[PageEntry], by: PageEntry) -> bool:
    """Whether ``by`` is of a later day than all that a block rests on, and speaks of the same things."""
    day = _days((by,))
    if not day or any(entry.happened_at is None for entry in block) or max(_days(block)) >= day[0]:
        return False
    said = "\n".join(entry.text for entry in block)
    return max(overlap(by.text, [said]), overlap(said, [by.text])) >= _LEAST_SHARED


def said_in(section: Section, said: _Said) -> set[str]:
    """The identities that a section's blocks say; what supersedes a block is only named there."""
    cited = {identity for block in section.blocks for identity in block.cites}
    if not is_earlier(section):
        return cited
    return {identity for identity in cited if _is_own(section, said[identity])}


def keep_earlier(section: Section, known: Mapping[str, str], said: _Said) -> Section:
    """The section with the blocks that are superseded still, by what lives; ``known``: mark → living identity."""
    blocks: list[Block] = []
    for block in section.blocks:
        cites = tuple(dict.fromkeys(known[mark] for mark in block.cites if mark in known))
        own = [entry for identity in cites if _is_own(section, said[identity]) for entry in said[identity]]
        superseded = any(_is_newer(section, said[identity]) for identity in cites)
        if own and superseded and earlier_heading(own) == section.heading:
            whole = len(cites) == len(set(block.cites))
            if _may_stay(block, own, whole=whole):
                blocks.append(replace(block, cites=cites))
    return replace(section, blocks=tuple(blocks))


def _may_stay(block: Block, own: Sequence[PageEntry], *, whole: bool) -> bool:
    if any(quotes(block, entry) for entry in own):
        return True
    if not whole or any(relabels(block, entry) for entry in own):
        return False
    return not ungrounded(plain_text(block), [*map(evidence_of, own)])


def _is_own(section: Section, entries: Iterable[PageEntry]) -> bool:
    found = _HEADING.fullmatch(section.heading)
    days = _days(entries)
    return found is not None and bool(days) and min(days) <= found[1]


def _is_newer(section: Section, entries: Iterable[PageEntry]) -> bool:
    found = _HEADING.fullmatch(section.heading)
    days = _days(entries)
    return found is not None and bool(days) and min(days) > found[1]


def _days(entries: Iterable[PageEntry]) -> list[str]:
    return [entry.happened_at.date().isoformat() for entry in entries if entry.happened_at]
