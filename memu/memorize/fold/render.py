"""A page rendered whole from its entries, without a model: the entries' own words, in a settled order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from memu.memorize.assign.words import plain_title
from memu.memorize.candidate import BlockForm, BlockShape
from memu.memorize.fold.describe import describe_memory, describe_skill
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.forms import format_fence, format_heading, format_item, format_paragraph, format_quote
from memu.memorize.fold.lists import OpenLists
from memu.memorize.fold.marks import format_marks, marks_for
from memu.memorize.fold.superseded import mark_earlier
from memu.names import fold_name
from memu.records import Kind, MemoryType, Origin, Track

__all__ = ["PageEntry", "Rendered", "name_sources", "render_page"]

_Section = list[PageEntry]
_SourceKey = tuple[str, str]
_ITEMS = frozenset({BlockForm.BULLET, BlockForm.STEP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A page's new content, the mark that cites each entry (by entry id), and a description for lists.

    described_by: the entries that a model's description rests on; None where it is counted from rows.
    written: (plain text, heading) of each block in a model's words. counts: what a patch came to.
    """

    content: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    described_by: tuple[str, ...] | None = None
    written: tuple[tuple[str, str], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def render_page(track: Track, entries: Sequence[PageEntry]) -> Rendered:
    """The page of these entries: each is cited by a block, and each block cites one or more.

    The order of ``entries`` and their ids decide no byte. On the memory track what several sources say alike is
    one block, under the first of them. On the skill track each source keeps its procedure whole, unless another
    source gives the very same one; what a person said twice in a session is no procedure. Without entries all is
    empty.
    """
    if not entries:
        return Rendered()
    ordered = sorted(entries, key=lambda entry: entry.place_key)
    marks = marks_for(entry.identity for entry in ordered)
    sections = _procedures(ordered) if track is Track.SKILL else _statements(mark_earlier(ordered))
    headings = _name_sections(sections)
    parts = [_render_section(headings[section[0].source_key], section, marks) for section in sections]
    titles = [_title_of(section[0]) for section in _by_source(ordered)]
    forms = Counter(entry.shape.form for section in sections for entry in section)
    return Rendered(
        content="\n\n".join(parts) + "\n",
        marks={entry.id: marks[entry.identity] for entry in ordered},
        description=_own_description(track, ordered) or _describe(track, forms, titles),
    )


def name_sources(entries: Iterable[PageEntry]) -> dict[tuple[str, str], str]:
    """The heading that each source of these entries has on a page, by ``PageEntry.source_key``."""
    sections = _by_source(sorted(entries, key=lambda entry: entry.place_key))
    return _name_sections(sections) if sections else {}


def _own_description(track: Track, ordered: Iterable[PageEntry]) -> str:
    """What an Agent Skill says in its header that it is for: the first such statement of a skill's page."""
    own = (entry.text for entry in ordered if track is Track.SKILL and _says_what_for(entry))
    return " ".join(next(own, "").split())


def _says_what_for(entry: PageEntry) -> bool:
    named = PurePosixPath(entry.path).name == "SKILL.md"
    return named and entry.memory_type is MemoryType.KNOWLEDGE and entry.origin is Origin.QUOTE


def _describe(track: Track, forms: Counter[BlockForm], titles: Sequence[str]) -> str:
    if track is Track.MEMORY:
        return describe_memory(forms.total(), titles)
    steps, commands = forms[BlockForm.STEP], forms[BlockForm.FENCE]
    return describe_skill(steps, commands, forms.total() - steps - commands, titles)


def _statements(ordered: Iterable[PageEntry]) -> list[_Section]:
    """The first entry of each statement, by source; the sources of a dated series by date."""
    leaders: dict[str, PageEntry] = {}
    for entry in ordered:
        leaders.setdefault(entry.identity, entry)
    sections = _by_source(leaders.values())
    if _is_series(sections):
        sections.sort(key=lambda section: (section[0].date or "", section[0].source_key))
    return sections


def _procedures(ordered: Iterable[PageEntry]) -> list[_Section]:
    """Each source's procedure; once where several sources give the very same."""
    distinct: dict[tuple[tuple[str, str], ...], _Section] = {}
    for section in map(_say_once, _by_source(ordered)):
        distinct.setdefault(tuple((entry.block, entry.identity) for entry in section), section)
    return list(distinct.values())


def _say_once(section: _Section) -> _Section:
    """A procedure as it is; of what people said in a session, which is none, each thing once."""
    said: set[str] = set()
    kept: _Section = []
    for entry in section:
        if entry.kind is Kind.SESSION and entry.shape.form is BlockForm.BULLET:
            if entry.identity in said:
                continue
            said.add(entry.identity)
        kept.append(entry)
    return kept


def _by_source(entries: Iterable[PageEntry]) -> list[_Section]:
    sections: dict[_SourceKey, _Section] = defaultdict(list)
    for entry in entries:
        sections[entry.source_key].append(entry)
    return list(sections.values())


def _is_series(sections: Sequence[_Section]) -> bool:
    """Whether the page is a dated series: more than half of its sources, and two at least, belong to one."""
    (series, count), *_ = Counter(section[0].series for section in sections).most_common(1)
    return series is not None and count > 1 and count * 2 > len(sections)


def _name_sections(sections: Sequence[_Section]) -> dict[_SourceKey, str]:
    """A heading for each source: its title, with the date in a series, told apart by path where alike."""
    dated = _is_series(sections)
    titles: dict[_SourceKey, str] = {}
    for section in sections:
        first = section[0]
        title = _title_of(first)
        in_front = dated and first.date is not None and first.date not in title
        titles[first.source_key] = f"{first.date} — {title}" if in_front else title
    alike = Counter(fold_name(title) for title in titles.values())
    headings = {
        key: f"{title} ({key[1]})" if alike[fold_name(title)] > 1 else title for key, title in titles.items()
    }
    # Two workspaces may hold the same path and title, and neither's root may be shown: they are counted.
    same = Counter(headings.values())
    seen: Counter[str] = Counter()
    for key in sorted(headings):
        heading = headings[key]
        seen[heading] += 1
        headings[key] = f"{heading} ({seen[heading]})" if same[heading] > 1 else heading
    return headings


def _title_of(entry: PageEntry) -> str:
    return plain_title(entry.title) or entry.path


def _render_section(heading: str, section: _Section, marks: Mapping[str, str]) -> str:
    """A heading and its blocks; items that follow one another make lists."""
    parts = [format_heading(2, heading)]
    part_name, label, number, lists = section[0].title, "", 0, OpenLists()
    for entry in section:
        shape = entry.shape
        if entry.section is not None and fold_name(entry.section) != fold_name(part_name):
            part_name, number = entry.section, 0
            parts.append(format_heading(3, part_name))
            lists.close()
        number = 0 if entry.label != label else number
        if shape.form is BlockForm.STEP:
            number = number + 1 if shape.number is None else shape.number
        # A step's or fence's label is shown once, where it changes; a bullet is often read alone.
        once = shape.form in (BlockForm.STEP, BlockForm.FENCE)
        shown = "" if once and entry.label == label else entry.label
        label, mark = entry.label, format_marks([marks[entry.identity]])
        if shape.form not in _ITEMS:
            lists.close()
            parts.append(_render_block(entry, shape, shown, mark))
            continue
        place = lists.place(shape, number)
        item = format_item(entry.text, mark, label=shown, marker=place.marker)
        block = "\n".join(" " * place.indent + line for line in item.split("\n"))
        if place.tight:
            parts[-1] = f"{parts[-1]}\n{block}"
        else:
            parts.append(block)
    return "\n\n".join(parts)


def _render_block(entry: PageEntry, shape: BlockShape, label: str, marks: str) -> str:
    if shape.form is BlockForm.FENCE:
        return format_fence(entry.text, marks, label=label, language=shape.language)
    if shape.form is BlockForm.QUOTE:
        return format_quote(entry.text, marks, label=label)
    return format_paragraph(entry.text, marks, label=label)
