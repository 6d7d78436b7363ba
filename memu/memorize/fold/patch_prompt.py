"""What a model is asked about one page: short instructions, its blocks by name, and what is to be said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.inline import unescape
from memu.memorize.fold.operations import Operation
from memu.memorize.fold.outline import NodeKind
from memu.memorize.fold.patch_numbers import Numbers
from memu.memorize.fold.patch_reading import Reading
from memu.memorize.fold.patch_sheet import Block
from memu.memorize.fold.patch_words import own_block
from memu.memorize.prompt_files import load_prompt
from memu.providers.protocols import ChatMessage

__all__ = ["ask_again", "ask_for_patch"]

_LINE_CHARS = 160
_REASON_CHARS = 300


def ask_for_patch(reading: Reading, numbers: Numbers) -> tuple[ChatMessage, ...]:
    """The messages that ask for a page's operations.

    Every line of the page and of its sources bears a name or a bar, so none of them can end the fence it is in.
    """
    draft = reading.draft
    head = f"Page: {draft.track.value}/{_one_line(draft.name)}"
    page, new = "\n".join(_show_page(reading, numbers)), "\n".join(_show_entries(reading, numbers))
    return (
        ChatMessage(role="system", content=load_prompt("fold").text),
        ChatMessage(role="user", content=f"{head}\n<page>\n{page}\n</page>\n<new>\n{new}\n</new>"),
    )


def ask_again(
    asked: Sequence[ChatMessage], refused: Sequence[tuple[Operation, str]], fault: str = ""
) -> tuple[ChatMessage, ...]:
    """The messages that give operations back with the reason of each, or say what was wrong with a whole reply."""
    *before, last = asked
    if not refused:
        told = (
            f"{last.content}\n\nYour last reply could not be used: {_one_line(fault, _REASON_CHARS)}. Reply again."
        )
        return (*before, ChatMessage(role="user", content=told))
    given = ", ".join(operation.to_json() for operation, _ in refused)
    reasons = "\n".join(
        f"{number}. {_one_line(reason, _REASON_CHARS)}" for number, (_, reason) in enumerate(refused, 1)
    )
    told = (
        f"These operations were not carried out:\n{reasons}\nSend only these again, corrected, or leave them out."
    )
    return (
        *asked,
        ChatMessage(role="assistant", content=f'{{"operations": [{given}]}}'),
        ChatMessage(role="user", content=told),
    )


def _show_page(reading: Reading, numbers: Numbers) -> Iterator[str]:
    names = {place: name for name, place in numbers.blocks.items()}
    for at, section in enumerate(reading.sections):
        shown = [(names[at, index], block) for index, block in enumerate(section.blocks) if (at, index) in names]
        if shown and section.level:
            yield f"{'#' * section.level} {_one_line(unescape(section.heading))}"
        for name, block in shown:
            yield from _bar(f"{name}{_day(reading.entries_of(block))}", _show_block(block))


def _show_entries(reading: Reading, numbers: Numbers) -> Iterator[str]:
    source = None
    for name, entry in numbers.entries.items():
        if entry.source_key != source:
            source = entry.source_key
            yield f"From: {_one_line(reading.titles[source])}"
        yield from _bar(f"{name}{_day((entry,))}", _show_block(own_block(entry)))


def _show_block(block: Block) -> str:
    if block.kind is NodeKind.FENCE:
        lead = f"{block.lead}\n" if block.lead else ""
        return f"{lead}```{block.language}\n{block.text}\n```"
    marker = {NodeKind.STEP: f"{block.number or 1}. ", NodeKind.QUOTE: "> "}.get(block.kind, "")
    return marker + block.text


def _bar(name: str, text: str) -> Iterator[str]:
    for index, line in enumerate(text.split("\n")):
        yield f"{name}| {line}" if index == 0 else f"| {line}"


def _day(entries: Sequence[PageEntry]) -> str:
    days = [entry.happened_at.date().isoformat() for entry in entries if entry.happened_at]
    return f" ({max(days)})" if days else ""


def _one_line(text: str, most: int = _LINE_CHARS) -> str:
    return " ".join(text.split())[:most]
