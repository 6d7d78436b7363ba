"""Rule files (AGENTS.md, CLAUDE.md and their kind): whole, fences included, since every line is meant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import BlockForm, Candidate, Extraction
from memu.memorize.extractors.noise import is_noise
from memu.memorize.extractors.quotes import bound, cut_fence, quote, quote_pieces, shape_like
from memu.memorize.extractors.sections import label_block
from memu.memorize.extractors.trust import instructs_model
from memu.records import MemoryType

__all__ = ["extract_rules"]

_MAX_PER_SOURCE = 300
_CODE = frozenset({BlockKind.FENCE, BlockKind.CODE})


def extract_rules(document: Document) -> Extraction:
    """Every block, in source order and form."""
    found: list[Candidate] = []
    dropped: Counter[str] = Counter()
    for block in document.blocks:
        reason = _why_dropped(block)
        if reason is not None:
            dropped[reason] += reason != "heading"
            continue
        made = _quote(document, block)
        if made is None or len(found) + len(made) > _MAX_PER_SOURCE:
            dropped["long_fence" if made is None else "over_source_limit"] += 1
            continue
        found += made
    return Extraction(candidates=tuple(found), dropped={reason: n for reason, n in dropped.items() if n})


def _why_dropped(block: Block) -> str | None:
    if block.kind is BlockKind.HEADING:
        return "heading"
    if block.kind in _CODE:
        return None
    # A rule file does speak to a model; only the sharp attempts to unseat other instructions are left out.
    if instructs_model(block.text):
        return "instructs_model"
    return "noise" if block.kind is not BlockKind.TABLE and is_noise(block.text) else None


def _quote(document: Document, block: Block) -> list[Candidate] | None:
    like = Candidate(
        text="",
        lines=None,
        memory_type=MemoryType.RULE,
        label=label_block(block),
        section=document.title if document.titled else None,
        happened_at=document.happened_at,
    )
    # The label names what an item is nested under, so rules stand flat.
    like = replace(shape_like(block, like), depth=0)
    if block.kind not in _CODE and block.kind is not BlockKind.TABLE:
        return quote_pieces(block, bound(block.text), like)
    pieces = cut_fence(block.text)
    if pieces is None:
        return None
    form = BlockForm.FENCE if block.kind in _CODE else BlockForm.PARAGRAPH
    return [quote(block, piece, replace(like, block=form)) for piece in pieces]
