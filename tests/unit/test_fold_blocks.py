"""Blocks and marks of a page, and what is left when marks go (P4, F28)."""

from __future__ import annotations

import pytest

from memu.memorize.fold.blocks import drop_marks, parse_blocks
from memu.memorize.fold.inline import escape, escape_label, find_marks, unescape
from memu.memorize.fold.marks import marks_for


@pytest.mark.parametrize(
    ("content", "gone", "left"),
    [
        ("- a [^aaaaa]\n- b [^bbbbb]\n- c [^ccccc]\n", {"bbbbb"}, "- a [^aaaaa]\n- c [^ccccc]\n"),
        ("- a [^aaaaa] [^bbbbb]\n", {"aaaaa"}, "- a [^bbbbb]\n"),
        ("- a [^aaaaa] [^bbbbb]\n", {"bbbbb"}, "- a [^aaaaa]\n"),
        ("- a [^aaaaa] [^bbbbb]\n", {"aaaaa", "bbbbb"}, ""),
        # Headings go with the last block below them; those above a block stay.
        ("## A\n\n- a [^aaaaa]\n\n## B\n\n- b [^bbbbb]\n", {"aaaaa"}, "## B\n\n- b [^bbbbb]\n"),
        ("## A\n\n### C\n\nc [^ccccc]\n\n## B\n\nb [^bbbbb]\n", {"ccccc"}, "## B\n\nb [^bbbbb]\n"),
        ("## A\n\n### C\n\nc [^ccccc]\n\n### D\n\nd [^ddddd]\n", {"ddddd"}, "## A\n\n### C\n\nc [^ccccc]\n"),
        # A fence goes with its lead-in and its line of marks, and is never cut.
        (
            "Run:\n\n```sh\n# [^aaaaa]\n\nls\n```\n[^aaaaa]\n\nThen [^bbbbb]\n",
            {"bbbbb"},
            "Run:\n\n```sh\n# [^aaaaa]\n\nls\n```\n[^aaaaa]\n",
        ),
        ("Run:\n\n```sh\n# [^bbbbb]\n```\n[^aaaaa]\n\nThen [^bbbbb]\n", {"aaaaa"}, "Then [^bbbbb]\n"),
        ("```\nx\n```\n[^aaaaa] [^bbbbb]\n", {"aaaaa"}, "```\nx\n```\n[^bbbbb]\n"),
        ("~~~\n- a [^aaaaa]\n~~~\n[^bbbbb]\n\nc [^aaaaa]\n", {"aaaaa"}, "~~~\n- a [^aaaaa]\n~~~\n[^bbbbb]\n"),
        # Steps keep their numbers, for others may speak of them.
        (
            "1. a [^aaaaa]\n2. b [^bbbbb]\n\n```\nx\n```\n[^xxxxx]\n\n3. c [^ccccc]\n\n## B\n\n1. d [^ddddd]\n",
            {"aaaaa"},
            "2. b [^bbbbb]\n\n```\nx\n```\n[^xxxxx]\n\n3. c [^ccccc]\n\n## B\n\n1. d [^ddddd]\n",
        ),
        # What is nested in an item that goes moves up.
        ("- a [^aaaaa]\n  - b [^bbbbb]\n    - c [^ccccc]\n", {"bbbbb"}, "- a [^aaaaa]\n  - c [^ccccc]\n"),
        ("- a [^aaaaa]\n  - b [^bbbbb]\n- c [^ccccc]\n", {"aaaaa"}, "- b [^bbbbb]\n- c [^ccccc]\n"),
        ("- Deploys:\n  - a [^aaaaa]\n  - b [^bbbbb]\n", {"aaaaa"}, "- Deploys:\n  - b [^bbbbb]\n"),
        ("- Deploys:\n  - a [^aaaaa]\n\nb [^bbbbb]\n", {"aaaaa"}, "b [^bbbbb]\n"),
        (
            "1. a [^aaaaa]\n\n   ```\n   x\n   ```\n   [^bbbbb]\n2. c [^ccccc]\n",
            {"aaaaa"},
            "```\nx\n```\n[^bbbbb]\n\n2. c [^ccccc]\n",
        ),
        (
            "1. z [^zzzzz]\n2. a [^aaaaa]\n\n   ```\n   x\n   ```\n   [^bbbbb]\n3. c [^ccccc]\n",
            {"aaaaa"},
            "1. z [^zzzzz]\n\n```\nx\n```\n[^bbbbb]\n\n3. c [^ccccc]\n",
        ),
        # What only looks like a mark is none.
        ("a `[^aaaaa]` \\[^aaaaa] [^bbbbb]\n", {"aaaaa"}, "a `[^aaaaa]` \\[^aaaaa] [^bbbbb]\n"),
        ("a [^aaaaa]\nb [^bbbbb]\n", {"aaaaa"}, "a\nb [^bbbbb]\n"),
        ("> a [^aaaaa]\n\n> b [^bbbbb]\n", {"aaaaa"}, "> b [^bbbbb]\n"),
        ("| a | b |\n|---|---|\n| c | d |\n[^aaaaa]\n\nb [^bbbbb]\n", {"aaaaa"}, "b [^bbbbb]\n"),
        # A block that no entry backs does not outlive a cut.
        ("loose\n\na [^aaaaa]\n\nb [^bbbbb]\n", {"aaaaa"}, "b [^bbbbb]\n"),
        # Paragraphs that were parted by a block stay apart.
        ("a [^aaaaa]\n```\nx\n```\n[^xxxxx]\n\nb [^bbbbb]\n", {"xxxxx"}, "a [^aaaaa]\n\nb [^bbbbb]\n"),
    ],
)
def test_dropping_marks_is_work_on_whole_blocks(content: str, gone: set[str], left: str) -> None:
    """P4."""
    assert drop_marks(content, gone) == left


@pytest.mark.parametrize("content", ["", "loose\n", "- a [^aaaaa]\n\n\n\n- b\n", "```\n[^zzzzz]\n```\n[^aaaaa]\n"])
def test_without_such_a_mark_not_a_byte_changes(content: str) -> None:
    assert drop_marks(content, {"zzzzz"}) == content
    assert drop_marks(content, set()) == content


def test_blocks_know_their_headings_marks_and_words() -> None:
    content = (
        "## A\n\n### B\n\n- x\n  y [^aaaaa]\n  1. z [^bbbbb] [^ccccc]\n\nRun:\n\n````sh\n```\n````\n[^ddddd]\n"
    )
    blocks = parse_blocks(content)
    assert [(block.kind.value, block.text, block.marks, block.depth) for block in blocks] == [
        ("bullet", "x\ny", ("aaaaa",), 0),
        ("step", "z", ("bbbbb", "ccccc"), 1),
        ("fence", "```", ("ddddd",), 0),
    ]
    assert blocks[2].lead == "Run:"
    assert {block.headings for block in blocks} == {("A", "B")}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain **bold** `code_x` and _this_", "plain **bold** `code_x` and _this_"),
        ("# no heading", "\\# no heading"),
        ("- no bullet", "\\- no bullet"),
        ("12. no step", "12\\. no step"),
        ("> no quote", "\\> no quote"),
        ("a\n---", "a\n\\---"),
        ("a\n===", "a\n\\==="),
        ("| a | b |\n| --- | --- |", "\\| a | b |\n\\| --- | --- |"),
        ("a | b\n--- | ---", "a | b\n\\--- | ---"),
        ("a [^abcde]", "a \\[^abcde]"),
        ("[x]: https://e.org", "\\[x]: https://e.org"),
        ("see [x](../a.md)", "see [x](../a.md)"),
        ("see [x](https://e.org/a_b)", "see [x](https://e.org/a_b)"),
        ("![x](https://e.org/a.png)", "!\\[x](https://e.org/a.png)"),
        ("<b>x</b> a < b", "\\<b>x\\</b> a < b"),
        ("&amp; & &#35; R&D;", "\\&amp; & \\&#35; R&D;"),
        ("one ` tick", "one \\` tick"),
        ("``` three", "\\`\\`\\` three"),
        ("`a\n# b`", "`a # b`"),
        ("C:\\*.txt and \\d", "C:\\*.txt and \\d"),
        ("db\\_admin \\[^abcde] \\\\[x] \\<b>", "db\\_admin \\[^abcde] \\\\\\[x] \\<b>"),
        ("\\# a\n\\- b\n1\\. c\n\\`d`", "\\# a\n\\- b\n1\\. c\n\\`d\\`"),
        ("  indented\n\n\n    more  ", "indented\nmore"),
        ('{{.Names}} {"a": [1]}', '{{.Names}} {"a": \\[1]}'),
        ("2024. Then", "2024\\. Then"),
        ("1.5 GB", "1.5 GB"),
        ("-5 degrees", "-5 degrees"),
    ],
)
def test_a_quote_never_becomes_structure_and_keeps_its_words(text: str, escaped: str) -> None:
    """F28, P4."""
    assert escape(text) == escaped
    assert " ".join(unescape(escaped).split()) == " ".join(unescape(text).split())


def test_a_label_is_one_line_without_markup() -> None:
    assert escape_label("a *b*\n c_d _e_ [f]") == "a \\*b\\* c_d \\_e\\_ \\[f]"


def test_marks_are_found_where_they_are_marks() -> None:
    found = find_marks("`[^aaaaa]` \\[^bbbbb] [^ccccc] ``[^ddddd]`` ` [^eeeee] [^bad1]")
    assert [mark.mark for mark in found] == ["ccccc", "eeeee"]


def test_marks_grow_only_where_they_must() -> None:
    """Two of 40,000 keys are likely to share their first five characters; they alone get a sixth."""
    marks = marks_for(f"statement {number}" for number in range(40_000))
    assert len(set(marks.values())) == 40_000
    assert {len(mark) for mark in marks.values()} <= {5, 6, 7}
    long = [mark for mark in marks.values() if len(mark) > 5]
    assert 0 < len(long) < 4_000
    assert marks_for(["statement 1"])["statement 1"] == marks["statement 1"][:5]
