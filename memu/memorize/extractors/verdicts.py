"""What its writer marked a text as: by a label in front, an open box to tick, or what its list stands under."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memu.ingest.document import Block, BlockKind
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.sections import matches_heading
from memu.records import MemoryType

__all__ = ["find_label", "name_type", "sort_by_lists"]

# As in "Decision: …", "**DECISION** - …", "Beschluss – …" and "决定：…".
_LABEL = re.compile(r"[\W_]*([^\W_][^:：\n]{1,24}?)[*_]*\s*(?:[:：]|\s[-–—]\s)[*_]*\s*(?=\S)")
_LABEL_END = re.compile("[:：–—-]")
_LONGEST_NAME = 60
_BOX = re.compile(r"\s*\[ ?\]\s")
_LISTED = frozenset({BlockKind.BULLET, BlockKind.STEP})


def name_type(name: str) -> MemoryType | None:
    """What a heading, a parent bullet or a list's lead-in of this wording says of what stands under it."""
    if matches_heading(name, load_phrases("decision_headings", "decision_labels")):
        return MemoryType.DECISION
    if matches_heading(name, load_phrases("action_headings", "action_labels")):
        return MemoryType.ACTION
    return None


def find_label(text: str) -> MemoryType | None:
    """The type that ``text`` gives itself by the label, or the open box to tick, that it begins with."""
    head = text[:80]
    match = _LABEL.match(head) if _LABEL_END.search(head) else None
    if match is not None:
        if load_phrases("decision_labels").name(match[1]):
            return MemoryType.DECISION
        if load_phrases("action_labels").name(match[1]):
            return MemoryType.ACTION
    return MemoryType.ACTION if _BOX.match(text) else None


def sort_by_lists(blocks: Iterable[Block]) -> Iterator[tuple[Block, MemoryType | None]]:
    """Each block with the type that the bullets above it, or the line that opens its list, give it."""
    lead_in: MemoryType | None = None
    above: list[MemoryType | None] = []
    for block in blocks:
        if block.kind not in _LISTED:
            lead_in, above = (_open_list(block) if block.kind is not BlockKind.HEADING else None), []
            yield block, None
            continue
        del above[block.depth :]
        outer = next((one for one in reversed(above) if one is not None), lead_in)
        above += [None] * (block.depth - len(above))
        above.append(name_type(block.text) if len(block.text) <= _LONGEST_NAME else None)
        yield block, outer


def _open_list(block: Block) -> MemoryType | None:
    """The type that a paragraph of nothing but a name ("Decisions:") gives the list that follows."""
    last = block.text.rsplit("\n", 1)[-1].strip()
    opens = last.endswith((":", "：")) or (last.startswith(("**", "__")) and last.endswith(("**", "__")))
    return name_type(last) if opens and len(last) <= _LONGEST_NAME else None
