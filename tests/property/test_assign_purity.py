"""Assignment is a pure function of what the sources say and of their paths (P3)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memu.memorize.assign.assignment import assign
from memu.memorize.assign.records import AssignCandidate, Assignment, AssignSource
from memu.names import fold_name
from memu.records import Kind, LineSpan, Track

WORDS = st.sampled_from(
    ["Redis", "redis", "Blue", "lantern", "DNS", "notes", "the", "use", "数据", "备份", "<n>", "<n>."]
)
TITLES = st.lists(WORDS, max_size=4).map(" ".join)
TAGS = st.sampled_from(["", "Redis", "REDIS", "Ops", "notes"])
FOLDERS = st.sampled_from(["", "ops/", "Ops/", "docs/", "x/notes/", "2024/"])
KINDS = st.sampled_from([Kind.DOCUMENT, Kind.DOCUMENT, Kind.MEETING, Kind.CHAT, Kind.RULES])
KEYS = st.sampled_from(["", "same", "other", "own {}"])
TRACKS = st.sampled_from([Track.MEMORY, Track.MEMORY, Track.SKILL])
HINTS = st.sampled_from([None, None, "Deploy", "deploy", "Usage", ""])
Workspace = tuple[list[AssignSource], list[AssignCandidate]]


@st.composite
def workspaces(draw: st.DrawFn) -> Workspace:
    sources: list[AssignSource] = []
    entries: list[AssignCandidate] = []
    for number in range(draw(st.integers(1, 12))):
        title = draw(TITLES).replace("<n>", str(number))
        path = f"{draw(FOLDERS)}{number}.md"
        facts = {
            "titled": draw(st.booleans()),
            "category": draw(TAGS),
            "date": draw(st.sampled_from([None, f"2024-01-{number + 1:02}"])),
            "dated": draw(st.booleans()),
            "series_title": title,
            "series_stem": "",
        }
        content = draw(st.sampled_from([path, path, "copy"]))
        sources.append(AssignSource(path=path, kind=draw(KINDS), title=title, content_hash=content, facts=facts))
        for ordinal in range(draw(st.integers(0, 3))):
            entries.append(
                AssignCandidate(
                    id=f"{number}-{ordinal}",
                    path=path,
                    ordinal=ordinal,
                    lines=LineSpan(1, 1) if draw(st.booleans()) else None,
                    text_key=draw(KEYS).format(number),
                    track=draw(TRACKS),
                    page_hint=draw(HINTS),
                )
            )
    return sources, entries


def shape_of(assignment: Assignment, names: dict[str, str]) -> tuple[object, ...]:
    pages = [
        (page.track, page.folded_name, page.name, [names.get(entry_id, entry_id) for entry_id in page.entry_ids])
        for page in assignment.pages
    ]
    return pages, {names.get(entry_id, entry_id) for entry_id in assignment.hidden}


@settings(max_examples=60)
@given(workspaces(), st.data())
def test_neither_order_nor_ids_decide(workspace: Workspace, data: st.DataObject) -> None:
    sources, entries = workspace
    renamed = [replace(entry, id=f"z{number:03}") for number, entry in enumerate(reversed(entries))]
    back = {new.id: old.id for new, old in zip(renamed, reversed(entries), strict=True)}
    shuffled = assign(data.draw(st.permutations(sources)), data.draw(st.permutations(renamed)))
    assert shape_of(shuffled, back) == shape_of(assign(sources, entries), {})


@settings(max_examples=60)
@given(workspaces())
def test_every_entry_is_hidden_or_on_exactly_one_page(workspace: Workspace) -> None:
    sources, entries = workspace
    result = assign(sources, entries)
    on_pages = [entry_id for page in result.pages for entry_id in page.entry_ids]
    assert sorted([*on_pages, *result.hidden]) == sorted(entry.id for entry in entries)
    tracks = {entry.id: entry.track for entry in entries}
    assert all(tracks[entry_id] is page.track for page in result.pages for entry_id in page.entry_ids)


@settings(max_examples=60)
@given(workspaces())
def test_page_names_never_collide_and_are_never_empty(workspace: Workspace) -> None:
    """F24."""
    pages = assign(*workspace).pages
    assert len({(page.track, page.folded_name) for page in pages}) == len(pages)
    assert all(page.name.strip() and page.folded_name == fold_name(page.name) and page.entry_ids for page in pages)


@settings(max_examples=40)
@given(workspaces())
def test_equal_statements_are_on_one_page(workspace: Workspace) -> None:
    sources, entries = workspace
    pages = {entry_id: page for page in assign(sources, entries).pages for entry_id in page.entry_ids}
    for key in ("same", "other"):
        found = {
            pages[entry.id].folded_name
            for entry in entries
            if entry.text_key == key and entry.track is Track.MEMORY and entry.id in pages
        }
        assert len(found) <= 1


@settings(max_examples=40)
@given(workspaces(), st.data())
def test_a_source_that_says_nothing_decides_nothing(workspace: Workspace, data: st.DataObject) -> None:
    """P3: taking back what was added brings back what was there; a file without entries has no say."""
    sources, entries = workspace
    said = {entry.path for entry in entries}
    speaking = [source for source in sources if source.path in said or source.kind is not Kind.CHAT]
    assert assign(speaking, entries) == assign(sources, entries)
