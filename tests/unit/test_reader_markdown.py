"""Markdown: what a note says, with its lines."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.ingest.readers.markdown import MarkdownReader
from memu.records import Kind, LineSpan

DATA = Path(__file__).parents[1] / "data" / "documents"


def read(text: str, path: str = "note.md") -> Document:
    return MarkdownReader().read(Source(path=path, text=text))


def only(document: Document, kind: BlockKind) -> list[Block]:
    return [block for block in document.blocks if block.kind is kind]


def test_a_real_decision_keeps_headings_lines_and_date() -> None:
    path = DATA / "0018-use-rds-instead-of-provisioned-ec2-databases.md"
    source = Source(path="docs/adr/" + path.name, text=path.read_text("utf-8"))
    assert find_reader(source).name == "markdown"
    document = find_reader(source).read(source)
    assert document.kind is Kind.DOCUMENT
    assert document.title == "18. Use RDS instead of provisioned EC2 databases"
    assert document.titled
    assert document.happened_at == datetime(2017, 8, 1, tzinfo=UTC)
    decision = next(block for block in document.blocks if block.text.startswith("We are going to use RDS"))
    assert decision.heading == ("Decision",)
    assert decision.lines == LineSpan(34, 35)
    assert decision.text.endswith("managed both PostgreSQL and MySQL.")
    bullets = only(document, BlockKind.BULLET)
    assert bullets[0].text == "Server configuration and tuning"
    assert bullets[0].lines == LineSpan(16, 16)


def test_steps_own_their_fences() -> None:
    text = (DATA / "db-admin-database-restore-process.md").read_text("utf-8")
    document = read(text)
    steps = only(document, BlockKind.STEP)
    fences = only(document, BlockKind.FENCE)
    assert len(steps) == 8
    assert len(fences) == 5
    for fence in fences:
        assert fence.parent
        assert any(step.text.startswith(fence.parent) for step in steps)


def test_chinese_text_keeps_its_order() -> None:
    document = read((DATA / "crontab.md").read_text("utf-8"), "command/crontab.md")
    assert document.title == "crontab"
    assert document.blocks[1].text == "提交和管理用户的需要周期性执行的任务"


@pytest.mark.parametrize(
    ("header", "tags", "category"),
    [
        ("tags: [deploy, ops]", ("deploy", "ops"), None),
        ("tags: deploy, ops", ("deploy", "ops"), None),
        ("tags:\n  - deploy\n  - 2026", ("deploy", "2026"), None),
        ('tags: "#deploy #ops"', ("deploy", "ops"), None),
        ("category: Infra", (), "Infra"),
        ("categories: [Infra, Net]\ntag: x", ("x", "Net"), "Infra"),
        ("Tags: []\ncategory:", (), None),
    ],
)
def test_front_matter_tags_and_category(header: str, tags: tuple[str, ...], category: str | None) -> None:
    document = read(f"---\ntitle: A note\n{header}\n---\n\nBody #inline here.\n")
    assert (document.title, document.titled) == ("A note", True)
    assert document.tags == tags
    assert document.category == category
    assert document.damage == ()


@pytest.mark.parametrize("key", ["date", "created"])
@pytest.mark.parametrize("value", ["2026-11-30", "2026-11-30T00:00:00Z", "30 November 2026", "2026/11/30"])
def test_front_matter_dates(key: str, value: str) -> None:
    assert read(f"---\n{key}: {value}\n---\nText\n").happened_at == datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize("value", ["2026-13-45", "soon", "[1, 2]", "99999999999999999999"])
def test_a_date_that_is_none_is_left_out(value: str) -> None:
    assert read(f"---\ndate: {value}\n---\nText\n").happened_at is None


@pytest.mark.parametrize(
    "header",
    [
        "title: [unclosed",
        "just words",
        "a: &a [x]\nb: *a",
        "- a\n- b",
        "{" * 2000,
        "a: !!python/object/apply:os.system [ls]\n  b",
    ],
)
def test_bad_front_matter_is_counted_and_its_text_kept(header: str) -> None:
    document = read(f"---\n{header}\n---\n\n# Title\n")
    assert document.damage == (("bad_front_matter", 1),)
    assert document.title == "Title"
    kept = only(document, BlockKind.DATA)[0]
    assert kept.lines is not None
    assert kept.lines.start == 2
    assert kept.text.split() == header.split()


def test_a_yaml_bomb_is_not_expanded() -> None:
    """F40: what a header could grow to never matters."""
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 30))
    document = read(f"---\nl0: &l0 x\n{levels}\n---\nBody\n")
    assert dict(document.damage) == {"bad_front_matter": 1}


def test_nested_lists_know_parent_and_depth() -> None:
    document = read("- one\n  more\n  - two\n    1. three\n- four\n\n  later paragraph\n")
    found = [(block.kind.value, block.text, block.depth, block.parent) for block in document.blocks]
    assert found == [
        ("bullet", "one more", 0, None),
        ("bullet", "two", 1, "one more"),
        ("step", "three", 2, "two"),
        ("bullet", "four", 0, None),
        ("paragraph", "later paragraph", 0, "four"),
    ]
    assert document.blocks[0].lines == LineSpan(1, 2)


@pytest.mark.parametrize(
    "code", ['docker ps --format "{{.Names}}"', '{"a": [1, 2],\n  "b": "<x>"}', "  two\n\n\tthree", "# no heading"]
)
@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_f28_fences_are_verbatim(code: str, fence: str) -> None:
    """F28: a fence keeps every character, its language and its lines."""
    block = only(read(f"Do:\n\n{fence}Shell extra\n{code}\n{fence}\n"), BlockKind.FENCE)[0]
    assert block.text == code
    assert block.language == "shell"
    assert block.lines == LineSpan(4, 4 + code.count("\n"))


def test_tables_are_rows_under_their_header() -> None:
    rows = only(read("| a | b |\n|---|---|\n| 1 | *x* |\n"), BlockKind.TABLE)
    assert [(row.text, row.parent, row.depth) for row in rows] == [
        ("| a | b |", None, 0),
        ("| 1 | *x* |", "| a | b |", 1),
    ]
    assert rows[1].lines == LineSpan(3, 3)


def test_comments_are_dropped_and_html_is_undone() -> None:
    document = read("<!-- hidden\nsecret -->\n\n<p>shown &amp; <b>bold</b></p>\n\ntext <!-- tail -->\n")
    assert [(block.text, block.lines) for block in document.blocks] == [
        ("shown & bold", LineSpan(4, 4)),
        ("text", LineSpan(6, 6)),
    ]


def test_quotes_headings_and_links() -> None:
    document = read(
        "# T\n\n## A\n\n### B\n\n> said\n> twice\n\n## C\n\nSee [[Other Page|it]], [x](../y%20z.md#s) and "
        "[web](https://e.org).\n\n[ref]: https://example.org\n"
    )
    quote = only(document, BlockKind.QUOTE)[0]
    assert (quote.text, quote.heading, quote.lines) == ("said twice", ("A", "B"), LineSpan(7, 8))
    assert document.links == ("Other Page", "../y z.md")
    assert [(block.text, block.depth) for block in only(document, BlockKind.HEADING)] == [
        ("T", 1),
        ("A", 2),
        ("B", 3),
        ("C", 2),
    ]
    assert only(document, BlockKind.PARAGRAPH)[0].heading == ("C",)
    assert only(document, BlockKind.DATA)[0].text == "[ref]: https://example.org"


@pytest.mark.parametrize(
    ("text", "title", "titled"),
    [
        ("# One\n\n# Two\n", "One", True),
        ("intro\n\nSetext\n======\n", "Setext", True),
        ("## Only second\n\ntext", "Only second", True),
        ("## A\n\n## B\n", "my note", False),
        ("words", "my note", False),
        ("", "my note", False),
        ("---\nname: Skill name\n---\n# H", "Skill name", True),
    ],
)
def test_titles(text: str, title: str, titled: bool) -> None:
    document = read(text, "dir/my-note.md")
    assert (document.title, document.titled) == (title, titled)


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "sub/CLAUDE.md",
        "GEMINI.md",
        ".cursorrules",
        ".windsurfrules",
        ".github/copilot-instructions.md",
        ".cursor/rules/style.mdc",
        "skills/x/SKILL.md",
    ],
)
def test_rule_files(path: str) -> None:
    source = Source(path=path, text="Always run tests.\n")
    document = find_reader(source).read(source)
    assert document.kind is Kind.RULES
    assert document.blocks[0].text == "Always run tests."


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# Weekly sync\n\n## Attendees\n\n- A\n\n## Action items\n\n- do\n", Kind.MEETING),
        ("# 周会\n\n## 与会人员\n\n- 李明\n\n## 待办事项\n\n- x\n", Kind.MEETING),
        ("# Standup 3 May\n\nAttendees: A, B\n\nWe agreed.\n", Kind.MEETING),
        ("# 5. Use X\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use X.\n", Kind.DOCUMENT),
        ("# Meeting room guide\n\nText\n", Kind.DOCUMENT),
        ("# Plan\n\n## Agenda for research\n\n## Actions\n", Kind.DOCUMENT),
    ],
)
def test_minutes_are_meetings_by_content(text: str, kind: Kind) -> None:
    assert read(text).kind is kind


@pytest.mark.parametrize(
    ("path", "moment"),
    [
        ("log/2026-11-30.md", datetime(2026, 11, 30, tzinfo=UTC)),
        ("20261130_standup.md", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026/11/30/x.md", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2025-01-01/2026_11_30.md", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-02-31.md", None),
        ("v1.20.3.md", None),
        ("1234567890.md", None),
    ],
)
def test_dates_from_paths(path: str, moment: datetime | None) -> None:
    assert read("text", path).happened_at == moment


def test_too_deep_nesting_is_read_as_text() -> None:
    text = "\n".join("  " * depth + "- level" for depth in range(200))
    document = read(text)
    assert dict(document.damage) == {"too_deep": 1}
    assert sum(block.text.count("level") for block in document.blocks) == 200


@pytest.mark.parametrize(
    "space", ["\xa0", "\u3000", "\u2003 ", "\u2028", "\x0b", "\x0c", "\x1f", "\x85"], ids=ascii
)
@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("{}\nDecision", 2),
        ("Before.\n\n{}\n{}\nDecision\n", 5),
        ("{}\nDecision\n========\n", 2),
        ("- {}\n  Decision\n", 2),
        ("> {}\n> Decision\n", 2),
    ],
)
def test_p4_a_paragraph_behind_lines_of_odd_spaces_stands_on_its_own_line(
    source: str, line: int, space: str
) -> None:
    [found] = [block for block in read(source.replace("{}", space)).blocks if "Decision" in block.text]
    assert found.lines == LineSpan(line, line)
