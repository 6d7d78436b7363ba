"""Cutting forgotten statements out of texts, documents and candidates. Pure functions.

A text is looked at as it is and as it is seen, by the parts that may be statements and for runs of words that
begin and end like one. What is covered gives way to a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from memu.ingest.document import Document
from memu.ingest.readers.assembly import make_readable_stem
from memu.memorize.candidate import Candidate
from memu.memorize.forget.forgotten import Forgotten
from memu.memorize.forget.joined import cut_blocks, cut_shown
from memu.memorize.forget.marked_blocks import find_in_block, mark_block
from memu.memorize.forget.marks import MARK, is_marks_only, trim_marks
from memu.memorize.forget.places import find_places, mark_places
from memu.memorize.forget.runs import Statements
from memu.records import Passage, Resource

__all__ = [
    "cut_all_passages",
    "cut_document",
    "cut_passage",
    "cut_resource",
    "cut_steps",
    "cut_text",
    "cut_title",
    "sift",
]


def cut_text(text: str, statements: Statements) -> str:
    """``text`` with a mark in the place of each part that is forgotten."""
    hits = find_places(text, statements)
    return mark_places(text, hits) if hits else text


def cut_title(title: str, path: str, cut: Callable[[str], str]) -> str:
    """A source's title; one that is forgotten whole gives way to its file's name."""
    left = cut(title)
    return cut(make_readable_stem(path)) if left != title and is_marks_only(left) else left


def cut_steps(line: str, cut: Callable[[str], str]) -> str:
    """A path of headings, each of them by itself, or another line of a passage's header."""
    left = cut(line)
    if left != line and " > " in line:
        return " > ".join(map(cut, line.split(" > ")))
    return left if left == line or not is_marks_only(left) else MARK


def cut_passage(passage: Passage, path: str, cut: Callable[[str], str], cut_name: Callable[[str], str]) -> Passage:
    """The passage with marks in text, heading and header, its path left as it is."""
    lines = passage.header.split("\n")
    return replace(
        passage,
        text=cut(passage.text),
        heading=cut_steps(passage.heading, cut_name),
        header="\n".join(line if line == path else cut_steps(line, cut_name) for line in lines),
    )


def cut_all_passages(passages: Iterable[Passage], path: str, forgotten: Forgotten) -> tuple[Passage, ...]:
    """The passages with marks: what no block of a document says alone, several that stand in one may say."""

    def cut(text: str) -> str:
        return cut_text(text, forgotten)

    return tuple(cut_passage(passage, path, cut, cut) for passage in passages)


def cut_resource(resource: Resource, forgotten: Forgotten) -> Resource:
    """What is told of a source, as it may be stored: no caption quotes what was forgotten."""

    def cut(text: str) -> str:
        return cut_text(text, forgotten)

    caption = cut(resource.caption)
    return replace(
        resource,
        title=cut_title(resource.title, resource.path, cut),
        caption="" if caption != resource.caption and is_marks_only(caption) else caption,
    )


def cut_document(document: Document, path: str, forgotten: Forgotten) -> Document:
    """The document without what was forgotten; the same object where nothing of it was.

    Marks stand in blocks and headings. A tag, category or link that is forgotten goes; speakers and places stay.
    """
    known: dict[str, str] = {}

    def cut(text: str) -> str:
        # Headings and parents are repeated in every block below them.
        if text not in known:
            known[text] = cut_text(text, forgotten)
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
                mark_block(block, find_in_block(block, forgotten)),
                heading=tuple(map(cut, block.heading)),
                parent=None if block.parent is None else cut(block.parent),
            )
            for block in document.blocks
        ),
    )
    whole = replace(whole, blocks=cut_blocks(whole.blocks, forgotten))
    return document if whole == document else whole


def sift(candidates: Iterable[Candidate], forgotten: Forgotten) -> tuple[Candidate, ...]:
    """The candidates that may be remembered: no forgotten statement, and none of marks alone."""
    kept: list[Candidate] = []
    for candidate in candidates:
        text = trim_marks(candidate.text)
        if (text != candidate.text and is_marks_only(text)) or cut_text(text, forgotten) != text:
            continue
        candidate = cut_shown(replace(candidate, text=text), forgotten)
        if candidate.text != text:
            text = trim_marks(candidate.text)
            if is_marks_only(text):
                continue
        kept.append(
            replace(
                candidate,
                text=text,
                label=_unmarked(cut_text(candidate.label, forgotten)) or "",
                page_hint=_name(candidate.page_hint, forgotten),
                section=_name(candidate.section, forgotten),
            )
        )
    return tuple(kept)


def _name(name: str | None, forgotten: Forgotten) -> str | None:
    return None if name is None else _unmarked(cut_text(name, forgotten))


def _unmarked(name: str) -> str | None:
    return None if MARK in name else name
