"""A few sentences about a track's pages: what a model is asked, and what of its reply the pages back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memu.memorize.llm.grounding import overlap, ungrounded
from memu.memorize.prompt_files import load_prompt
from memu.providers.protocols import ChatMessage
from memu.providers.replies import parse_items
from memu.records import OverviewSentence, RecallFile

__all__ = ["ask_about_pages", "read_overview"]

_MOST_PAGES, _MOST_SENTENCES = 60, 6
_PAGE_CHARS, _ALL_CHARS, _SENTENCE_CHARS = 600, 16_000, 400
# A sentence that joins pages is in words of its own, but not in them alone.
_LEAST_OVERLAP = 0.2
_MARKS = re.compile(r"[ \t]*\[\^[a-z2-7]{5,52}\]")


def _read_names(value: object) -> object:
    return [str(each).strip("[] ").lower() for each in value] if isinstance(value, list) else value


class _Sentence(BaseModel):
    """One sentence as a model gives it."""

    model_config = ConfigDict(frozen=True)

    text: str
    cites: Annotated[tuple[str, ...], BeforeValidator(_read_names)]


def ask_about_pages(pages: Sequence[RecallFile]) -> tuple[ChatMessage, ...]:
    """The messages that ask for an overview of these pages; of many, and long ones, only so much is shown."""
    room, shown = _ALL_CHARS, []
    for number, page in enumerate(pages[:_MOST_PAGES], 1):
        beginning = " ".join(_plain(page).split())[:_PAGE_CHARS]
        line = f"p{number}| {' '.join(page.name.split())}: {beginning}"
        room -= len(line)
        if room < 0:
            break
        shown.append(line)
    listed = "\n".join(shown)
    return (
        ChatMessage(role="system", content=load_prompt("overview").text),
        ChatMessage(role="user", content=f"<pages>\n{listed}\n</pages>"),
    )


def read_overview(text: str, pages: Sequence[RecallFile]) -> tuple[OverviewSentence, ...]:
    """The sentences of a reply whose names, numbers, dates and quotes stand on the pages that they cite.

    Raises:
        ReplyError: there is no JSON in it, or it ends in the middle.
    """
    given = parse_items(text, _Sentence).items
    by_name = {f"p{number}": page for number, page in enumerate(pages[:_MOST_PAGES], 1)}
    kept: dict[str, OverviewSentence] = {}
    for sentence in given:
        cited = [by_name[name] for name in dict.fromkeys(sentence.cites) if name in by_name]
        text = " ".join(sentence.text.split())
        sources = [f"{page.name}\n{_plain(page)}" for page in cited]
        backed = cited and not ungrounded(text, sources) and overlap(text, sources) >= _LEAST_OVERLAP
        if backed and re.search(r"\w", text) and 0 < len(text) <= _SENTENCE_CHARS:
            kept.setdefault(text, OverviewSentence(text=text, pages=tuple(page.id for page in cited)))
    return tuple(kept.values())[:_MOST_SENTENCES]


def _plain(page: RecallFile) -> str:
    return _MARKS.sub("", page.content)
