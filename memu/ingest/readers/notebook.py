"""Jupyter notebooks: what the cells say, each line with its own line in the JSON file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble
from memu.ingest.readers.json_tree import Json, find_records, parse_json
from memu.ingest.readers.markdown import choose_title
from memu.ingest.readers.markdown_blocks import read_markdown_blocks
from memu.ingest.readers.runs import LineIndex, NumberedLine, keep, spread
from memu.records import Kind, LineSpan

__all__ = ["NotebookReader"]

_OUTPUT_CHARS = 2_000
_OUTPUT_KEYS = ("text/markdown", "text/plain")


class NotebookReader:
    """Markdown cells as Markdown, code cells as code, and the beginning of what each printed."""

    name = "notebook"
    suffixes = frozenset([".ipynb"])

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD]
        if '"cell_type"' not in head or head.lstrip()[:1] != "{":
            return False
        root = parse_json(head).root
        cells = root.get("cells") if root else None
        return cells is not None and any(cell.get("cell_type") is not None for cell in cells.items)

    def read(self, source: Source) -> Document:
        records, _, found = find_records(source.text)
        damage = Counter(found)
        root = records[0] if records else None
        cells = root.get("cells") if root else None
        index = LineIndex(source.text)
        language = _read_language(root)
        blocks: list[Block] = []
        headings: tuple[str, ...] = ()
        for number, cell in enumerate(cells.items if cells else (), 1):
            new = _read_cell(cell, index, language, headings, damage)
            blocks += [replace(block, place=f"cell {number}") for block in new]
            headings = _go_on(new, headings)
        title, _ = choose_title(blocks)
        metadata = root.get("metadata") if root else None
        written = metadata.read_text("title") if metadata else None
        return assemble(
            source, kind=Kind.DOCUMENT, title=written or title, blocks=_leave_out(blocks, title), damage=damage
        )


def _read_cell(
    cell: Json, index: LineIndex, language: str, headings: tuple[str, ...], damage: Counter[str]
) -> list[Block]:
    run = _number_cell(cell.get("source"), index)
    if cell.read_text("cell_type") == "markdown":
        return _read_text(run, headings, damage)
    template = Block(kind=BlockKind.CODE, text="", lines=None, heading=headings, language=language)
    blocks = spread(template, keep(run))
    outputs = cell.get("outputs")
    for output in outputs.items if outputs else ():
        printed = _bound(_number_cell(_find_output(output), index))
        blocks += spread(replace(template, kind=BlockKind.DATA, language="output"), keep(printed))
    return blocks


def _read_text(run: Sequence[NumberedLine], headings: tuple[str, ...], damage: Counter[str]) -> list[Block]:
    """The Markdown of a cell, its lines put back to where they stand in the file."""
    text = "\n".join(line.text for line in run)
    if not text.strip():
        return []
    found, _ = read_markdown_blocks(text, damage)
    placed: list[Block] = []
    for block in found:
        known = block if block.lines else replace(block, lines=LineSpan(1, len(run)))
        above = () if block.kind is BlockKind.HEADING and block.depth == 1 else headings
        own = block.heading or above
        placed.append(replace(known.moved(lambda lines: _put_back(lines, run)), heading=own))
    return placed


def _put_back(lines: LineSpan, run: Sequence[NumberedLine]) -> LineSpan:
    return LineSpan(run[lines.start - 1].first, run[min(lines.end, len(run)) - 1].last)


def _number_cell(value: Json | None, index: LineIndex) -> list[NumberedLine]:
    """The lines of a cell's source or output: a list of strings, or one string."""
    if value is None:
        return []
    parts = value.items if value.form == "array" else [value]
    lines: list[NumberedLine] = []
    open_line = False
    for part in parts:
        if part.form != "string":
            continue
        span = index.span(part.start, part.end)
        for place, text in enumerate(part.text.split("\n")):
            if place == 0 and open_line:
                before = lines.pop()
                lines.append(NumberedLine(before.first, span.end, before.text + text))
            elif text or place == 0 or not part.text.endswith("\n"):
                lines.append(NumberedLine(span.start, span.end, text))
            else:
                continue
        open_line = not part.text.endswith("\n")
    return lines


def _bound(run: Iterable[NumberedLine]) -> list[NumberedLine]:
    kept: list[NumberedLine] = []
    size = 0
    for line in run:
        size += len(line.text)
        if size > _OUTPUT_CHARS:
            break
        kept.append(line)
    return kept


def _find_output(output: Json) -> Json | None:
    text = output.get("text")
    data = output.get("data")
    if text is not None or data is None:
        return text
    return data.get(*_OUTPUT_KEYS)


def _read_language(root: Json | None) -> str:
    metadata = root.get("metadata") if root else None
    info = metadata.get("language_info", "kernelspec") if metadata else None
    return ((info.read_text("name", "language") if info else None) or "").lower()


def _go_on(blocks: Sequence[Block], headings: tuple[str, ...]) -> tuple[str, ...]:
    """The heading path below which the next cell stands."""
    for block in reversed(blocks):
        if block.kind is BlockKind.HEADING:
            return (*block.heading, block.text)
    return headings


def _leave_out(blocks: Iterable[Block], title: str | None) -> list[Block]:
    return [
        replace(block, heading=block.heading[1:]) if title and block.heading[:1] == (title,) else block
        for block in blocks
    ]
