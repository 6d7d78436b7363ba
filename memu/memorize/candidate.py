"""What an extractor found in one source, before *assign* settles its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memu.records import LineSpan, MemoryType, Track

__all__ = ["MAX_CHARS", "MAX_WORDS", "BlockForm", "Candidate", "Extraction"]

MAX_WORDS = 200
MAX_CHARS = 1200


class BlockForm(StrEnum):
    """The Markdown form that a candidate takes on a page."""

    BULLET = "bullet"
    PARAGRAPH = "paragraph"
    STEP = "step"
    FENCE = "fence"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing worth remembering, in the source's own words.

    text: a contiguous piece of one block's text, at most 200 words and 1,200 characters; nothing is rewritten.
    lines: the source lines that hold it; place: where it stands when there are no lines.
    label: what is shown in front of it (heading path, speaker, parent bullet, lead-in); not part of the quote.
    page_hint, section: the page and the section that the source's structure names, else None.
    happened_at: from the source's content or path, never from the file system.
    """

    text: str
    lines: LineSpan | None
    place: str | None = None
    memory_type: MemoryType = MemoryType.KNOWLEDGE
    track: Track = Track.MEMORY
    label: str = ""
    block: BlockForm = BlockForm.BULLET
    page_hint: str | None = None
    section: str | None = None
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The candidates of one source in source order, and how many pieces were passed over for each reason."""

    candidates: tuple[Candidate, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
