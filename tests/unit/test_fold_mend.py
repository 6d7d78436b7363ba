"""A page mended without a model (P3, P4, P5, F28)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.marks import marks_for
from memu.memorize.fold.mend import mend
from memu.memorize.fold.patch import PageDraft, Patched
from memu.memorize.fold.render import render_page
from memu.records import Track
from memu.tokens import text_key


def entry(text: str, path: str = "a.md", ordinal: int = 0, **more: Any) -> PageEntry:
    month = more.pop("month", None)
    values: dict[str, Any] = {
        "id": f"{path}#{ordinal}#{text[:12]}",
        "workspace": "w",
        "path": path,
        "title": path.removesuffix(".md").upper(),
        "ordinal": ordinal,
        "line": ordinal + 1,
        "text": text,
        "text_key": text_key(text),
        "happened_at": datetime(2026, month, 1, tzinfo=UTC) if month else None,
    }
    return PageEntry(**{**values, **more})


def draft(
    content: str, entries: list[PageEntry], known: list[PageEntry], track: Track = Track.MEMORY
) -> PageDraft:
    """A page whose ``[^1]`` stands for the first of ``known``, and so on; ``entries`` are those that live."""
    marks = marks_for(each.identity for each in known)
    written = re.sub(r"\[\^(\d)\]", lambda found: f"[^{marks[known[int(found[1]) - 1].identity]}]", content)
    living = {each.id: marks[each.identity] for each in known if each in entries}
    return PageDraft(track=track, name="Deploys", content=written, marks=living, entries=tuple(entries))


def shown(page: Patched, known: list[PageEntry]) -> str:
    """The content with each mark as the number of its entry in ``known``."""
    numbers = {page.marks[each.id]: number for number, each in enumerate(known, 1) if each.id in page.marks}
    return re.sub(r"\[\^([a-z2-7]+)\]", lambda found: f"[^{numbers[found[1]]}]", page.content)


A, B, C = entry("Deploys wait.", "a.md"), entry("The canary runs.", "b.md"), entry("Ann decides.", "c.md")
STEP = [entry(text, "s.md", at, block=f"step:{at + 1}") for at, text in enumerate(["Build.", "Push.", "Tell."])]
CODE = entry("docker ps --format '{{.Names}}'", "f.md", block="fence:sh", label="Check")


@pytest.mark.parametrize(
    ("content", "living", "known", "mended"),
    [
        # What rested on several and lost one falls back to the others' own words, in its place.
        (
            "## X\n\n- Deploys wait while the canary runs. [^1] [^2]\n- Ann decides. [^3]\n",
            [A, C], [A, B, C],
            "## A\n\n- Deploys wait. [^1]\n- Ann decides. [^3]\n",
        ),
        # A quote of a living one keeps its words; what only the dead said goes with its heading.
        ("## A\n\n- Deploys wait. [^1] [^2]\n", [A], [A, B], "## A\n\n- Deploys wait. [^1]\n"),
        (
            "## A\n\n- Deploys wait. [^1]\n\n## B\n\n- The canary runs. [^2]\n",
            [B], [A, B],
            "## B\n\n- The canary runs. [^2]\n",
        ),
        # What lost nothing keeps a model's words.
        (
            "## Overview\n\n- Deploys always wait. [^1]\n\n## B\n\n- The canary runs. [^2]\n",
            [A], [A, B],
            "## Overview\n\n- Deploys always wait. [^1]\n",
        ),
        # ... unless they name what nobody living says.
        ("- Zeus lets deploys wait. [^1]\n", [A], [A], "- Deploys wait. [^1]\n"),
        # A label that is the entry's no more goes.
        (
            "## A\n\n- **Harbor** — Deploys wait. [^1]\n- Ann decides. [^2]\n",
            [A, C], [A, C],
            "## A\n\n- Deploys wait. [^1]\n- Ann decides. [^2]\n",
        ),
        # What is new stands in its source's section, in the source's order.
        (
            "## Overview\n\nDeploys always wait. [^1]\n\n## S\n\n1. Build. [^2]\n2. Tell. [^4]\n",
            [A, *STEP, B], [A, STEP[0], STEP[1], STEP[2], B],
            None,
        ),
        # Fences keep every byte, with language and lead-in.
        (
            "- Deploys always wait. [^1]\n",
            [A, CODE], [A],
            f"- Deploys always wait. [^1]\n\n## F\n\n**Check**\n\n```sh\n{CODE.text}\n```\n[^2]\n",
        ),
        ("- Deploys always wait. [^1]\n", [], [A], ""),
    ],
)  # fmt: skip
def test_mending(content: str, living: list[PageEntry], known: list[PageEntry], mended: str | None) -> None:
    """P4, P5, F28."""
    if mended is None:
        page = draft(content, living, known)
        page = PageDraft(
            track=page.track, name=page.name, content=page.content, entries=page.entries,
            marks={key: mark for key, mark in page.marks.items() if key not in (STEP[1].id, B.id)},
        )  # fmt: skip
        assert shown(mend(page), known) == (
            "## Overview\n\nDeploys always wait. [^1]\n\n## B\n\n- The canary runs. [^5]\n\n"
            "## S\n\n1. Build. [^2]\n2. Push. [^3]\n3. Tell. [^4]\n"
        )
        return
    assert (
        shown(mend(draft(content, living, known)), [*known, *(each for each in living if each not in known)])
        == mended
    )


def test_a_page_without_content_is_rendered() -> None:
    """P3."""
    page = render_page(Track.MEMORY, [A, B])
    mended = mend(PageDraft(track=Track.MEMORY, name="x", entries=(B, A)))
    assert (mended.content, mended.marks, mended.description) == (page.content, page.marks, page.description)


def test_a_rendered_page_is_rendered_again() -> None:
    """P3: where no model wrote, mending is rendering."""
    page = render_page(Track.SKILL, [STEP[0], STEP[2], A])
    living = (*STEP, B)
    marks = {key: mark for key, mark in page.marks.items() if key != A.id}
    mended = mend(PageDraft(track=Track.SKILL, name="x", content=page.content, marks=marks, entries=living))
    assert mended.content == render_page(Track.SKILL, living).content


def test_unchanged_costs_no_byte() -> None:
    """P7."""
    page = draft("## Overview\n\n- Deploys always wait. [^1]\n\n\n\n* Ann decides. [^2]\n", [A, C], [A, C])
    assert mend(page).content == page.content


def test_marks_grow_and_shrink_with_the_page() -> None:
    """Two identities that begin alike get longer marks, in old blocks too, and short ones once one is alone."""
    marks = marks_for(f"statement {number}" for number in range(40_000))
    prefix = next(mark for mark in marks.values() if len(mark) > 5)[:5]
    alike = [key for key, mark in marks.items() if mark.startswith(prefix)]
    one, two = (entry(key, f"{at}.md") for at, key in enumerate(alike[:2]))
    page = PageDraft(
        track=Track.MEMORY, name="x", content=f"- Overview: {one.text} [^{prefix}]\n", marks={one.id: prefix},
        entries=(one, two),
    )  # fmt: skip
    both = mend(page)
    assert len(both.marks[one.id]) > 5
    assert f"Overview: {one.text} [^{both.marks[one.id]}]" in both.content
    alone = PageDraft(
        track=Track.MEMORY, name="x", content=both.content, marks={one.id: both.marks[one.id]}, entries=(one,)
    )
    assert mend(alone).content == f"- Overview: {one.text} [^{prefix}]\n"


OLD, NEW = (
    entry("Deploys go out on Tuesdays.", "a.md", month=1),
    entry("Deploys go out on Fridays.", "b.md", month=3),
)
EARLIER = (
    "## A\n\n- Deploys go out on Fridays. [^2]\n\n"
    "## Earlier (2026-01-01)\n\n- Deploys go out on Tuesdays. [^1] [^2]\n"
)


@pytest.mark.parametrize(
    ("living", "mended"),
    [
        ([OLD, NEW], EARLIER),
        ([OLD], "## A\n\n- Deploys go out on Tuesdays. [^1]\n"),
        ([NEW], "## B\n\n- Deploys go out on Fridays. [^2]\n"),
    ],
)
def test_what_was_superseded_is_said_again_when_the_newer_goes(living: list[PageEntry], mended: str) -> None:
    """P4: it lives as long as its own source, and is earlier as long as there is a later."""
    assert shown(mend(draft(EARLIER, living, [OLD, NEW])), [OLD, NEW]) == mended


@pytest.mark.parametrize(
    ("description", "living", "kept"),
    [
        ("When deploys wait.", [A, B], True),
        ("When deploys wait.", [A], False),
        ("What Zeus says of deploys.", [A, B], False),
        ("2 statements from 2 sources: A; B", [A, B, C], False),
    ],
)
def test_a_models_description_lives_as_long_as_all_it_may_rest_on(
    description: str, living: list[PageEntry], kept: bool
) -> None:
    """P4."""
    page = draft("## Overview\n\n- Deploys wait. [^1]\n- The canary runs. [^2]\n", living, [A, B])
    page = PageDraft(
        track=page.track, name=page.name, content=page.content, marks=page.marks, entries=page.entries,
        description=description,
    )  # fmt: skip
    assert (mend(page).description == description) is kept
    assert kept or mend(page).description.startswith(f"{len(living)} statement")


def test_a_new_source_of_a_skill_is_kept_whole() -> None:
    """What another source gives already stands again among the steps of the new one."""
    other = [
        entry(text, "t.md", at, block=f"step:{at + 1}") for at, text in enumerate(["Build.", "Sign.", "Tell."])
    ]
    page = draft(
        "## Steps\n\n1. Build it. [^1]\n2. Push. [^2]\n3. Tell. [^3]\n", [*STEP, *other], STEP, Track.SKILL
    )
    mended = shown(mend(page), [*STEP, *other])
    assert mended.endswith("## T\n\n1. Build. [^4]\n2. Sign. [^5]\n3. Tell. [^6]\n")
