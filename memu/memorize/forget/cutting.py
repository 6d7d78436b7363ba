"""Cutting forgotten statements out of texts, documents and candidates. Pure functions.

A text is looked at whole, by sentences, by lines, by sentences of lines, by what stands behind a label or marker
("Alice: …", "1. …") or in a table's cell, and, where it is long, by the pieces that passages and candidates are
cut to. What is covered gives way to a mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from memu.ingest.document import Document
from memu.ingest.readers.assembly import make_readable_stem
from memu.memorize.candidate import MAX_CHARS, MAX_WORDS, Candidate
from memu.memorize.forget.forgotten import MARK, Forgotten
from memu.memorize.passages import MAX_PASSAGE_CHARS, MAX_PASSAGE_WORDS
from memu.memorize.sentences import Slice, cut_pieces, split_lines, split_sentences

__all__ = ["Covers", "cut_document", "cut_text", "cut_title", "is_marks_only", "list_units", "sift", "trim_marks"]

Covers = Callable[[str], bool]

_BOUNDS = ((MAX_PASSAGE_WORDS, MAX_PASSAGE_CHARS), (MAX_WORDS, MAX_CHARS))
_LONG = MAX_PASSAGE_CHARS // 3
_OPENING = re.compile(r"(?:[:|\])>]|\s[-–—]|^\s*[-*+]|^\s*\d{1,3}[.)])\s+|：\s*")
# A cell of a table; in prose a comma is followed by a space.
_CELL = re.compile(r'"[^"\n]+"|(?:[^|\t;,"\n]|,(?=\s))+')
_MOST_IN_A_RUN = 12
_END_MARKS = re.compile(rf"^(?:\s*{re.escape(MARK)})+\s*|\s*(?:{re.escape(MARK)}\s*)+$")
_ANY_MARK = re.compile(re.escape(MARK))


def cut_text(text: str, covers: Covers) -> str:
    """``text`` with a mark in the place of each part that ``covers`` says is forgotten."""
    hits = [unit for unit in list_units(text) if covers(unit.text)]
    if not hits:
        return text
    return _mark(text, _merge(text, [*hits, *_find_runs(text, hits, covers)]))


def list_units(text: str) -> Iterator[Slice]:
    """The parts of ``text`` that may be statements of their own, some of them inside others."""
    seen: set[tuple[int, int]] = set()
    for unit in _units(text):
        if (unit.start, unit.end) not in seen:
            seen.add((unit.start, unit.end))
            yield unit


def cut_title(title: str, path: str, covers: Covers) -> str:
    """A source's title; one that is forgotten whole gives way to its file's name."""
    cut = cut_text(title, covers)
    return cut_text(make_readable_stem(path), covers) if cut != title and is_marks_only(cut) else cut


def cut_document(document: Document, path: str, forgotten: Forgotten) -> Document:
    """The document without what was forgotten; the same object where nothing of it was.

    Marks stand in blocks and headings. A tag, category or link that is forgotten goes; speakers and places stay.
    """
    known: dict[str, str] = {}

    def cut(text: str) -> str:
        # Headings and parents are repeated in every block below them.
        if text not in known:
            known[text] = cut_text(text, forgotten.covers)
        return known[text]

    title = cut(document.title)
    gone = title != document.title and is_marks_only(title)
    whole = replace(
        document,
        title=cut(make_readable_stem(path)) if gone else title,
        titled=document.titled and not gone,
        tags=tuple(tag for tag in document.tags if cut(tag) == tag),
        category=document.category if document.category and cut(document.category) == document.category else None,
        description=cut(document.description),
        links=tuple(link for link in document.links if cut(link) == link),
        blocks=tuple(
            replace(
                block.retold(cut(block.text)),
                heading=tuple(map(cut, block.heading)),
                parent=None if block.parent is None else cut(block.parent),
            )
            for block in document.blocks
        ),
    )
    return document if whole == document else whole


def sift(candidates: Iterable[Candidate], forgotten: Forgotten) -> tuple[Candidate, ...]:
    """The candidates that may be remembered: no forgotten statement, and none of marks alone."""
    kept: list[Candidate] = []
    for candidate in candidates:
        text = trim_marks(candidate.text)
        if (text != candidate.text and is_marks_only(text)) or forgotten.covers(text):
            continue
        kept.append(
            replace(
                candidate,
                text=text,
                page_hint=_unmarked(candidate.page_hint),
                section=_unmarked(candidate.section),
            )
        )
    return tuple(kept)


def trim_marks(text: str) -> str:
    """``text`` without the marks that it begins or ends with; what is left is still a quote."""
    return _END_MARKS.sub("", text)


def is_marks_only(text: str) -> bool:
    """Whether nothing but marks is left, or nothing at all."""
    return not _has_words(_ANY_MARK.sub("", text))


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _unmarked(name: str | None) -> str | None:
    return None if name is None or MARK in name else name


def _units(text: str) -> Iterator[Slice]:
    whole = text.strip()
    if not whole:
        return
    start = text.index(whole)
    yield Slice(whole, start, start + len(whole))
    sentences, lines = split_sentences(text), split_lines(text)
    yield from sentences
    yield from lines
    for part in (*sentences, *lines):
        yield from _finer(part)


def _finer(part: Slice) -> Iterator[Slice]:
    if "\n" not in part.text:
        for sentence in split_sentences(part.text):
            yield _within(part, sentence.start, sentence.end)
        for opening in _OPENING.finditer(part.text):
            yield _within(part, opening.end(), len(part.text))
            # The sentences behind a label end where they end.
            first = split_sentences(part.text[opening.end() :])[:1]
            yield from (_within(part, opening.end() + one.start, opening.end() + one.end) for one in first)
        for cell in _CELL.finditer(part.text):
            yield _within(part, cell.start(), cell.end())
    if len(part.text) > _LONG:
        for words, chars in _BOUNDS:
            for piece in cut_pieces(part.text, words, chars):
                yield _within(part, piece.start, piece.end)


def _within(outer: Slice, start: int, end: int) -> Slice:
    raw = outer.text[start:end]
    left = start + len(raw) - len(raw.lstrip())
    text = raw.strip()
    return Slice(text, outer.start + left, outer.start + left + len(text))


def _find_runs(text: str, hits: Sequence[Slice], covers: Covers) -> Iterator[Slice]:
    """Runs of sentences, or of lines, that are forgotten together: a short one among them goes with the others."""
    places = {(hit.start, hit.end) for hit in hits}
    for units in (split_sentences(text), split_lines(text)):
        found = (at for at, unit in enumerate(units) if (unit.start, unit.end) in places)
        for first, last in sorted({run for at in found for run in _runs_around(at, len(units))}):
            start, end = units[first].start, units[last].end
            # A bracket at the end adds nothing to what is known by itself.
            if _has_words(units[first].text) and _has_words(units[last].text) and covers(text[start:end]):
                yield Slice(text[start:end], start, end)


def _runs_around(at: int, count: int) -> Iterator[tuple[int, int]]:
    for first in range(max(0, at - _MOST_IN_A_RUN + 1), at + 1):
        for last in range(max(at, first + 1), min(first + _MOST_IN_A_RUN, count)):
            yield first, last


def _merge(text: str, hits: Sequence[Slice]) -> list[tuple[int, int]]:
    """The places to be cut, joined where they overlap or only spaces part them."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((hit.start, hit.end) for hit in hits if hit.text):
        if merged and (start <= merged[-1][1] or text[merged[-1][1] : start].strip(" ") == ""):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _mark(text: str, places: Sequence[tuple[int, int]]) -> str:
    borders = [(0, 0), *places, (len(text), len(text))]
    return MARK.join(text[before[1] : after[0]] for before, after in pairwise(borders))
