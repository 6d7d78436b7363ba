"""Markdown files: notes, READMEs, decisions, minutes, and the rule files of coding agents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.dates import find_dateline
from memu.ingest.readers.front_matter import FrontMatter
from memu.ingest.readers.markdown_blocks import read_markdown_blocks
from memu.ingest.readers.meeting import is_meeting
from memu.records import Kind

__all__ = ["MarkdownReader", "choose_title"]

_RULE_NAMES = frozenset(
    [
        ".clinerules",
        ".cursorrules",
        ".roorules",
        ".windsurfrules",
        "AGENT.md",
        "AGENTS.md",
        "CLAUDE.local.md",
        "CLAUDE.md",
        "GEMINI.md",
        "SKILL.md",
        "copilot-instructions.md",
    ]
)
_RULE_SUFFIXES = (".mdc", ".instructions.md")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:[^\n]*\n){0,200}?---[ \t]*(?:\n|$)")
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,300})(?:#[^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]")
_LINK = re.compile(r"\]\(\s*<?([^()\s<>]{1,500})")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#")


class MarkdownReader:
    """Notes, READMEs, decisions, rule files."""

    name = "markdown"
    suffixes = frozenset([".md", ".markdown", ".mdown", ".mkd", ".mdx", ".mdc"])

    def recognises(self, source: Source) -> bool:
        # YAML documents open with the same dashes, so their suffixes must not be taken.
        is_free = find_suffix(source.path) in ("", ".txt", ".text")
        return _is_rule_file(source.path) or (is_free and bool(_FRONT_MATTER.match(source.text[:HEAD])))

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        blocks, front = read_markdown_blocks(source.text, damage)
        # A folded bad header is text like any other; a good one has said what it says in its fields.
        front = front or FrontMatter()
        title, place = choose_title(blocks)
        if front.title is None or _same(front.title, title):
            blocks = _leave_out_title(blocks, place)
        texts = [block.text for block in blocks if block.kind is not BlockKind.FENCE]
        return assemble(
            source,
            kind=_find_kind(source.path, front.title or title or "", blocks),
            title=front.title or title,
            blocks=blocks,
            tags=front.tags,
            category=front.category,
            description=front.description,
            happened_at=front.happened_at or next(filter(None, map(find_dateline, texts[:8])), None),
            links=_find_links(texts),
            damage=damage,
        )


def choose_title(blocks: Sequence[Block]) -> tuple[str | None, int]:
    """The heading that names the document and its place among the blocks: the first of level 1, else the
    first of all when no other has its level. (None, -1) when there is none."""
    headings = [(place, block) for place, block in enumerate(blocks) if block.kind is BlockKind.HEADING]
    for place, block in headings:
        if block.depth == 1:
            return block.text, place
    if headings and sum(block.depth <= headings[0][1].depth for _, block in headings) == 1:
        return headings[0][1].text, headings[0][0]
    return None, -1


def _leave_out_title(blocks: list[Block], place: int) -> list[Block]:
    """The title stands above everything already, so it is left out of the heading paths below it."""
    if place < 0:
        return blocks
    title = blocks[place].text
    return [
        replace(block, heading=block.heading[1:]) if at > place and block.heading[:1] == (title,) else block
        for at, block in enumerate(blocks)
    ]


def _same(one: str, other: str | None) -> bool:
    return other is not None and " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _is_rule_file(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _RULE_NAMES or name.lower().endswith(_RULE_SUFFIXES)


def _find_kind(path: str, title: str, blocks: Sequence[Block]) -> Kind:
    if _is_rule_file(path):
        return Kind.RULES
    return Kind.MEETING if is_meeting(title, blocks) else Kind.DOCUMENT


def _find_links(texts: Iterable[str]) -> list[str]:
    links: list[str] = []
    for text in texts:
        if "](" not in text and "[[" not in text:
            continue
        links += [match[1].strip() for match in _WIKILINK.finditer(text)]
        targets = (match[1] for match in _LINK.finditer(text))
        links += [unquote(target.split("#")[0]) for target in targets if not _SCHEME.match(target)]
    return [link for link in links if link]
