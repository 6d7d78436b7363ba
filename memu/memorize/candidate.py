"""What an extractor found in one source, before *assign* settles its page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memu.records import LineSpan, MemoryType, Origin, Track

__all__ = ["MAX_CHARS", "MAX_WORDS", "BlockForm", "BlockShape", "Candidate", "Extraction"]

MAX_WORDS = 200
MAX_CHARS = 1200
_LARGEST_NUMBER, _DEEPEST = 999_999_999, 9
_LANGUAGE = re.compile(r"[a-z0-9+#._-]{1,10}")


class BlockForm(StrEnum):
    """The Markdown form that a candidate takes on a page."""

    BULLET = "bullet"
    PARAGRAPH = "paragraph"
    STEP = "step"
    FENCE = "fence"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShape:
    """A form with what belongs to it: a step's number, an item's nesting, a fence's language.

    As an entry's ``block`` it is written in at most 16 characters: ``step:10``, ``step:2:1`` (number and depth),
    ``step::1`` (the source gives no number), ``bullet:1`` (depth), ``fence:sh``, else the form alone.
    """

    form: BlockForm = BlockForm.BULLET
    number: int | None = None
    depth: int = 0
    language: str = ""

    @classmethod
    def parse(cls, block: str) -> BlockShape:
        """The shape that ``str`` has written; a form that is not known is a paragraph."""
        name, *parts = block.split(":")
        if name not in BlockForm.__members__.values():
            return cls(form=BlockForm.PARAGRAPH)
        form = BlockForm(name)
        if form is BlockForm.FENCE:
            return cls(form=form, language=parts[0] if parts else "")
        if form is BlockForm.BULLET:
            parts = ["", *parts]
        number, depth = (int(part) if part.isdecimal() else None for part in (*parts, "", "")[:2])
        return cls(form=form, number=number, depth=depth or 0)

    def __str__(self) -> str:
        depth = min(self.depth, _DEEPEST)
        if self.form is BlockForm.FENCE and _LANGUAGE.fullmatch(self.language):
            return f"{self.form.value}:{self.language}"
        if self.form is BlockForm.BULLET and depth:
            return f"{self.form.value}:{depth}"
        known = self.number is not None and 0 <= self.number <= _LARGEST_NUMBER
        if self.form is not BlockForm.STEP or not (known or depth):
            return self.form.value
        return f"{self.form.value}:{self.number if known else ''}" + (f":{depth}" if depth else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing worth remembering, in the source's own words.

    text: at most 200 words and 1,200 characters: a contiguous piece of one block's text, nothing rewritten, or a
        model's wording of what stands in ``lines`` (``origin`` tells which).
    lines: the source lines that hold it; place: where it stands when there are no lines.
    label: what is shown in front of it (heading path, speaker, parent bullet, lead-in); not part of the quote.
    number, depth, language: of its block, where it has them; ``shape`` holds them with the form.
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
    number: int | None = None
    depth: int = 0
    language: str = ""
    page_hint: str | None = None
    section: str | None = None
    happened_at: datetime | None = None
    origin: Origin = Origin.QUOTE

    @property
    def shape(self) -> BlockShape:
        """Its form with number, depth and language."""
        return BlockShape(form=self.block, number=self.number, depth=self.depth, language=self.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The candidates of one source in source order, and how many pieces were passed over for each reason.

    lost: why a model's words are missing, once for each chunk that it lost; the source's own stand in for them.
    chunks: how many chunks a model was to be asked about; 0 where none was needed.
    """

    candidates: tuple[Candidate, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    chunks: int = 0
