"""Whose words a block is in, and which words somebody must have said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources

from memu.languages import stop_words
from memu.memorize.candidate import BlockForm
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.forms import format_paragraph
from memu.memorize.fold.inline import escape, escape_label, unescape
from memu.memorize.fold.outline import NodeKind
from memu.memorize.fold.patch_sheet import Block
from memu.tokens import index_terms, text_key

__all__ = [
    "evidence_of",
    "find_strange_words",
    "general_headings",
    "heading_words",
    "own_block",
    "plain_text",
    "quotes",
    "relabels",
    "terms_of",
]

_LABELLED = re.compile(r"\*\*(?P<label>.+?)\*\* — (?P<rest>.*)", re.DOTALL)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LANGUAGES = ("en", "de", "es", "zh")
_WORDING = 3


def own_block(entry: PageEntry, *, label: str | None = None) -> Block:
    """An entry as it stands by itself: its form, its label unless another is given, its words."""
    shape, shown = entry.shape, entry.label if label is None else label
    kind = NodeKind(shape.form.value)
    if kind is NodeKind.FENCE:
        code = re.sub(r"\r\n?", "\n", entry.text).strip("\n")
        lead = f"**{escape_label(shown)}**" if shown.strip() else ""
        return Block(kind=kind, text=code, cites=(entry.identity,), lead=lead, language=shape.language)
    return Block(
        kind=kind,
        text=format_paragraph(entry.text, "", label=shown),
        cites=(entry.identity,),
        number=shape.number if shape.form is BlockForm.STEP else None,
        depth=shape.depth,
    )


def quotes(block: Block, entry: PageEntry) -> bool:
    """Whether a block says what the entry says word for word, with the entry's label or with none."""
    if (block.kind is NodeKind.FENCE) is not (entry.shape.form is BlockForm.FENCE):
        return False
    if block.kind is NodeKind.FENCE:
        return block.text == own_block(entry).text and block.lead in ("", own_block(entry).lead)
    return text_key(unescape(block.text)) in _keys_of(entry)


def relabels(block: Block, entry: PageEntry) -> bool:
    """Whether a block says the entry word for word, under a label that is not the entry's."""
    if block.kind is NodeKind.FENCE:
        mine = own_block(entry)
        labelled = block.lead.startswith("**") and block.lead.endswith("**")
        return (
            entry.shape.form is BlockForm.FENCE
            and labelled
            and block.text == mine.text
            and block.lead != mine.lead
        )
    found = _LABELLED.fullmatch(block.text)
    return found is not None and text_key(unescape(found["rest"])) == _keys_of(entry)[1]


def evidence_of(entry: PageEntry) -> str:
    """What an entry vouches for: its words, its label (a speaker, a heading) and its day."""
    day = entry.happened_at.date().isoformat() if entry.happened_at else ""
    return "\n".join(part for part in (entry.label, entry.section or "", day, entry.text) if part)


def plain_text(block: Block) -> str:
    """A block's words as a reader sees them."""
    if block.kind is NodeKind.FENCE:
        return f"{unescape(block.lead)}\n{block.text}".strip()
    return unescape(block.text)


@lru_cache(maxsize=16384)
def terms_of(text: str) -> frozenset[str]:
    """The stems of a text that carry content. Pairs of characters of unspaced scripts are none: they may reach
    over two words."""
    return frozenset(term for term in index_terms(text) if term not in _grammar() and not _UNSPACED.search(term))


@cache
def general_headings() -> str:
    """Words that any page's heading may hold though no source says them: they tell of none."""
    return (resources.files("memu.memorize.fold") / "heading_words.txt").read_text(encoding="utf-8")


def heading_words(text: str) -> frozenset[str]:
    """What of a heading somebody must have said: its stems, and each character of an unspaced script."""
    return terms_of(text) | frozenset(_UNSPACED.findall(text))


def find_strange_words(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """The stems of a text that no source holds, where they are more than wording takes: one, or a third of all."""
    known = heading_words("\n".join(sources)) | heading_words(general_headings())
    said = heading_words(text)
    strange = said - known
    return tuple(sorted(strange)) if len(strange) > max(1, len(said) // _WORDING) else ()


@lru_cache(maxsize=16384)
def _keys_of(entry: PageEntry) -> tuple[str, str]:
    full = format_paragraph(entry.text, "", label=entry.label)
    return text_key(unescape(full)), text_key(unescape(escape(entry.text)))


@cache
def _grammar() -> frozenset[str]:
    words = frozenset().union(*map(stop_words, _LANGUAGES))
    return words | {term for word in words for term in index_terms(word)}
