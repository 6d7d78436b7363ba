"""Whatever a model sends, a page is backed by its entries and keeps no word of those that are gone (P4, P5)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from support.asks import ScriptedAsk
from support.drafts import apply

from memu.errors import ProviderError, ReplyError
from memu.memorize.fold.blocks import parse_blocks
from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.mend import mend
from memu.memorize.fold.operations import Operation
from memu.memorize.fold.patch import PageDraft, Patched
from memu.memorize.fold.patching import patch_page
from memu.memorize.fold.render import render_page
from memu.records import Track
from memu.tokens import text_key

FORMS = st.sampled_from(
    ["bullet", "paragraph", "step", "fence:sh", "quote", "step:1", "step:2", "bullet:1", "step:1:1"]
)
TRACKS = st.sampled_from(list(Track))
SPOKEN = st.sampled_from(
    ["deploys wait", "the canary runs", "- [x] `a b`", "{{.Names}} & <b>", "部署 在", "1. go"]
)
# Plain words, so that no check for names or numbers can stand in for the one on words.
WORDS = ("falcon", "granite", "mirror", "orchid", "pepper", "saddle", "timber")
ENDS = ("anchor", "basket", "candle", "dagger", "engine", "fabric", "garlic")
LABELS = ("harbor", "island", "jacket", "kettle", "ladder", "magnet", "napkin")
PARTS = ("oyster", "pillow", "quartz", "ribbon", "spider", "tunnel", "velvet")
SAID = re.compile("|".join((*WORDS, *ENDS, *LABELS, *PARTS)))
MANY = settings(max_examples=50, deadline=None)


@st.composite
def entry_lists(draw: st.DrawFn) -> list[PageEntry]:
    """Entries of a few sources; each has words, label and section that no other has."""
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from(["a.md", "b/a.md", "c.md"]), SPOKEN, FORMS, st.booleans(), st.booleans(),
                      st.sampled_from([None, 1, 2, 3])),
            min_size=1, max_size=7,
        )
    )  # fmt: skip
    found: list[PageEntry] = []
    for index, (path, spoken, form, labelled, parted, month) in enumerate(rows):
        text = f"{WORDS[index]} {spoken} {ENDS[index]}"
        found.append(
            PageEntry(
                id=f"i{index}", workspace="w", path=path, title="Notes", ordinal=index, line=index, text=text,
                text_key=text_key(text), label=LABELS[index] if labelled else "", block=form,
                section=PARTS[index] if parted else None,
                happened_at=datetime(2026, month, 1, tzinfo=UTC) if month else None,
            )
        )  # fmt: skip
    return found


@st.composite
def operations(draw: st.DrawFn, entries: Sequence[PageEntry]) -> Operation:
    """Right ones, and careless ones: names that are not there, words of others, structure in text."""
    names = st.sampled_from([*(f"e{n}" for n in range(1, 8)), *(f"b{n}" for n in range(1, 8)), "e99", "x"])
    some = draw(st.lists(st.sampled_from(entries), max_size=3))
    joined = " and ".join(entry.text for entry in some)
    garbage = st.sampled_from(
        ["", "## Head", "ok [^abcde]", "- a\n- b", "```\nrm\n```", "Zeus won 45 times.", joined + " [e1]"]
    )
    text = draw(st.just(joined) | st.just(f"1. {joined}") | garbage)
    return Operation(
        op=draw(st.sampled_from(["add", "replace", "remove", "same_as", "description"])),
        section=draw(st.sampled_from(["", "Notes", "Deploys", "Earlier (2026-01-01)", WORDS[1], PARTS[2]])),
        text=text, cites=tuple(draw(st.lists(names, max_size=3))), block=draw(names), entry=draw(names),
        by=draw(names),
    )  # fmt: skip


def right(entries: Sequence[PageEntry], count: int, more: str = "") -> list[Operation]:
    """One block for each pair of what is new, in its own words; ``more`` may be somebody else's."""
    new = sorted(entries, key=lambda entry: entry.place_key)[:count]
    made: list[Operation] = []
    for at in range(0, len(new), 2):
        pair = new[at : at + 2]
        cites = tuple(f"e{at + 1 + offset}" for offset in range(len(pair)))
        text = " and ".join(entry.text for entry in pair) + more
        made.append(
            Operation(op="add", section=("Deploys", WORDS[at], PARTS[at])[count % 3], text=text, cites=cites)
        )
    return made


def hold(page: Patched, entries: Sequence[PageEntry]) -> None:
    """P4: every block cites what lives, all that lives is cited and said, nothing else is said."""
    known = set(page.marks.values())
    cited: set[str] = set()
    for block in parse_blocks(page.content):
        assert block.marks
        assert known.issuperset(block.marks)
        cited.update(block.marks)
    assert cited == known
    assert page.marks.keys() == {entry.id for entry in entries}
    said = set(SAID.findall(page.content)) | set(SAID.findall(page.description))
    words = {word for entry in entries for word in (WORDS[int(entry.id[1:])], ENDS[int(entry.id[1:])])}
    may = {word for entry in entries for word in (entry.label, entry.section)} | words
    assert words <= said <= may
    for entry in entries:
        if entry.block.startswith("fence"):
            assert any(block.kind == "fence" and block.text == entry.text for block in parse_blocks(page.content))


def draft_of(track: Track, page: Patched, entries: Sequence[PageEntry]) -> PageDraft:
    living = {entry.id for entry in entries}
    return PageDraft(
        track=track, name="Deploys", content=page.content, description=page.description,
        marks={id_: mark for id_, mark in page.marks.items() if id_ in living}, entries=tuple(entries),
    )  # fmt: skip


def a_page(draw: st.DrawFn, track: Track, entries: Sequence[PageEntry]) -> Patched:
    """A page as a model left it after one or two rounds."""
    old = draw(st.lists(st.sampled_from(entries), unique=True))
    page = Patched()
    for known in (old, entries):
        draft = draft_of(track, page, known)
        new = [entry for entry in known if entry.id not in page.marks]
        tried = draw(st.lists(operations(known), max_size=6)) if known else []
        spoken = [word for entry in known for word in (entry.text.split()[0], entry.label) if word] or [""]
        more = f" {draw(st.sampled_from(spoken))}"
        described = Operation(op="description", text=f"On {spoken[0]}", cites=("e1", "e2"))
        good, bad = right(new, draw(st.integers(0, 6))), right(new, draw(st.integers(0, 6)), more)
        page = apply(draft, [*tried, described, *draw(st.sampled_from([[*bad, *good], good, bad]))])
        hold(page, known)
    return page


@MANY
@given(entry_lists(), TRACKS, st.data())
def test_any_operations_leave_a_backed_page(entries: list[PageEntry], track: Track, data: st.DataObject) -> None:
    """P4, P5: right ones, wrong ones and rubbish, on a new page and on one that stands."""
    data.draw(st.composite(lambda draw: a_page(draw, track, entries))())


@MANY
@given(entry_lists(), TRACKS, st.data())
def test_what_dies_leaves_no_word_without_a_model(
    entries: list[PageEntry], track: Track, data: st.DataObject
) -> None:
    """P4: some entries go, others come, nobody is asked; and again nothing changes."""
    page = data.draw(st.composite(lambda draw: a_page(draw, track, entries))())
    gone = data.draw(st.sets(st.sampled_from(entries)))
    left = [entry for entry in entries if entry not in gone]
    draft = draft_of(track, page, left)
    mended = mend(draft)
    hold(mended, left)
    assert mend(draft) == mended
    assert mend(replace(draft, entries=tuple(reversed(draft.entries)))).content == mended.content
    again = mend(draft_of(track, mended, left))
    assert (again.content, again.marks, again.description) == (mended.content, mended.marks, mended.description)


@MANY
@given(entry_lists(), TRACKS, st.data())
def test_mending_what_was_rendered_keeps_to_its_words(
    entries: list[PageEntry], track: Track, data: st.DataObject
) -> None:
    """P4: extractive pages too; no block is taken for a model's."""
    before = data.draw(st.lists(st.sampled_from(entries), unique=True))
    after = data.draw(st.lists(st.sampled_from(entries), unique=True))
    rendered = render_page(track, before)
    page = Patched(content=rendered.content, marks=rendered.marks, description=rendered.description)
    mended = mend(draft_of(track, page, after))
    hold(mended, after)
    assert not mended.written


@settings(max_examples=30, deadline=None)
@given(entry_lists(), TRACKS, st.data())
def test_a_model_that_is_right_wrong_or_dead_leaves_a_backed_page(
    entries: list[PageEntry], track: Track, data: st.DataObject
) -> None:
    """P4, P5: at most two calls, whatever comes."""
    replies = data.draw(
        st.lists(
            st.sampled_from([ProviderError("down"), ReplyError("cut off"), "no json", "[]", '[{"op": "add"'])
            | st.lists(operations(entries), max_size=5).map(
                lambda made: json.dumps([json.loads(each.to_json()) for each in made])
            ),
            min_size=2, max_size=2,
        )
    )  # fmt: skip
    ask = ScriptedAsk(replies)
    page = data.draw(st.composite(lambda draw: a_page(draw, track, entries))())
    left = data.draw(st.lists(st.sampled_from(entries), unique=True))
    draft = replace(draft_of(track, page, left), marks={})
    patched = asyncio.run(patch_page(draft, ask))
    hold(patched, left)
    assert len(ask.asked) == patched.asked <= 2
