"""What the styles of a Word document make of its paragraphs: headings, items of lists, the title."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["WORD", "Style", "Styles"]

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

_VALUE = f"{WORD}val"
_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_DEEPEST = 9
_STEPS_BACK = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """level: of a heading, 1 outermost, else 0. depth: of a list's item, 0 outermost, None of any other."""

    level: int = 0
    is_title: bool = False
    depth: int | None = None
    is_numbered: bool = False


@dataclass(slots=True)
class Styles:
    """The styles by their ids, and the lists by theirs: of each, which of its levels are numbered."""

    elements: dict[str, Any]
    lists: dict[str, dict[int, bool]]
    _known: dict[str, Style] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Any) -> Styles:
        """Those of a document that ``python-docx`` has opened."""
        elements = {each.get(f"{WORD}styleId"): each for each in document.styles.element.iter(f"{WORD}style")}
        numbering = [rel for rel in document.part.rels.values() if rel.reltype.endswith("/numbering")]
        return cls(elements, _read_lists(document.part.numbering_part.element) if numbering else {})

    def look_up(self, paragraph: Any) -> Style:
        """What a paragraph is: what it says of itself, else what its style does."""
        properties = paragraph.find(f"{WORD}pPr")
        if properties is None:
            return Style()
        named = properties.find(f"{WORD}pStyle")
        style = self._find(named.get(_VALUE), _STEPS_BACK) if named is not None else Style()
        return self._refine(style, properties)

    def _find(self, name: str | None, steps: int) -> Style:
        if name is None or steps == 0 or name not in self.elements:
            return Style()
        if name not in self._known:
            element = self.elements[name]
            above = element.find(f"{WORD}basedOn")
            style = self._find(above.get(_VALUE), steps - 1) if above is not None else Style()
            called = element.find(f"{WORD}name")
            label = called.get(_VALUE, "") if called is not None else ""
            if match := _HEADING.match(label):
                style = replace(style, level=int(match[1]))
            if label.lower() == "title":
                style = Style(is_title=True)
            properties = element.find(f"{WORD}pPr")
            self._known[name] = style if properties is None else self._refine(style, properties)
        return self._known[name]

    def _refine(self, style: Style, properties: Any) -> Style:
        outline = _number(properties.find(f"{WORD}outlineLvl"))
        if outline is not None:
            style = replace(style, level=outline + 1 if outline < _DEEPEST else 0)
        numbering = properties.find(f"{WORD}numPr")
        if numbering is None:
            return style
        named = numbering.find(f"{WORD}numId")
        listed = named.get(_VALUE) if named is not None else None
        if listed in (None, "0"):
            return replace(style, depth=None) if listed == "0" else style
        depth = _number(numbering.find(f"{WORD}ilvl")) or style.depth or 0
        return replace(style, depth=depth, is_numbered=self.lists.get(listed, {}).get(depth, False))


def _read_lists(numbering: Any) -> dict[str, dict[int, bool]]:
    kinds: dict[str | None, dict[int, bool]] = {}
    for each in numbering.iter(f"{WORD}abstractNum"):
        levels: dict[int, bool] = {}
        for level in each.iter(f"{WORD}lvl"):
            written = level.find(f"{WORD}numFmt")
            at = level.get(f"{WORD}ilvl", "")
            if written is not None and at.isdecimal():
                levels[int(at)] = written.get(_VALUE) not in ("bullet", "none")
        kinds[each.get(f"{WORD}abstractNumId")] = levels
    lists: dict[str, dict[int, bool]] = {}
    for each in numbering.iter(f"{WORD}num"):
        kind = each.find(f"{WORD}abstractNumId")
        if kind is not None:
            lists[each.get(f"{WORD}numId")] = kinds.get(kind.get(_VALUE), {})
    return lists


def _number(element: Any) -> int | None:
    value = element.get(_VALUE, "") if element is not None else ""
    return int(value) if value.isdecimal() else None
