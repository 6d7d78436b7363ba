"""A page rendered from its entries: what it looks like, and what it depends on (P3, P4, F26, F28)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from memu.memorize.fold.render import PageEntry, Rendered, render_page
from memu.records import Kind, LineSpan, MemoryType, RecallEntry, Resource, Track


def make_entry(text: str, path: str = "a.md", ordinal: int = 0, **more: Any) -> PageEntry:
    values: dict[str, Any] = {
        "id": f"{path}#{ordinal}",
        "workspace": "w",
        "path": path,
        "title": path.removesuffix(".md").upper(),
        "ordinal": ordinal,
        "line": ordinal + 1,
        "text": text,
        "text_key": text.casefold(),
    }
    return PageEntry(**{**values, **more})


def plain(page: Rendered) -> str:
    """The content with every mark shown as the number of its first use."""
    seen: dict[str, int] = {}
    return re.sub(
        r"\[\^([a-z2-7]+)\]", lambda found: f"[^{seen.setdefault(found[1], len(seen) + 1)}]", page.content
    )


def test_a_memory_page_has_a_section_for_each_source() -> None:
    page = render_page(
        Track.MEMORY,
        [
            make_entry("Two.", "b.md", label="Decision"),
            make_entry("One.", "a.md"),
            make_entry("Three.", "b.md", 1, block="quote", label="Ann"),
            make_entry("Four.", "b.md", 2, block="paragraph"),
        ],
    )
    assert plain(page) == (
        "## A\n\n- One. [^1]\n\n## B\n\n- **Decision** — Two. [^2]\n\n> **Ann** — Three. [^3]\n\nFour. [^4]\n"
    )
    assert page.description == "4 statements from 2 sources: A; B"


def test_a_skill_page_keeps_steps_and_fences_in_order() -> None:
    """F28."""
    page = render_page(
        Track.SKILL,
        [
            make_entry("Build it.", block="step"),
            make_entry("docker ps --format '{{.Names}}'\n\n```\n", ordinal=1, block="fence", label="Check"),
            make_entry("Push it\nto the registry.", ordinal=2, block="step"),
            make_entry("Build it.", "b.md", block="step"),
        ],
    )
    assert plain(page) == (
        "## A\n\n1. Build it. [^1]\n\n**Check**\n\n````\ndocker ps --format '{{.Names}}'\n\n```\n````\n[^2]\n\n"
        "1. Push it\n   to the registry. [^3]\n\n## B\n\n1. Build it. [^1]\n"
    )
    assert page.description == "How to, 3 steps from 2 sources: A; B"


def test_numbering_goes_on_across_a_fence_and_starts_over_in_a_new_part() -> None:
    entries = [
        make_entry("a", block="step"),
        make_entry("x", ordinal=1, block="fence"),
        make_entry("b", ordinal=2, block="step"),
        make_entry("c", ordinal=3, block="step", section="Undo"),
    ]
    assert plain(render_page(Track.SKILL, entries)) == (
        "## A\n\n1. a [^1]\n\n```\nx\n```\n[^2]\n\n2. b [^3]\n\n### Undo\n\n1. c [^4]\n"
    )


@pytest.mark.parametrize(
    ("blocks", "shown"),
    [
        # The source's own numbers, wherever its lists begin.
        (["step:10", "step:11"], "10. a [^1]\n11. b [^2]"),
        (["step:1", "paragraph", "step:1"], "1. a [^1]\n\nb [^2]\n\n1. c [^3]"),
        (["step:1", "step:2", "step:1"], "1. a [^1]\n2. b [^2]\n\n1) c [^3]"),
        (["step:1", "step:3", "step:7"], "1. a [^1]\n\n3) b [^2]\n\n7. c [^3]"),
        # Nested steps stand under their parent, as far in as its number is wide.
        (["step:1", "step:1:1", "step:2:1", "step:2"], "1. a [^1]\n   1. b [^2]\n   2. c [^3]\n2. d [^4]"),
        (["step:10", "bullet:1", "bullet:1", "step:11"], "10. a [^1]\n    - b [^2]\n    - c [^3]\n11. d [^4]"),
        (["step:1", "step:4:1", "step:2"], "1. a [^1]\n\n   4. b [^2]\n2. c [^3]"),
        # Where the parent is not right above, they stand flat, and the outer list is another one.
        (["step:1:1", "step:2"], "1. a [^1]\n\n2) b [^2]"),
        (["fence:sh", "step:2"], "```sh\na\n```\n[^1]\n\n2. b [^2]"),
        # Sources that give no number are counted.
        (["step", "step::1", "step"], "1. a [^1]\n\n   2. b [^2]\n\n3) c [^3]"),
    ],
)
def test_steps_and_fences_stand_as_in_their_source(blocks: list[str], shown: str) -> None:
    """F28."""
    entries = [make_entry("abcd"[at], ordinal=at, block=block) for at, block in enumerate(blocks)]
    assert plain(render_page(Track.SKILL, entries)) == f"## A\n\n{shown}\n"


@pytest.mark.parametrize(
    ("blocks", "head"),
    [
        (["step:1", "step:2", "fence:sh", "paragraph"], "How to, 2 steps from 1 source: A"),
        (["fence:sh", "fence"], "How to: 2 commands from 1 source: A"),
        (["fence:sh", "paragraph", "bullet"], "How to: 1 command and 2 notes from 1 source: A"),
        (["paragraph"], "How to: 1 note from 1 source: A"),
    ],
)
def test_a_skill_is_described_by_its_steps(blocks: list[str], head: str) -> None:
    entries = [make_entry("abcd"[at], ordinal=at, block=block) for at, block in enumerate(blocks)]
    assert render_page(Track.SKILL, entries).description == head


def test_what_two_sources_say_alike_is_one_block_that_cites_both() -> None:
    """P4."""
    entries = [make_entry("Same.", "b.md"), make_entry("same.", "a.md"), make_entry("Own.", "b.md", 1)]
    page = render_page(Track.MEMORY, entries)
    assert plain(page) == "## A\n\n- same. [^1]\n\n## B\n\n- Own. [^2]\n"
    assert page.marks["a.md#0"] == page.marks["b.md#0"] != page.marks["b.md#1"]
    assert page.description == "2 statements from 2 sources: A; B"


def test_two_sources_with_the_very_same_procedure_share_a_section() -> None:
    same = [
        make_entry(text, path, number, block="step")
        for path in ("a.md", "b.md")
        for number, text in enumerate("xy")
    ]
    other = [make_entry(text, "c.md", number, block="step") for number, text in enumerate("xyz")]
    page = render_page(Track.SKILL, [*other, *same])
    assert plain(page) == "## A\n\n1. x [^1]\n2. y [^2]\n\n## C\n\n1. x [^1]\n2. y [^2]\n3. z [^3]\n"
    assert page.marks["a.md#0"] == page.marks["b.md#0"] == page.marks["c.md#0"]


@pytest.mark.parametrize(("kind", "shown"), [(Kind.SESSION, ["x", "y"]), (Kind.DOCUMENT, ["x", "y", "x"])])
def test_what_a_person_said_twice_in_a_session_is_shown_once_and_a_procedure_whole(
    kind: Kind, shown: list[str]
) -> None:
    page = render_page(Track.SKILL, [make_entry(text, ordinal=at, kind=kind) for at, text in enumerate("xyx")])
    assert re.findall(r"^- (\w)", page.content, re.MULTILINE) == shown
    assert len(page.marks) == 3


def test_f26_sources_of_one_title_are_told_apart_by_path() -> None:
    entries = [
        make_entry("One.", "a/README.md", title="Readme"),
        make_entry("Two.", "b/README.md", title="README"),
        make_entry("Three.", "c.md", title="Other"),
    ]
    headings = re.findall(r"^## (.*)$", render_page(Track.MEMORY, entries).content, re.MULTILINE)
    assert headings == ["Readme (a/README.md)", "README (b/README.md)", "Other"]


def test_workspaces_come_in_order_and_are_never_named() -> None:
    entries = [
        make_entry("Two.", "a.md", workspace="/home/z", id="2"),
        make_entry("One.", "a.md", workspace="/home/y", id="1"),
    ]
    assert (
        plain(render_page(Track.MEMORY, entries))
        == "## A (a.md) (1)\n\n- One. [^1]\n\n## A (a.md) (2)\n\n- Two. [^2]\n"
    )


def test_a_dated_series_is_told_by_date() -> None:
    def day(path: str, date: str, title: str = "Stand-up") -> PageEntry:
        return make_entry(f"On {date}.", path, title=title, series="stand-up", date=date)

    entries = [
        day("a.md", "2024-03-01"),
        day("b.md", "2024-01-05", "Stand-up 2024-01-05"),
        day("c.md", "2024-02"),
        make_entry("Else.", "d.md"),
    ]
    headings = re.findall(r"^## (.*)$", render_page(Track.MEMORY, entries).content, re.MULTILINE)
    assert headings == ["D", "Stand-up 2024-01-05", "2024-02 — Stand-up", "2024-03-01 — Stand-up"]


def test_without_entries_everything_is_empty() -> None:
    assert render_page(Track.MEMORY, []) == Rendered(content="", marks={}, description="")


def test_statements_without_letters_stay_apart() -> None:
    page = render_page(Track.MEMORY, [make_entry("!!", text_key=""), make_entry("??", ordinal=1, text_key="")])
    assert plain(page) == "## A\n\n- !! [^1]\n- ?? [^2]\n"


@pytest.mark.parametrize("count", [1, 3, 200])
def test_descriptions_are_bounded(count: int) -> None:
    entries = [make_entry(f"S{n}.", f"{n:03}.md", title=f"{n} {'long ' * 40}") for n in range(count)]
    description = render_page(Track.MEMORY, entries).description
    assert len(description) < 260
    assert description.startswith(f"{count} statement{'s' if count > 1 else ''} from {count} source")
    assert count < 200 or description.endswith("more")


@pytest.mark.parametrize("title", ["# a #", "[x](y.md)", "a\nb", "`a`", "C#", "*x*", "", "<b>", "1. a"])
def test_a_title_is_always_one_heading(title: str) -> None:
    content = render_page(Track.MEMORY, [make_entry("One.", title=title)]).content
    first, _, rest = content.partition("\n\n")
    assert first.startswith("## ")
    assert "\n" not in first
    assert len(first) > 3
    assert rest.startswith("- One.")


def test_a_page_entry_is_a_view_of_the_rows() -> None:
    resource = Resource(
        id="r",
        workspace_id="w",
        path="m/2024-01-05.md",
        kind=Kind.MEETING,
        title="Stand-up",
        facts={"titled": True, "date": "2024-01-05", "dated": True, "series_title": "Stand-up", "series_stem": ""},
    )
    entry = RecallEntry(
        id="e",
        resource_id="r",
        ordinal=2,
        memory_type=MemoryType.DECISION,
        track=Track.MEMORY,
        text="We go.",
        text_key="we go",
        lines=LineSpan(7, 8),
        label="Ann",
    )
    made = PageEntry.of(entry, resource, "home")
    expected: Sequence[object] = ("e", "home", "m/2024-01-05.md", 7, 2, "Ann", "stand up", "2024-01-05")
    assert (
        made.id, made.workspace, made.path, made.line, made.ordinal, made.label, made.series, made.date,
    ) == expected  # fmt: skip
