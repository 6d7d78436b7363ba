"""What is left of one stored source: its rows without the forgotten words. Pure functions.

The file itself may be gone or unreadable, so this works on rows; where it can be read it is read again afterwards,
and what that finds counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from memu.memorize.forget.cutting import cut_passage, cut_title
from memu.memorize.forget.joined import cut_row, cut_shown, list_shown
from memu.memorize.forget.marks import MARK, is_marks_only, trim_marks
from memu.memorize.forget.scissors import Scissors
from memu.memorize.sentences import split_sentences
from memu.memorize.source_rows import entry_passage, index_passages
from memu.records import LineSpan, Origin, Passage, RecallEntry, Resource, State
from memu.storage.words import IndexedPassage
from memu.tokens import text_key

__all__ = ["SourceCut", "cut_source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCut:
    """A source as it is to be stored.

    touched: the ids of entries that went or read otherwise now. keys: those of what went beside the statements.
    worded: whether a model had a part in what was stored of it.
    """

    resource: Resource
    entries: tuple[RecallEntry, ...]
    passages: tuple[IndexedPassage, ...]
    entry_passages: tuple[IndexedPassage, ...]
    touched: frozenset[str]
    keys: frozenset[str]
    worded: bool = False


def cut_source(
    resource: Resource,
    entries: Sequence[RecallEntry],
    passages: Sequence[Passage],
    gone: AbstractSet[str],
    scissors: Scissors,
) -> SourceCut | None:
    """Cut a source's rows; None where nothing of it is forgotten. ``gone``: ids of the entries that go."""
    work = _Work(scissors, [entry for entry in entries if entry.id in gone])
    title = work.cut_name(resource.title)
    if title != resource.title:
        title = cut_title(resource.title, resource.path, work.cut_name)
    kept = [each for entry in entries if entry.id not in gone if (each := work.cut_entry(entry)) is not None]
    left = work.cut_passages(passages, resource)
    facts = {name: work.cut_fact(value) for name, value in resource.facts.items()}
    caption = work.cut_name(resource.caption)
    before = (resource.title, resource.caption, list(entries), list(passages), dict(resource.facts))
    if (title, caption, kept, left, facts) == before:
        return None
    again = resource.state in (State.DONE, State.PARTIAL) and resource.kept_text is None
    # The caption may quote what went in words of its own; reading the file again gives it back.
    changed = replace(
        resource,
        title=title,
        caption="",
        facts={**facts, "forgotten": True},
        state=State.PENDING if again else resource.state,
    )
    standing = {entry.id: entry for entry in kept}
    return SourceCut(
        resource=changed,
        entries=tuple(kept),
        passages=index_passages(left),
        entry_passages=index_passages([entry_passage(entry, changed) for entry in kept]),
        touched=frozenset(entry.id for entry in entries if standing.get(entry.id) != entry),
        keys=frozenset(work.keys),
        worded=any(entry.origin is Origin.MODEL for entry in entries),
    )


class _Work:
    """The cuts in one source. ``keys`` gathers what went beside the statements."""

    def __init__(self, scissors: Scissors, gone: Sequence[RecallEntry]) -> None:
        self._scissors = scissors
        self._spans = [entry.lines for entry in gone]
        self._owns = bool(gone)
        self.keys: set[str] = set()

    def cut_entry(self, entry: RecallEntry) -> RecallEntry | None:
        """The entry without what is forgotten; None where nothing is left of it."""
        cut = self._cut(entry.text, own=self._stands_in(entry.lines))
        if cut == entry.text:
            cut = self._cut_shown(entry)
        text = entry.text if cut == entry.text else trim_marks(cut)
        if text != entry.text and is_marks_only(text):
            return None
        return replace(
            entry,
            text=text,
            text_key=text_key(text),
            # A label may be the shortened text of the item above.
            label=self._cut(entry.label, own=self._owns) if entry.label else "",
            page_hint=self._cut_hint(entry.page_hint),
            section=self._cut_hint(entry.section),
        )

    def cut_passages(self, passages: Sequence[Passage], resource: Resource) -> list[Passage]:
        """The passages with marks in text, heading and header, the path left as it is."""
        left = [self._cut_passage(passage, resource.path) for passage in passages]
        texts = cut_row([each.text for each in left], self._scissors)
        whole = [replace(each, text=text) for each, text in zip(left, texts, strict=True)]
        return [replace(each, text=self._cut_below(each, resource.title)) for each in whole]

    def cut_name(self, name: str) -> str:
        """A title, a heading or a part of one."""
        return self._cut(name, own=False) if name else name

    def cut_fact(self, value: Any) -> Any:
        """A fact: what is forgotten goes from lists, and leaves a string empty."""
        if isinstance(value, str):
            return value if self.cut_name(value) == value else ""
        if isinstance(value, Mapping):
            return {name: self.cut_fact(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [each for each in value if not isinstance(each, str) or self.cut_name(each) == each]
        return value

    def _cut_passage(self, passage: Passage, path: str) -> Passage:
        own = self._stands_in(passage.lines)
        return cut_passage(passage, path, lambda text: self._cut(text, own=own), self.cut_name)

    def _cut_below(self, passage: Passage, title: str) -> str:
        """Its text without what it says only together with the headings above it."""
        above = [each for each in (title, *passage.heading.split(" > ")) if each]
        text = cut_row((*above, passage.text), self._scissors)[-1]
        first = next((each.text for each in split_sentences(text)), "")
        for context in above:
            if self._say_together(context, first):
                return text.replace(first, MARK, 1)
        return text

    def _say_together(self, context: str, text: str) -> bool:
        """Whether what is to go is said only by both; by itself a heading or label is cut."""
        says = self._scissors.says
        if says is None or says(context) or says(text) or not says(f"{context} {text}"):
            return False
        self.keys.add(text_key(f"{context} {text}"))
        return True

    def _cut_shown(self, entry: RecallEntry) -> str:
        """Its text without what it says only together with what stands in front of it."""
        if any(self._say_together(context, entry.text) for context in list_shown(entry)):
            return MARK
        return cut_shown(entry, self._scissors).text

    def _cut_hint(self, name: str | None) -> str | None:
        return None if name is None or self.cut_name(name) != name else name

    def _cut(self, text: str, *, own: bool) -> str:
        cut = self._scissors.cut(text, own=own)
        self.keys |= cut.keys
        return cut.text

    def _stands_in(self, lines: LineSpan | None) -> bool:
        """Whether a forgotten statement stands in these lines, as far as lines tell."""
        if not self._owns:
            return False
        return any(
            span is None or lines is None or (span.start <= lines.end and lines.start <= span.end)
            for span in self._spans
        )
