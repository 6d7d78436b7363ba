"""Cutting any page of nested lists, steps, fences and paragraphs leaves the blocks that still have a mark (P4)."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from memu.memorize.fold.blocks import PageBlock, drop_marks, parse_blocks

MARKS = st.lists(st.sampled_from(["aaaaa", "bbbbb", "ccccc", "ddddd"]), min_size=1, max_size=2, unique=True)
LEVELS = st.integers(1, 4)


def note(marks: list[str]) -> str:
    return " ".join(f"[^{mark}]" for mark in marks)


@st.composite
def containers(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Lines of a few blocks, one word in each that no other block has."""
    forms = ["paragraph", "fence", "bullets", "steps", "quote"] + (["heading"] if depth == 0 else [])
    lines: list[str] = []
    for form in draw(st.lists(st.sampled_from(forms), min_size=1, max_size=4 if depth == 0 else 2)):
        if lines:
            lines.append("")
        if form == "heading":
            lines.append(f"{'#' * draw(LEVELS)} Heading")
        elif form == "paragraph":
            lines.append(f"WORD {note(draw(MARKS))}")
        elif form == "quote":
            lines.append(f"> WORD {note(draw(MARKS))}")
        elif form == "fence":
            lines += ["Lead:", ""] if draw(st.booleans()) else []
            lines += ["```sh", "WORD [^aaaaa]", "", "- x", "```", note(draw(MARKS))]
        else:
            lines += draw(lists(depth, ordered=form == "steps"))
    return lines


@st.composite
def lists(draw: st.DrawFn, depth: int, *, ordered: bool) -> list[str]:
    lines: list[str] = []
    loose = draw(st.booleans())
    for number in range(1, draw(st.integers(1, 3)) + 1):
        marker = f"{number}. " if ordered else "- "
        lines += [""] if loose and lines else []
        lines.append(f"{marker}WORD {note(draw(MARKS))}")
        if depth < 2 and draw(st.booleans()):
            nested = draw(containers(depth + 1))
            tight = nested[0].startswith(("- ", "1. ")) and draw(st.booleans())
            lines += [] if tight else [""]
            lines += [" " * len(marker) + line if line else "" for line in nested]
    return lines


def number_words(lines: list[str]) -> str:
    parts = "\n".join(lines).split("WORD")
    return "".join(f"{part}w{number}w" for number, part in enumerate(parts[:-1])) + parts[-1] + "\n"


def described(blocks: tuple[PageBlock, ...], gone: set[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for block in blocks:
        marks = tuple(mark for mark in block.marks if mark not in gone)
        if marks:
            yield block.kind.value, f"{block.lead}|{block.text}", marks


@settings(max_examples=150)
@given(containers().map(number_words), st.sets(st.sampled_from(["aaaaa", "bbbbb", "ccccc", "ddddd"])))
def test_a_cut_page_has_just_the_blocks_that_keep_a_mark(content: str, gone: set[str]) -> None:
    cut = drop_marks(content, gone)
    before = parse_blocks(content)
    if not any(gone & set(block.marks) for block in before):
        assert cut == content
        return
    left = list(described(parse_blocks(cut), set()))
    # An item's text that lost its item is a paragraph no more than an item's: only words and marks are compared.
    assert [(text, marks) for _, text, marks in left] == [
        (text, marks) for _, text, marks in described(before, gone)
    ]
    assert drop_marks(cut, gone) == cut
    assert not cut or cut.endswith("\n")
