"""A page's content as a tree of blocks, each knowing its lines. Read by markdown-it, so fences are never cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from memu.markdown_rules import gather_rules
from memu.memorize.fold.inline import find_marks

__all__ = ["Node", "NodeKind", "read_outline"]

_MARKS_ONLY = re.compile(r"\s*(?:\[\^[a-z2-7]{5,52}\]\s*)+")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-+*]|(?P<number>\d{1,9})[.)])(?:[ \t]+|$)")


class NodeKind(StrEnum):
    """The forms a block takes on a page. UNIT is any other Markdown, kept or dropped as one."""

    HEADING = "heading"
    BULLET = "bullet"
    STEP = "step"
    PARAGRAPH = "paragraph"
    FENCE = "fence"
    QUOTE = "quote"
    UNIT = "unit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One block: lines ``start`` to ``end`` (from 0, end excluded) of the content.

    marks: its own, without its children's. An item (bullet or step) owns no marks: its first child is its text.
    A fence includes the unmarked paragraph that leads in to it and the line of marks below.
    level: of a heading. number: of a step. indent, inner: columns where an item and what is in it begin.
    """

    kind: NodeKind
    start: int
    end: int
    marks: tuple[str, ...] = ()
    children: tuple[Node, ...] = ()
    level: int = 0
    number: int | None = None
    indent: int = 0
    inner: int = 0

    @property
    def is_item(self) -> bool:
        return self.kind in (NodeKind.BULLET, NodeKind.STEP)


def read_outline(lines: Sequence[str]) -> tuple[Node, ...]:
    """The outermost blocks of a page, in order; items of one list stand side by side."""
    if len(lines) == 1 and lines[0][:1].isalpha():
        # No block but a paragraph begins with a letter: most of what a model writes needs no parser.
        marks = tuple(dict.fromkeys(found.mark for found in find_marks(lines[0])))
        return (Node(kind=NodeKind.PARAGRAPH, start=0, end=1, marks=marks),)
    tree = SyntaxTreeNode(_parser().parse("\n".join(lines)))
    return _read_container(tree.children, lines)


@cache
def _parser() -> MarkdownIt:
    # Only block structure is asked for: leaving inline rules out makes a long page several times quicker to read.
    return gather_rules(MarkdownIt("commonmark").disable(["reference", "inline"]))


def _read_container(children: Sequence[SyntaxTreeNode], lines: Sequence[str]) -> tuple[Node, ...]:
    nodes: list[Node] = []
    for child in children:
        if child.type in ("bullet_list", "ordered_list"):
            nodes.extend(_read_item(item, lines, ordered=child.type == "ordered_list") for item in child.children)
        elif child.map is not None:
            nodes.append(_read_leaf(child, lines))
    return tuple(_join_fences(nodes, lines))


def _read_item(item: SyntaxTreeNode, lines: Sequence[str], *, ordered: bool) -> Node:
    start, end = _range_of(item, lines)
    match = _ITEM.match(lines[start])
    first = item.children[0] if item.children else None
    nested = first is not None and first.type in ("bullet_list", "ordered_list", "blockquote")
    if match is None or first is None or (nested and first.map is not None and first.map[0] == start):
        # An item within a quotation, an empty one, or a list that opens on its item's line: nothing to take apart.
        return Node(kind=NodeKind.UNIT, start=start, end=end, marks=_marks_in(item))
    return Node(
        kind=NodeKind.STEP if ordered else NodeKind.BULLET,
        start=start,
        end=end,
        children=_read_container(item.children, lines),
        number=int(match["number"]) if ordered and match["number"] else None,
        indent=len(match["indent"]),
        inner=match.end(),
    )


def _read_leaf(node: SyntaxTreeNode, lines: Sequence[str]) -> Node:
    start, end = _range_of(node, lines)
    if node.type == "heading":
        return Node(kind=NodeKind.HEADING, start=start, end=end, level=int(node.tag[1:]))
    kinds = {"paragraph": NodeKind.PARAGRAPH, "fence": NodeKind.FENCE, "code_block": NodeKind.FENCE}
    kind = kinds.get(node.type, NodeKind.QUOTE if node.type == "blockquote" else NodeKind.UNIT)
    return Node(kind=kind, start=start, end=end, marks=_marks_in(node))


def _join_fences(nodes: Sequence[Node], lines: Sequence[str]) -> Iterator[Node]:
    """A fence (or other unit without marks) together with the marks below and the lead-in above it."""
    pending: Node | None = None
    for node in nodes:
        text = "\n".join(lines[node.start : node.end])
        if pending is None:
            pending = node
        elif _takes_marks(pending) and node.kind is NodeKind.PARAGRAPH and _MARKS_ONLY.fullmatch(text):
            pending = _merge(pending, node, pending.kind)
        elif node.kind is NodeKind.FENCE and pending.kind is NodeKind.PARAGRAPH and not pending.marks:
            pending = _merge(pending, node, NodeKind.FENCE)
        else:
            yield pending
            pending = node
    if pending is not None:
        yield pending


def _takes_marks(node: Node) -> bool:
    return node.kind in (NodeKind.FENCE, NodeKind.UNIT, NodeKind.QUOTE) and not node.marks


def _merge(first: Node, second: Node, kind: NodeKind) -> Node:
    return Node(kind=kind, start=first.start, end=second.end, marks=first.marks + second.marks)


def _range_of(node: SyntaxTreeNode, lines: Sequence[str]) -> tuple[int, int]:
    """The node's lines without blank ones at its end."""
    start, end = node.map or (0, 0)
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return start, end


def _marks_in(node: SyntaxTreeNode) -> tuple[str, ...]:
    """The marks in all inline text of a node, each once, in order."""
    found = (mark.mark for part in node.walk() if part.type == "inline" for mark in find_marks(part.content))
    return tuple(dict.fromkeys(found))
