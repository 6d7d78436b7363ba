"""Markdown blocks, through markdown-it-py's block parser: it gives lines, and text without its markers.

Inline Markdown is left as it stands, so it is not parsed. The library skips what is nested too deeply; such
a text is read as plain text instead, so that nothing is lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.front_matter import FrontMatter, parse_front_matter
from memu.ingest.readers.html_blocks import read_html_blocks
from memu.ingest.readers.plain import read_plain_blocks
from memu.ingest.readers.runs import NumberedLine, Piece, fold, keep, number_lines, spread
from memu.markdown_rules import gather_rules
from memu.records import LineSpan

__all__ = ["read_markdown_blocks"]

_DEEPEST = 60
_DEFINITIONS = re.compile(r"(?:\[[^\]^\n]+\]:[ \t]*\S[^\n]*(?:\n|$))+")
_COMMENT = re.compile(r"^<!--.*?-->\s*|(?<!\s)\s*<!--(?:(?!<!--).)*?-->$", re.DOTALL)


def read_markdown_blocks(text: str, damage: Counter[str]) -> tuple[list[Block], FrontMatter | None]:
    """The blocks of Markdown text, headings included, and its front matter if it has a readable one."""
    # The library would take a lone CR for a line end and NUL for a character to replace.
    safe = text.replace("\r", " ")
    try:
        tokens = _make_parser().parse(safe)
    except RecursionError:
        tokens = []
        damage["too_deep"] += 1
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        damage["too_deep"] += 1
    if damage["too_deep"]:
        return read_plain_blocks(number_lines(safe.split("\n"))), None
    walk = _Walk(lines=safe.split("\n"), damage=damage)
    for token in tokens:
        walk.take(token)
    return walk.blocks, walk.front_matter


@cache
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table").use(front_matter_plugin)
    parser.core.ruler.disable(["inline", "text_join"])
    # A definition of a link is text of the source too; the library would take it away.
    parser.disable("reference")
    return gather_rules(parser)


@dataclass(slots=True)
class _Item:
    kind: BlockKind
    number: int | None = None
    text: str | None = None


@dataclass(slots=True)
class _Walk:
    """Goes over the tokens in order and keeps what stands above the current one."""

    lines: list[str]
    damage: Counter[str]
    blocks: list[Block] = field(default_factory=list)
    front_matter: FrontMatter | None = None
    headings: list[tuple[int, str]] = field(default_factory=list)
    lists: list[BlockKind] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    items: list[_Item] = field(default_factory=list)
    quotes: int = 0
    table_header: str | None = None
    in_table: bool = False
    level: int = 0

    def take(self, token: Token) -> None:
        """Reads one token."""
        match token.type:
            case "front_matter":
                self._take_front_matter(token)
            case "heading_open" | "heading_close":
                self.level = int(token.tag[1:]) if token.nesting > 0 else 0
            case "table_open" | "table_close":
                self.in_table, self.table_header = token.nesting > 0, None
            case "tr_open":
                self._take_row(token)
            case "inline":
                self._take_inline(token)
            case "fence" | "code_block":
                self._take_code(token)
            case "html_block":
                self._take_html(token)
            case _:
                self._take_container(token)

    def _take_container(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.lists.append(BlockKind.BULLET if token.type[0] == "b" else BlockKind.STEP)
                self.counts.append(-1)
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
                self.counts.pop()
            case "list_item_open":
                self.items.append(_Item(self.lists[-1], self._count(token.info)))
            case "list_item_close":
                self.items.pop()
            case "blockquote_open" | "blockquote_close":
                self.quotes += token.nesting

    def _count(self, written: str) -> int | None:
        """The number that a list item has where the source is read: lists of nothing but "1." count up too."""
        if self.lists[-1] is not BlockKind.STEP or not written.isdecimal():
            return None
        self.counts[-1] = max(int(written), self.counts[-1] + 1)
        return self.counts[-1]

    def _template(self, kind: BlockKind) -> Block:
        parents = [item.text for item in self.items if item.text is not None]
        return Block(
            kind=kind,
            text="",
            lines=None,
            heading=tuple(text for _, text in self.headings),
            depth=max(0, len(self.items) - 1),
            parent=parents[-1] if parents else None,
        )

    def _emit(self, template: Block, pieces: Iterable[Piece]) -> None:
        self.blocks.extend(spread(template, pieces))

    def _take_front_matter(self, token: Token) -> None:
        self.front_matter = parse_front_matter(token.content)
        if self.front_matter is None:
            self.damage["bad_front_matter"] += 1
        template = replace(self._template(BlockKind.DATA), language="yaml")
        self._emit(template, keep(number_lines(token.content.split("\n"), _first(token) + 1)))

    def _take_inline(self, token: Token) -> None:
        content = _COMMENT.sub("", token.content) if "<!--" in token.content else token.content
        pieces = fold(number_lines(content.split("\n"), self._find_start(token)))
        if self.in_table or not pieces:
            return
        if self.level and not self.items and not self.quotes:
            self._take_heading(pieces)
            return
        item = self.items[-1] if self.items else None
        if item is not None and item.text is None:
            template = replace(self._template(item.kind), number=item.number)
            item.text = pieces[0].text
        else:
            template = self._template(BlockKind.QUOTE if self.quotes else BlockKind.PARAGRAPH)
            if _DEFINITIONS.fullmatch(content):
                template = replace(template, kind=BlockKind.DATA)
        self._emit(template, pieces)

    def _find_start(self, token: Token) -> int:
        """The line that the content begins on: the library leaves out lines in front that hold only odd spaces."""
        first, opening = _first(token), token.content.partition("\n")[0]
        if opening in self.lines[first - 1]:
            return first
        below = range(first + 1, (token.map[1] if token.map else first) + 1)
        return next((line for line in below if opening in self.lines[line - 1]), first)

    def _take_heading(self, pieces: Sequence[Piece]) -> None:
        while self.headings and self.headings[-1][0] >= self.level:
            self.headings.pop()
        self._emit(replace(self._template(BlockKind.HEADING), depth=self.level), pieces)
        self.headings.append((self.level, pieces[0].text))

    def _take_row(self, token: Token) -> None:
        raw = self.lines[_first(token) - 1].strip()
        raw = raw.lstrip("> \t") if self.quotes else raw
        template = replace(self._template(BlockKind.TABLE), depth=0 if self.table_header is None else 1)
        if self.table_header is not None:
            template = replace(template, parent=self.table_header)
        else:
            self.table_header = raw
        self._emit(template, keep([NumberedLine(_first(token), _first(token), raw)]))

    def _take_code(self, token: Token) -> None:
        fenced = token.type == "fence"
        words = token.info.split() if fenced else []
        template = replace(self._template(BlockKind.FENCE), language=words[0].lower() if words else "")
        self._emit(template, keep(number_lines(token.content.split("\n"), _first(token) + fenced)))

    def _take_html(self, token: Token) -> None:
        above = _first(token) - 1
        for block in read_html_blocks(token.content, self.damage):
            kind = BlockKind.PARAGRAPH if block.kind is BlockKind.HEADING else block.kind
            placed = block.moved(lambda span: LineSpan(span.start + above, span.end + above))
            self.blocks.append(replace(placed, kind=kind, heading=self._template(kind).heading))


def _first(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1
