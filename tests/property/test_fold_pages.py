"""Rendered pages hold for any quote: blocks, marks, words and cuts (P3, P4, F28)."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memu.memorize.fold.blocks import drop_marks, parse_blocks
from memu.memorize.fold.inline import escape, find_marks, unescape
from memu.memorize.fold.marks import marks_for
from memu.memorize.fold.render import PageEntry, render_page
from memu.records import Track

ACTIVE = st.sampled_from(
    [
        "# ", "## a", "- ", "+ x", "* ", "1. ", "12) ", "> ", "| a | b |", "--- | ---", "|---|", "===", "---",
        "***", "`", "``", "```", "````", "~~~", "```sh\nls\n```", "[^abcde]", "[^k3f9a]", "`[^abcde]`",
        "[a](b.md)", "[a](https://x.org/y)", "![i](z.png)", "[foo]: /url", "<div>", "</b>", "<!-- c", "<?php",
        "&amp;", "&#35;", "\\", "\\[", "\\`", "\n", "\n\n", "\n    code", "\t", "  \n", "**", "_x_", "*", "$x$",
        "{{.Names}}", "\r\n", "\r", "[x] ", "\u00a0", "\u2028", "\x0c", "数据", "🚧", ":", "=", "\\\n",
    ]
)  # fmt: skip
QUOTES = (
    st.lists(ACTIVE | st.text(max_size=8), min_size=1, max_size=8).map("".join).filter(lambda text: text.strip())
)
FORMS = st.sampled_from(
    ["bullet", "paragraph", "step", "fence", "quote", "step:1", "step:2", "step:10", "step:1:1", "step:3:2",
     "step::1", "bullet:1", "bullet:2", "fence:sh"]
)  # fmt: skip
LABELS = st.sampled_from(["", "Decision", "a `b", "[^abcde]", "**x", "# y"])
PATHS = st.sampled_from(["a.md", "b/a.md", "c.txt"])


@st.composite
def page_entries(draw: st.DrawFn) -> list[PageEntry]:
    rows = draw(st.lists(st.tuples(PATHS, QUOTES, FORMS, LABELS), min_size=1, max_size=6))
    return [
        PageEntry(
            id=f"e{index}",
            workspace="w",
            path=path,
            title="Notes" if path != "c.txt" else "C [x](y)",
            ordinal=index,
            line=index,
            text=text,
            text_key=" ".join(re.findall(r"\w+", text.casefold())),
            label=label,
            block=form,
        )
        for index, (path, text, form, label) in enumerate(rows)
    ]


def flat(text: str) -> str:
    return " ".join(text.split())


@given(QUOTES)
def test_escaped_quote_gives_its_characters_back(text: str) -> None:
    """P4: a page shows the characters that the source shows; only backslashes were added."""
    assert flat(unescape(escape(text))) == flat(unescape(text))
    assert find_marks(escape(text)) == ()


@settings(max_examples=60)
@given(page_entries(), st.sampled_from(list(Track)))
def test_parsing_a_page_gives_the_blocks_it_was_rendered_from(entries: list[PageEntry], track: Track) -> None:
    """Round trip: the same forms, marks and words, in the same order, under the same headings."""
    page = render_page(track, entries)
    blocks = parse_blocks(page.content)
    expected = shown_entries(track, entries)
    assert [block.kind.value for block in blocks] == [entry.shape.form for entry in expected]
    assert [block.marks for block in blocks] == [(page.marks[entry.id],) for entry in expected]
    for block, entry in zip(blocks, expected, strict=True):
        words = flat(block.text if block.kind == "fence" else unescape(block.text))
        assert words.endswith(flat(entry.text if block.kind == "fence" else unescape(entry.text)))
        assert len(block.headings) == 1


@settings(max_examples=60)
@given(page_entries(), st.sampled_from(list(Track)))
def test_every_entry_is_cited_and_every_mark_resolves(entries: list[PageEntry], track: Track) -> None:
    """P4."""
    page = render_page(track, entries)
    assert page.marks.keys() == {entry.id for entry in entries}
    blocks = parse_blocks(page.content)
    assert all(block.marks for block in blocks)
    assert {mark for block in blocks for mark in block.marks} == set(page.marks.values())


@settings(max_examples=30)
@given(page_entries(), st.sampled_from(list(Track)))
def test_page_bytes_depend_on_neither_order_nor_ids(entries: list[PageEntry], track: Track) -> None:
    """P3."""
    page = render_page(track, entries)
    for shuffled in list(permutations(entries))[:: max(1, len(entries) * 17)]:
        renamed = [replace(entry, id=f"other-{index}") for index, entry in enumerate(shuffled)]
        again = render_page(track, renamed)
        assert (again.content, again.description) == (page.content, page.description)


@settings(max_examples=60)
@given(page_entries(), st.sampled_from(list(Track)), st.data())
def test_dropped_marks_leave_no_word_of_theirs(
    entries: list[PageEntry], track: Track, data: st.DataObject
) -> None:
    """P4: what only the dropped entries said is gone; every other block stands as it stood."""
    page = render_page(track, entries)
    gone = data.draw(st.sets(st.sampled_from(sorted(set(page.marks.values())))))
    cut = drop_marks(page.content, gone)
    stays = [block for block in parse_blocks(page.content) if not gone.issuperset(block.marks)]
    left = parse_blocks(cut)
    assert [(block.kind, block.text, block.marks) for block in left] == [
        (block.kind, block.text, block.marks) for block in stays
    ]
    assert left or cut == ""


@settings(max_examples=60)
@given(page_entries(), st.sampled_from(list(Track)), st.data())
def test_no_word_that_only_a_dropped_source_said_is_left(
    entries: list[PageEntry], track: Track, data: st.DataObject
) -> None:
    """P4: each entry says one word that nobody else says."""
    marked = [
        replace(entry, text=f"word{index}x {entry.text} end{index}x", text_key=f"{entry.text_key} {index}")
        for index, entry in enumerate(entries)
    ]
    page = render_page(track, marked)
    gone = data.draw(st.sets(st.sampled_from(marked)))
    cut = drop_marks(page.content, {page.marks[entry.id] for entry in gone})
    said = set(re.findall(r"(?:word|end)\d+x", cut))
    kept = [index for index, entry in enumerate(marked) if entry not in gone]
    assert said == {f"{word}{index}x" for index in kept for word in ("word", "end")}
    assert bool(cut) == bool(kept)


@settings(max_examples=60)
@given(page_entries(), st.sampled_from(list(Track)))
def test_a_page_has_no_markup_but_ours(entries: list[PageEntry], track: Track) -> None:
    """No quote brings HTML, an image, or a link that could break in the tree."""
    tokens = MarkdownIt("commonmark").parse(render_page(track, entries).content)
    inline = [child for token in tokens for child in token.children or ()]
    assert not {token.type for token in [*tokens, *inline]} & {
        "html_block",
        "html_inline",
        "image",
        "code_block",
        "hr",
    }
    links = [str(token.attrs["href"]) for token in inline if token.type == "link_open"]
    assert all(link.startswith("https://x.org/") or link == "b.md" for link in links)


@given(st.sets(st.text(max_size=20), max_size=40))
def test_marks_are_unique_and_ask_for_no_order(keys: set[str]) -> None:
    marks = marks_for(keys)
    assert len(set(marks.values())) == len(keys)
    assert marks == marks_for(sorted(keys, reverse=True))
    assert all(re.fullmatch(r"[a-z2-7]{5,52}", mark) for mark in marks.values())


def shown_entries(track: Track, entries: list[PageEntry]) -> list[PageEntry]:
    """What stands on the page, by an independent reading of the rule."""
    ordered = sorted(entries, key=lambda entry: (entry.path, entry.line, entry.ordinal))
    if track is Track.MEMORY:
        first = {entry.identity: entry for entry in reversed(ordered)}
        return sorted(first.values(), key=lambda entry: (entry.path, entry.line, entry.ordinal))
    sections: dict[str, list[PageEntry]] = {}
    for entry in ordered:
        sections.setdefault(entry.path, []).append(entry)
    shown: list[PageEntry] = []
    seen: list[list[tuple[str, str]]] = []
    for section in sections.values():
        told = [(entry.block, entry.identity) for entry in section]
        if told not in seen:
            seen.append(told)
            shown += section
    return shown
