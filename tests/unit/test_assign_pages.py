"""Where statements stand: P3, P4 and the order of names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.assign.assignment import assign
from memu.memorize.assign.naming import GENERAL
from memu.memorize.assign.records import AssignCandidate, AssignedPage, Assignment, AssignSource
from memu.memorize.assign.stop_phrases import is_stop_phrase
from memu.memorize.facts import facts_of
from memu.records import Kind, LineSpan, Track

DATA = Path(__file__).parent.parent / "data" / "assign"


def make_source(
    path: str,
    title: str | None = None,
    *,
    kind: Kind = Kind.DOCUMENT,
    content: str | None = None,
    heading: str | None = None,
    **more: Any,
) -> AssignSource:
    shown = title if title is not None else PurePosixPath(path).stem.replace("_", " ")
    blocks = (Block(kind=BlockKind.HEADING, text=heading, lines=LineSpan(1, 1), depth=1),) if heading else ()
    document = Document(kind=kind, title=shown, titled=title is not None, blocks=blocks, **more)
    return AssignSource(
        path=path, kind=kind, title=shown, content_hash=content or path, facts=facts_of(document, path)
    )


def make_entry(path: str, text_key: str | None = None, ordinal: int = 0, **more: Any) -> AssignCandidate:
    return AssignCandidate(
        id=f"{path}#{ordinal}",
        path=path,
        ordinal=ordinal,
        lines=LineSpan(ordinal + 1, ordinal + 1),
        text_key=f"{path} {ordinal}" if text_key is None else text_key,
        **more,
    )


def name_pages(*sources: AssignSource) -> dict[str, str]:
    """The memory page of each source, each with one statement of its own."""
    return pages_of(assign(sources, [make_entry(source.path) for source in sources]))


def page_by_entry(assignment: Assignment) -> dict[str, AssignedPage]:
    return {entry_id: page for page in assignment.pages for entry_id in page.entry_ids}


def pages_of(assignment: Assignment) -> dict[str, str]:
    return {entry_id.rpartition("#")[0]: page.name for entry_id, page in page_by_entry(assignment).items()}


def test_front_matter_category_comes_before_tags_and_titles() -> None:
    pages = name_pages(
        make_source("x/a.md", "Postgres backups", category="Storage", tags=("db",)),
        make_source("x/b.md", "Postgres restore", tags=("#Databases", "db")),
        make_source("x/c.md", "Postgres tuning", category="notes", tags=("guide", "Speed")),
    )
    assert pages == {"x/a.md": "Storage", "x/b.md": "Databases", "x/c.md": "Speed"}


@pytest.mark.parametrize(
    ("titles", "paths", "name"),
    [
        ([f"Stand-up 2024-01-{day:02}" for day in range(1, 5)], "m/{}.md", "Stand-up"),
        ([f"{day} January 2024: Team sync" for day in range(1, 5)], "m/{}.md", "Team sync"),
        ([f"2024年1月{day}日 站会" for day in range(1, 5)], "m/{}.md", "站会"),
        ([None] * 4, "journal/2024-02-0{}.md", "journal"),
        ([None] * 4, "journal/2024/02/0{}.md", "journal"),
        ([None] * 4, "retro-2024-W1{}.md", "retro"),
        (["Stand-up"] * 4, "m/2024-01-0{}.md", "Stand-up"),
        ([f"Meeting notes 2024-01-{day:02}" for day in range(1, 5)], "{}.md", "Meeting notes"),
    ],
)
def test_four_files_of_one_title_and_other_dates_are_a_series(
    titles: list[str | None], paths: str, name: str
) -> None:
    sources = [make_source(paths.format(number), title) for number, title in enumerate(titles, start=1)]
    assert set(name_pages(*sources).values()) == {name}


def test_three_dated_files_or_four_numbered_ones_are_no_series() -> None:
    dated = [make_source(f"{day}.md", f"Notes 2024-01-{day:02}") for day in range(1, 4)]
    numbered = [make_source(f"session_{number}.json", kind=Kind.CHAT) for number in range(1, 6)]
    assert set(name_pages(*dated, *numbered).values()) == {"General"}


def test_a_chat_s_own_time_makes_a_series_and_a_date_in_a_document_does_not() -> None:
    when = datetime(2024, 1, 5, tzinfo=UTC)
    chats = [make_source(f"a{n}.json", "Ops room", kind=Kind.CHAT, happened_at=when) for n in range(4)]
    plans = [make_source(f"x/b{n}.md", "Budget", happened_at=when) for n in range(4)]
    pages = name_pages(*chats, *plans)
    assert set(pages.values()) == {"Ops room", "Budget"}
    facts = facts_of(
        Document(kind=Kind.DOCUMENT, title="Budget", titled=True, blocks=(), happened_at=when), "b.md"
    )
    assert (facts["date"], facts["dated"]) == ("2024-01-05", False)


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        # The longest shared phrase, then position.
        (["Blue lantern rollout", "Blue lantern budget", "Lantern colours"], ["Blue lantern"] * 2 + ["General"]),
        (["Redis on Puppet", "Redis cache", "Puppet master"], ["Redis", "Redis", "General"]),
        # Numbers in front, case and plurals do not tell phrases apart; the lowest spelling is shown.
        (["18. Use databases well", "ADR-007: Database backups"], ["Database", "Database"]),
        (["dns zones inside", "DNS for hosts"], ["DNS", "DNS"]),
        # Stop phrases name nothing.
        (["Decision process", "Decision guide"], ["General", "General"]),
        (["How to get started", "Getting started"], ["General", "General"]),
        (["Entscheidung: Ablauf", "Entscheidung: Anleitung"], ["General", "General"]),
        (["项目说明", "项目指南"], ["General", "General"]),
        # Scripts without spaces: two characters at least, and no joining word at the end.
        (["数据库的备份", "数据库的迁移"], ["数据库", "数据库"]),
        (["网络", "网站"], ["General", "General"]),
        (["Sauvegarde de la base", "Restaurer la base"], ["base", "base"]),
        (["Use Redis", "Use Kafka"], ["General", "General"]),
        (["`Terraform` modules", "Re: [Terraform](x.md) state"], ["Terraform", "Terraform"]),
    ],
)
def test_titles_that_share_a_phrase_share_its_page(titles: list[str], expected: list[str]) -> None:
    sources = [make_source(f"{number}.md", title) for number, title in enumerate(titles)]
    pages = name_pages(*sources)
    assert [pages[source.path] for source in sources] == expected


def test_a_first_heading_counts_as_a_title() -> None:
    pages = name_pages(
        make_source("a.md", "Monday", heading="Billing retries"), make_source("b.md", "Billing outage")
    )
    assert set(pages.values()) == {"Billing"}


def test_a_title_joins_the_page_that_a_tag_named() -> None:
    pages = name_pages(make_source("a.md", "Whatever", tags=("Payments",)), make_source("b.md", "Payment retries"))
    assert pages["b.md"] in {"Payment", "Payments"}
    assert name_pages(make_source("a.md", "What", tags=("Payments",)), make_source("b.md", "Payments 2")) == {
        "a.md": "Payments",
        "b.md": "Payments",
    }


def test_a_phrase_that_most_titles_share_comes_after_the_folder() -> None:
    billing = [make_source(f"billing/{n}.md", f"Acme {word}") for n, word in enumerate("abcd")]
    loose = [make_source(f"{n}.md", f"Acme {word}") for n, word in enumerate("efgh")]
    pages = name_pages(*billing, *loose)
    assert {pages[source.path] for source in billing} == {"billing"}
    assert {pages[source.path] for source in loose} == {"Acme"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("payments/a.md", "payments"),
        ("payments/docs/notes/2024/03/a.md", "payments"),
        ("docs/architecture/decisions/a.md", "General"),
        (".github/workflows/a.md", "workflows"),
        ("01-databases/a.md", "databases"),
        ("文档/数据库/a.md", "数据库"),
        ("a.md", "General"),
        ("work/a.md", "work"),
        ("it/notes/a.md", "it"),
        ("a/README.md", "a"),
    ],
)
def test_the_nearest_telling_folder_names_the_rest(path: str, name: str) -> None:
    assert name_pages(make_source(path, "Something")) == {path: name}


@pytest.mark.parametrize("kind", [Kind.CHAT, Kind.SESSION, Kind.LOG, Kind.TABLE, Kind.CODE])
def test_mere_file_names_of_programs_share_no_phrase(kind: Kind) -> None:
    sources = [make_source(f"{number}_blue_export.json", kind=kind) for number in range(3)]
    assert set(name_pages(*sources).values()) == {"General"}


def test_copies_of_one_file_make_no_shared_phrase() -> None:
    sources = [make_source(f"{name}.md", "Odd one out", content="same") for name in ("a", "b")]
    assert set(name_pages(*sources).values()) == {"General"}


def test_equal_statements_stand_together_with_the_first() -> None:
    """P4: one block cites all of its sources."""
    sources = [make_source("a/x.md", "X"), make_source("b/y.md", "Y")]
    entries = [make_entry("b/y.md", "same"), make_entry("a/x.md", "same", 5), make_entry("b/y.md", "own", 1)]
    pages = page_by_entry(assign(sources, entries))
    assert pages["b/y.md#0"] is pages["a/x.md#5"]
    assert pages["a/x.md#5"].name == "a"
    assert pages["b/y.md#1"].name == "b"


def test_statements_without_any_letter_are_never_joined() -> None:
    sources = [make_source("a/x.md", "X"), make_source("b/y.md", "Y")]
    pages = page_by_entry(assign(sources, [make_entry("a/x.md", ""), make_entry("b/y.md", "")]))
    assert {entry_id: page.name for entry_id, page in pages.items()} == {"a/x.md#0": "a", "b/y.md#0": "b"}


@pytest.mark.parametrize(
    ("kind", "holders", "others", "hidden"),
    [
        (Kind.DOCUMENT, 4, 0, True),
        (Kind.DOCUMENT, 3, 0, False),
        (Kind.DOCUMENT, 4, 36, True),
        (Kind.DOCUMENT, 4, 37, False),
        (Kind.MEETING, 4, 0, True),
        (Kind.CHAT, 9, 0, False),
        (Kind.RULES, 9, 0, False),
    ],
)
def test_boilerplate_is_counted_by_kind(kind: Kind, holders: int, others: int, hidden: bool) -> None:
    sources = [make_source(f"x/{number}.md", f"T{number}", kind=kind) for number in range(holders + others)]
    entries = [make_entry(source.path, "standing remark") for source in sources[:holders]]
    assert assign(sources, entries).hidden == (frozenset(entry.id for entry in entries) if hidden else frozenset())


def test_copies_make_nothing_boilerplate_and_a_shared_step_stays() -> None:
    copies = [make_source(f"{number}.md", "T", content="one") for number in range(5)]
    assert not assign(copies, [make_entry(source.path, "remark") for source in copies]).hidden
    sources = [make_source(f"{number}.md", "T") for number in range(5)]
    steps = [make_entry(source.path, "apply it", track=Track.SKILL, page_hint="Deploy") for source in sources]
    assert not assign(sources, steps).hidden


@pytest.mark.parametrize(
    ("hint", "path", "title", "name"),
    [
        ("Deploy the app", "a.md", "Ops", "Deploy the app"),
        ("3. Deploy the app:", "a.md", "Ops", "Deploy the app"),
        (None, "a.md", "Restore a database", "Restore a database"),
        ("Usage", "a.md", "AMI Lookups", "AMI Lookups: Usage"),
        ("Steps", "tools/README.md", "README", "tools: Steps"),
        ("安装", "a.md", "docker", "docker: 安装"),
        ("Usage", "a.md", "Guide", "Usage"),
    ],
)
def test_procedures_are_named_by_heading_and_told_apart(
    hint: str | None, path: str, title: str, name: str
) -> None:
    entry = make_entry(path, track=Track.SKILL, page_hint=hint)
    assert pages_of(assign([make_source(path, title)], [entry])) == {path: name}


def test_procedures_of_one_folded_name_share_a_page_apart_from_memory() -> None:
    """F24."""
    sources = [make_source("a.md", "A"), make_source("b.md", "B")]
    entries = [
        make_entry("a.md", track=Track.SKILL, page_hint="deploy"),
        make_entry("b.md", track=Track.SKILL, page_hint="Deploy"),
        make_entry("b.md", ordinal=1, page_hint="Deploy"),
    ]
    pages = assign(sources, entries).pages
    assert [(page.track, page.name, len(page.entry_ids)) for page in pages] == [
        (Track.MEMORY, "Deploy", 1),
        (Track.SKILL, "Deploy", 2),
    ]


def test_what_the_extractor_names_comes_first_on_the_memory_track() -> None:
    source = make_source("x/a.md", "T", category="Other things")
    assert pages_of(assign([source], [make_entry("x/a.md", page_hint="Preferences")])) == {"x/a.md": "Preferences"}


def test_real_decision_records_give_pages_that_a_person_would_choose() -> None:
    rows: Sequence[dict[str, Any]] = json.loads((DATA / "decision_titles.json").read_text(encoding="utf-8"))
    sources = [make_source(row["path"], row["title"] if row["titled"] else None) for row in rows]
    entries = [make_entry(row["path"], ordinal=n) for row in rows for n in range(row["statements"])]
    pages = assign(sources, entries).pages
    assert 5 <= len(pages) <= 15
    assert max(len(page.entry_ids) for page in pages) * 2 <= len(entries)
    assert not [page.name for page in pages if page.name != "General" and is_stop_phrase(page.name)]
    assert {"DNS", "Puppet", "RDS", "Terraform"} <= {page.name for page in pages}
    sizes = Counter(
        {page.name: len({entry_id.rpartition("#")[0] for entry_id in page.entry_ids}) for page in pages}
    )
    assert min(sizes.values()) >= 2


MARKS = ("[redacted:github-token]", "[redacted:password]", "[forgotten]")


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    "form", ["{mark}", "Key {mark}", "{mark} key", "**{mark}**", "[{mark}](https://a.example)"]
)
def test_marks_are_no_words_of_a_name(mark: str, form: str) -> None:
    """What stands for something taken out names no page: in titles, headings, tags, categories and hints."""
    title = form.format(mark=mark)
    words = ("redacted", "github", "token", "password", "forgotten")
    for more in ({}, {"heading": title}, {"tags": (title,)}, {"category": title}):
        sources = [make_source(f"{name}.md", title, **more) for name in ("one", "two", "three", "four")]
        names = set(name_pages(*sources).values())
        assert not any(word in name.casefold() for name in names for word in words), names
    dated = [make_source(f"{day}.md", f"2024-03-0{day} {title}") for day in range(1, 6)]
    assert not any(word in name.casefold() for name in name_pages(*dated).values() for word in words)
    skill = make_entry("one.md", track=Track.SKILL, page_hint=title)
    (page,) = assign([make_source("one.md", title)], [skill]).pages
    assert page.name in ("Key", "key", GENERAL)
    hinted = make_entry("one.md", page_hint=title)
    assert not any(word in page.name for page in assign([make_source("one.md")], [hinted]).pages for word in words)


def test_a_title_of_several_that_share_more_than_a_mark_still_names_their_page() -> None:
    names = name_pages(
        make_source("a.md", "Harbour key [redacted:github-token]"),
        make_source("b.md", "Harbour key [redacted:password] of 2024"),
    )
    assert set(names.values()) == {"Harbour key"}
