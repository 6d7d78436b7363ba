"""The blocks of reStructuredText, as docutils' tree gives them: loaded with the first such text.

Nothing outside the text is read: no file is included, no raw part is passed on, no message is printed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache

import docutils.frontend
import docutils.nodes as tree
import docutils.parsers.rst
import docutils.utils
from docutils.frontend import Values
from docutils.parsers.rst import Parser

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.plain import read_plain_blocks
from memu.ingest.readers.runs import NumberedLine, fold, keep, replace_text, spread
from memu.ingest.readers.silence import silenced

__all__ = ["read_tree"]

_SIZE_LIMIT = 400_000
_LINES_LIMIT = 10_000
# The library looks for the ends of inline markup by the square of a line's length: a minute at 40,000 signs.
_LONGEST_LINE = 4_000
# And it reads each list within a list anew: a rule of such signs takes a second for each twenty lines.
_LISTS_WITHIN_LISTS = re.compile(r"\s*(?:[-*+\u2022\u2023\u2043]\s+){8}")
_SETTINGS = {
    "report_level": 5,
    "halt_level": 6,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "warning_stream": False,
    "line_length_limit": 10_000_000,
    "character_level_inline_markup": False,
}


def read_tree(text: str, run: list[NumberedLine], damage: Counter[str]) -> list[Block]:
    """The blocks of a text whose lines are ``run``; what the library cannot take is read as plain text."""
    if len(text) > _SIZE_LIMIT or len(run) > _LINES_LIMIT or any(map(_takes_long, run)):
        return read_plain_blocks(run)
    # A plain copy each, for the library writes into them.
    document = docutils.utils.new_document("source", copy(_make_settings()))
    try:
        Parser().parse(text, document)
    except (RecursionError, ValueError, AssertionError, AttributeError, IndexError, KeyError, TypeError):
        # Broken markup brings out faults of the library; the words are what counts.
        damage["bad_markup"] += 1
        return read_plain_blocks(run)
    walk = _Walk(run=run, damage=damage)
    try:
        walk.take_all(document)
    except RecursionError:
        damage["too_deep"] += 1
        return read_plain_blocks(run)
    return walk.blocks


def _takes_long(line: NumberedLine) -> bool:
    return len(line.text) > _LONGEST_LINE or _LISTS_WITHIN_LISTS.match(line.text) is not None


def _make_settings() -> Values:
    # The library silences warnings of its own meanwhile, so only one thread may.
    with silenced():
        return _make_settings_once()


@cache
def _make_settings_once() -> Values:
    settings = docutils.frontend.get_default_settings(docutils.parsers.rst.Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    return settings


@dataclass(slots=True)
class _Walk:
    """Goes over the tree in order. Each text is found again in the source below the one before it."""

    run: list[NumberedLine]
    damage: Counter[str]
    blocks: list[Block] = field(default_factory=list)
    at: int = 0

    def take_all(self, node: tree.Node, above: Block | None = None) -> None:
        """Reads what stands below ``node``; ``above`` is the template that its blocks begin from."""
        above = above or Block(kind=BlockKind.PARAGRAPH, text="", lines=None)
        for child in node.children:
            self._take(child, above)

    def _take(self, node: tree.Node, above: Block) -> None:
        match node:
            case tree.section():
                self._take_section(node, above)
            case tree.system_message() | tree.comment() | tree.substitution_definition() | tree.target():
                return
            case tree.bullet_list() | tree.enumerated_list():
                kind = BlockKind.BULLET if isinstance(node, tree.bullet_list) else BlockKind.STEP
                for number, item in enumerate(node.children, node.get("start", 1)):
                    template = replace(above, kind=kind, number=number if kind is BlockKind.STEP else None)
                    self._take_item(item, template)
            case tree.literal_block() | tree.doctest_block() | tree.math_block():
                classes: list[str] = node.get("classes", [])
                language = next((each for each in classes if each != "code"), "")
                template = replace(above, kind=BlockKind.FENCE, language=language)
                self._emit(template, node.astext(), verbatim=True)
            case tree.block_quote():
                self.take_all(node, replace(above, kind=BlockKind.QUOTE))
            case tree.row():
                self._take_row(node, replace(above, kind=BlockKind.TABLE))
            case tree.field():
                self._take_field(node, above)
            case tree.TextElement():
                self._emit(above, _text_of(node))
            case _:
                self.take_all(node, above)

    def _take_section(self, node: tree.section, above: Block) -> None:
        title = node.children[0] if node.children else None
        if not isinstance(title, tree.title):
            self.take_all(node, above)
            return
        text = _text_of(title)
        self._emit(replace(above, kind=BlockKind.HEADING, depth=len(above.heading) + 1), text)
        below = replace(above, heading=(*above.heading, " ".join(text.split())))
        for child in node.children[1:]:
            self._take(child, below)

    def _take_item(self, item: tree.Node, template: Block) -> None:
        depth = template.depth + 1 if template.parent is not None else 0
        head = replace(template, depth=depth)
        inner = head
        for place, child in enumerate(item.children):
            if place == 0 and isinstance(child, tree.paragraph):
                self._emit(head, _text_of(child))
                inner = replace(
                    head, kind=BlockKind.PARAGRAPH, number=None, parent=" ".join(_text_of(child).split())
                )
            else:
                self._take(child, replace(inner, number=None))

    def _emit(self, template: Block, text: str, *, verbatim: bool = False) -> None:
        wanted = text.split("\n")
        lines = self._find_together(wanted)
        runs = [lines] if lines else [[line] for line in map(self._find_line, wanted) if line]
        for run in runs:
            self.blocks += spread(template, keep(run) if verbatim else fold(run))

    def _take_row(self, row: tree.row, template: Block) -> None:
        """A row as it is drawn: the raw lines from its first cell's first to its last cell's last."""
        start = self.at
        found: list[int] = []
        for cell in row.children:
            self.at = found[0] if found else start
            lines = map(self._find_line, cell.astext().split("\n"))
            found += [line.first - 1 for line in lines if line]
        if found:
            first, self.at = min(found), max(found) + 1
            self.blocks += spread(template, fold(self.run[first : self.at]))

    def _take_field(self, node: tree.field, template: Block) -> None:
        """``:name: body`` as it is written, for its name is half of what it says."""
        self.at = min(self.at, len(self.run))
        head = self._find_line(node.children[0].astext())
        if head is None:
            return
        first = head.first - 1
        self.at = first + 1 + node.children[-1].astext().count("\n")
        self.blocks += spread(template, fold(self.run[first : self.at]))

    def _find_together(self, wanted: Sequence[str]) -> list[NumberedLine]:
        """The source's lines that hold the wanted ones, one below the other, from where we are."""
        needles = [text.strip() for text in wanted]
        for place in range(self.at, len(self.run) - len(needles) + 1):
            if all(needle in self.run[place + at].text for at, needle in enumerate(needles)):
                self.at = place + len(needles)
                return [replace_text(self.run[place + at], text.rstrip()) for at, text in enumerate(wanted)]
        return []

    def _find_line(self, text: str) -> NumberedLine | None:
        needle = text.strip()
        if not needle:
            return None
        for place in range(self.at, len(self.run)):
            if needle in self.run[place].text:
                self.at = place
                return replace_text(self.run[place], text.rstrip())
        self.damage["unplaced_text"] += 1
        return None


def _text_of(node: tree.Node) -> str:
    """The node's source text with its inline markup, or its words where the library kept no source."""
    raw = getattr(node, "rawsource", "")
    return raw or node.astext()
