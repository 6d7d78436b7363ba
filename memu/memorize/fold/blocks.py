"""A page's blocks: read them with their marks, and drop what rested only on marks that are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from memu.memorize.fold.inline import find_marks
from memu.memorize.fold.outline import Node, NodeKind, read_outline

__all__ = ["PageBlock", "drop_marks", "parse_blocks"]

_BLANK = re.compile(r"[\s>]*")
_MARKS_LINE = re.compile(r"\s*(?:\[\^[a-z2-7]{5,52}\]\s*)+")
_NO_CONTENT, _ANY_LEVEL = 0, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBlock:
    """One block of a page.

    text: its Markdown without list marker, indentation and marks; a fence's code without the fence.
    lead: the unmarked line above a fence, or "". headings: the headings above it, outermost first.
    depth: how many items it is nested in. start, end: its lines in the content, from 0, end excluded.
    """

    kind: NodeKind
    text: str
    marks: tuple[str, ...]
    lead: str = ""
    headings: tuple[str, ...] = ()
    depth: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class _Kept:
    """A block that stays, and its lines as they will stand."""

    node: Node
    lines: list[str]


def parse_blocks(content: str) -> tuple[PageBlock, ...]:
    """The blocks of a page in order, headings left out; an item's nested items are blocks of their own."""
    lines = content.split("\n")
    blocks: list[PageBlock] = []
    headings: list[tuple[int, str]] = []
    for node in read_outline(lines):
        if node.kind is NodeKind.HEADING:
            headings = [(level, text) for level, text in headings if level < node.level]
            headings.append((node.level, lines[node.start].strip().lstrip("#").strip()))
        else:
            above = tuple(text for _, text in headings)
            blocks.extend(_flatten(node, lines, above, node.kind, 0))
    return tuple(blocks)


def drop_marks(content: str, gone: AbstractSet[str]) -> str:
    """The page without these marks, and without every block, item and heading that rested on nothing else.

    A block keeps its place and its bytes but for the marks. What is nested in an item that goes moves up to the
    item's place. Steps keep their numbers: others may speak of them. A block that bore no mark backs nothing and
    goes too, unless it leads in to a fence or to nested items that stay. Without any such mark in the page,
    ``content`` comes back as it is.
    """
    lines = content.split("\n")
    nodes = read_outline(lines)
    if not any(mark in gone for node in nodes for mark in _all_marks(node)):
        return content
    kept = _drop_empty_headings(_cut(nodes, gone, lines))
    return "\n".join(_join(kept, lines)) + "\n" if kept else ""


def _flatten(
    node: Node, lines: Sequence[str], headings: tuple[str, ...], kind: NodeKind, depth: int
) -> Iterator[PageBlock]:
    if node.is_item:
        for index, child in enumerate(node.children):
            inner = node.kind if index == 0 and child.kind is NodeKind.PARAGRAPH else child.kind
            yield from _flatten(child, lines, headings, inner, depth if index == 0 else depth + 1)
        return
    raw = [line.strip() if kind is not NodeKind.FENCE else line for line in lines[node.start : node.end]]
    lead = ""
    if kind is NodeKind.FENCE:
        lead, text = _read_fence(raw)
    else:
        if kind is NodeKind.BULLET or kind is NodeKind.STEP:
            raw[0] = re.sub(r"^(?:[-+*]|\d+[.)])\s+", "", raw[0])
        elif kind is NodeKind.QUOTE:
            raw = [re.sub(r"^>\s?", "", line) for line in raw]
        text = "\n".join(_without_marks(raw, frozenset(node.marks)))
    yield PageBlock(
        kind=kind,
        text=text.strip() if kind is not NodeKind.FENCE else text,
        marks=node.marks,
        lead=lead,
        headings=headings,
        depth=depth,
        start=node.start,
        end=node.end,
    )


def _read_fence(raw: Sequence[str]) -> tuple[str, str]:
    """The lead-in above a fence and the code in it."""
    opening = next((index for index, line in enumerate(raw) if re.match(r"\s*(?:```|~~~)", line)), None)
    if opening is None:
        return "", "\n".join(line for line in raw if not _MARKS_LINE.fullmatch(line))
    fence = re.match(r"(\s*)(`{3,}|~{3,})", raw[opening])
    indent, ticks = (fence[1], fence[2]) if fence else ("", "```")
    code: list[str] = []
    for line in raw[opening + 1 :]:
        stripped = line.strip()
        if stripped.startswith(ticks) and not stripped.strip(ticks[0]):
            break
        code.append(line.removeprefix(indent))
    return "\n".join(line.strip() for line in raw[:opening]).strip(), "\n".join(code)


def _all_marks(node: Node) -> Iterator[str]:
    yield from node.marks
    for child in node.children:
        yield from _all_marks(child)


def _cut(nodes: Sequence[Node], gone: AbstractSet[str], lines: Sequence[str]) -> list[_Kept]:
    """What stays of one container's blocks."""
    kept: list[_Kept] = []
    for node in nodes:
        if node.kind is NodeKind.HEADING:
            kept.append(_Kept(node, list(lines[node.start : node.end])))
            continue
        kept.extend(_cut_item(node, gone, lines) if node.is_item else _cut_leaf(node, gone, lines))
    return kept


def _cut_leaf(node: Node, gone: AbstractSet[str], lines: Sequence[str]) -> list[_Kept]:
    if all(mark in gone for mark in node.marks):
        return []
    raw = list(lines[node.start : node.end])
    if node.kind is not NodeKind.FENCE:
        return [_Kept(node, _without_marks(raw, gone))]
    tail = len(raw)
    while tail and _MARKS_LINE.fullmatch(raw[tail - 1]):
        tail -= 1
    return [_Kept(node, raw[:tail] + _without_marks(raw[tail:], gone))]


def _cut_item(node: Node, gone: AbstractSet[str], lines: Sequence[str]) -> list[_Kept]:
    kept = _cut(node.children, gone, lines)
    if not kept:
        return []
    head = node.children[0]
    if kept[0].node is not head:
        if head.marks or head.is_item:
            shift = node.inner - node.indent
            return [_Kept(part.node, [_dedent(line, shift) for line in part.lines]) for part in kept]
        kept.insert(0, _Kept(head, list(lines[head.start : head.end])))
    return [_Kept(node, _join(kept, lines))]


def _dedent(line: str, width: int) -> str:
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _without_marks(raw: Sequence[str], gone: AbstractSet[str]) -> list[str]:
    """Lines of inline Markdown without these marks and the space before them; lines left empty go."""
    text = "\n".join(raw)
    for found in reversed(find_marks(text)):
        if found.mark in gone:
            before, after = text[: found.start], text[found.end :]
            line_start = before[before.rfind("\n") + 1 :]
            if _BLANK.fullmatch(line_start):
                after = after.lstrip(" \t")
            else:
                before = before.rstrip(" \t")
            text = before + after
    lines = text.split("\n")
    return [line for line, old in zip(lines, raw, strict=True) if line == old or not _BLANK.fullmatch(line)] or [
        lines[0]
    ]


def _drop_empty_headings(kept: Sequence[_Kept]) -> list[_Kept]:
    """Without headings that have no block below them before the next of their own or a higher level."""
    staying: list[_Kept] = []
    open_level = _NO_CONTENT
    for part in reversed(kept):
        if part.node.kind is not NodeKind.HEADING:
            open_level = _ANY_LEVEL
        elif part.node.level >= open_level:
            continue
        else:
            open_level = part.node.level
        staying.append(part)
    return staying[::-1]


def _join(kept: Sequence[_Kept], lines: Sequence[str]) -> list[str]:
    """Blocks one below the other: as tight as they were, else with a blank line between."""
    out: list[str] = []
    for index, part in enumerate(kept):
        if index and not _is_tight(kept[index - 1].node, part, lines):
            out.append("")
        out.extend(part.lines)
    return out


def _is_tight(before: Node, part: _Kept, lines: Sequence[str]) -> bool:
    """Whether a block may stand on the very next line: it did, and Markdown still reads it as the same block."""
    node = part.node
    adjacent = before.end == node.start
    no_blank = bool(lines[node.start - 1].strip())
    if node.kind is NodeKind.STEP and before.kind is not NodeKind.STEP:
        # Only a list that starts at 1 can follow a paragraph without a blank line.
        starts_list = part.lines[0].lstrip().startswith(("1.", "1)"))
        return starts_list and (adjacent or (before.kind is NodeKind.PARAGRAPH and no_blank))
    if node.is_item and before.kind in (node.kind, NodeKind.PARAGRAPH):
        return no_blank
    return adjacent
