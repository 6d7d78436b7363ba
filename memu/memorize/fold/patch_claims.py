"""What a model's text must be before it becomes a block: of one form, in the words of what it cites, and whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memu.memorize.candidate import MAX_CHARS, MAX_WORDS, BlockForm
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.fold.blocks import parse_blocks
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.inline import escape, escape_label, unescape
from memu.memorize.fold.outline import NodeKind, read_outline
from memu.memorize.fold.patch import PageDraft
from memu.memorize.fold.patch_reading import heading_of, heading_terms, is_backed
from memu.memorize.fold.patch_sheet import Block
from memu.memorize.fold.patch_words import evidence_of, own_block, plain_text, quotes, terms_of
from memu.memorize.llm.grounding import is_quoted, overlap, ungrounded
from memu.memorize.sentences import count_words

__all__ = ["Refused", "check_words", "find_dropped", "find_left_out", "read_heading", "read_text", "shape_like"]

_LEAST_SAID = 0.5
_BULLET_WORDS, _HEADING_CHARS = 60, 80
_SHOWN = 4
_RESERVED = re.compile(r"\s*earlier\b", re.IGNORECASE)
_BEFORE_TITLE = re.compile(r"^[#\s]+")
_FOOTNOTE = re.compile(r"\[\^")
_NAMED = re.compile(r"[\[(]\s*[eb]\d+(?:\s*[,;]\s*[eb]\d+)*\s*[\])]")
_TARGET = re.compile(r"\]\(\s*<?([^)\s>]+)|(https?://[^\s)\]>\"']+)")


class Refused(Exception):
    """An operation is not carried out; the message says why, to the model."""


def read_text(text: str, cited: Sequence[PageEntry]) -> Block:
    """A model's text as one block (without cites): a plain one is a bullet, or a paragraph where it is long.

    Raises:
        Refused: it is none, several, too long, or holds what a block may not hold.
    """
    lines = text.strip().split("\n")
    if any(node.kind is NodeKind.HEADING for node in read_outline(lines)):
        raise Refused("a heading in text; name it as section")
    blocks = parse_blocks("\n".join(lines)) if text.strip() else ()
    if len(blocks) != 1 or blocks[0].kind is NodeKind.UNIT or not blocks[0].text.strip():
        raise Refused("text must be one block: one bullet, paragraph, step or fence")
    found = blocks[0]
    if found.kind is NodeKind.FENCE:
        return _read_fence(found.lead, found.text, cited)
    if any(entry.shape.form is BlockForm.FENCE for entry in cited):
        raise Refused("a cited entry is a code fence: keep it whole, in a fence of its own")
    if _FOOTNOTE.search(re.sub(r"`[^`]*`", "", text)) or found.marks:
        raise Refused("footnote marks in text; name entries in cites")
    if (named := _NAMED.search(text)) and not any(named.group() in entry.text for entry in cited):
        raise Refused(f"{named.group()} in text; name entries in cites")
    if len(found.text) > MAX_CHARS or count_words(found.text) > MAX_WORDS:
        raise Refused(f"text is longer than {MAX_WORDS} words")
    kind = found.kind
    if kind is NodeKind.PARAGRAPH and count_words(found.text) <= _BULLET_WORDS:
        kind = NodeKind.STEP if all(_is_step(entry) for entry in cited) else NodeKind.BULLET
    block = Block(kind=kind, text=escape(found.text), cites=())
    if kind is NodeKind.QUOTE and not any(quotes(block, entry) for entry in cited):
        raise Refused("a quotation that is not word for word")
    return block


def check_words(text: str, cited: Sequence[PageEntry], *, name: str, told: frozenset[str]) -> None:
    """Hold a text to what it cites.

    Args:
        name: the page's, which any text of it may use. told: the terms of all entries of the page.

    Raises:
        Refused: a name, number, date, quotation or link stands in nothing cited; a word was said by others only,
            and would stay when they go; it speaks to a model.
    """
    sources = [*map(evidence_of, cited), name]
    if strange := ungrounded(text, sources):
        raise Refused(f"{_list(strange)} stands in nothing that it cites")
    joined = "\n".join(sources)
    targets = [match[1] or match[2].rstrip(".,;:!?") for match in _TARGET.finditer(text)]
    if strange := tuple(target for target in targets if target not in joined):
        raise Refused(f"the link {_list(strange)} stands in nothing that it cites")
    if not is_quoted(text, joined) and (borrowed := (terms_of(text) - terms_of(joined)) & told):
        raise Refused(
            f"{_list(sorted(borrowed))} is said by entries that it does not cite; cite them, or leave it out"
        )
    if instructs_model(text):
        raise Refused("text that speaks to a model")


def find_left_out(entry: PageEntry, block: Block) -> str | None:
    """What a block does not say of an entry that it cites, None where it says enough of it."""
    if quotes(block, entry):
        return None
    if entry.shape.form is BlockForm.FENCE:
        return None if block.kind is NodeKind.FENCE and block.text == own_block(entry).text else "its code"
    text = plain_text(block)
    if missing := ungrounded(unescape(entry.text), [text]):
        return _list(missing)
    return "most of its words" if overlap(unescape(entry.text), [text]) < _LEAST_SAID else None


def find_dropped(old: Block, block: Block) -> str | None:
    """What a block does not say of the one whose place it takes, None where it says enough of it."""
    if old.kind is NodeKind.FENCE:
        return None if old.text == block.text else "code"
    before, after = plain_text(old), plain_text(block)
    if missing := ungrounded(before, [after]):
        return _list(missing)
    return "most of the words" if overlap(before, [after]) < _LEAST_SAID else None


def shape_like(old: Block, block: Block) -> Block:
    """A block in the form of the one whose place it takes; steps keep their numbers.

    Raises:
        Refused: one of them is code and the other is not.
    """
    if (old.kind is NodeKind.FENCE) is not (block.kind is NodeKind.FENCE):
        raise Refused("code stays as it is, and words stay words")
    if old.kind is NodeKind.STEP or (old.kind is NodeKind.BULLET and block.kind is not NodeKind.PARAGRAPH):
        return replace(block, kind=old.kind, number=old.number, depth=old.depth)
    return block


def read_heading(section: str, draft: PageDraft) -> str:
    """A section's heading as the page may have it, "" for that of the source: all its words are somebody's, or
    general."""
    title = " ".join(_BEFORE_TITLE.sub("", section).split())
    if not title or len(title) > _HEADING_CHARS or "[^" in title or _RESERVED.match(title):
        return ""
    if instructs_model(title) or not is_backed(title, heading_terms(draft)):
        return ""
    return heading_of(title)


def _read_fence(lead: str, code: str, cited: Sequence[PageEntry]) -> Block:
    """A fence that a source has: its code and language as they are, under a model's or its own lead-in."""
    for entry in cited:
        mine = own_block(entry)
        if entry.shape.form is BlockForm.FENCE and mine.text.strip() == code.strip():
            if _FOOTNOTE.search(lead):
                raise Refused("footnote marks in text; name entries in cites")
            return replace(mine, cites=(), lead=escape(unescape(lead.strip("*"))) if lead else "")
    raise Refused("the code is no cited entry's, character for character")


def _is_step(entry: PageEntry) -> bool:
    return entry.shape.form is BlockForm.STEP


def _list(words: Sequence[str]) -> str:
    shown = ", ".join(f'"{escape_label(word)[:60]}"' for word in words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"
