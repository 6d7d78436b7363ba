"""The root pages that list pages: ``MEMORY.md``, ``MEMORY-ALL.md`` and ``SKILL.md``. Lists come from rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memu.export.markdown import COMMENT_MARK, GENERATOR, escape_text, front_matter, link, one_line, shorten
from memu.export.naming import tree_name
from memu.export.places import Places
from memu.export.snapshot import TreePage, TreeSnapshot
from memu.records import State, Track

__all__ = [
    "ALL_PAGES",
    "INDEX",
    "MAX_MEMORY_LINES",
    "MEMORY",
    "SKILL",
    "count",
    "render_all_pages",
    "render_memory",
    "render_skill",
]

MEMORY = "MEMORY.md"
ALL_PAGES = "MEMORY-ALL.md"
SKILL = "SKILL.md"
INDEX = "INDEX.md"

MAX_MEMORY_LINES = 199
# Every line of MEMORY.md that is no page, the link to the rest included.
_OTHER_LINES = 21
PAGES_SHOWN = MAX_MEMORY_LINES - _OTHER_LINES

_MAX_NOTE = 200
_MAX_SKILL_DESCRIPTION = 1024
_MAX_TOPIC = 48
_COUNTED = re.compile(r"\b\d+ [a-z]+(?: and \d+ [a-z]+)? from \d+ sources?: ")


def count(number: int, word: str, plural: str = "") -> str:
    """``1 page``, ``2 pages``."""
    return f"{number} {word if number == 1 else plural or f'{word}s'}"


def render_memory(snapshot: TreeSnapshot, places: Places) -> str:
    """``MEMORY.md``: the largest pages first, one a line, always under 200 lines."""
    pages = _largest_first(snapshot.track(Track.MEMORY))
    opening = _opening(snapshot, Track.MEMORY, places, at=MEMORY)
    # A paragraph takes its line and an empty one.
    room = PAGES_SHOWN - 2 * len(opening)
    shown = pages if len(pages) <= room else pages[: room - 1]
    lines = [_page_line(page, places, at=MEMORY) for page in shown]
    if len(shown) < len(pages):
        rest = count(len(pages) - len(shown), "more page")
        lines.append(f"- {link(rest, places.link_file(ALL_PAGES, at=MEMORY))}: the list of every page")
    read = sum(source.state in {State.DONE, State.PARTIAL} for source in snapshot.sources)
    summary = (
        f"What is remembered from {count(read, 'source')}, on {count(len(pages), 'page')}. "
        "Each statement ends in a footnote that leads to the lines it comes from."
    )
    skills = count(len(snapshot.track(Track.SKILL)), "skill")
    return _document(
        _head(snapshot, tree_name(snapshot.scope), summary),
        "# Memory",
        f"> {summary}",
        *opening,
        "## Pages",
        "\n".join(lines) or "Nothing is remembered yet.",
        "## See also",
        f"- {link('Skills', places.link_file(SKILL, at=MEMORY))}: {skills}, procedures to follow step by step\n"
        f"- {link('Sources', places.link_file(INDEX, at=MEMORY))}: every source, with where it lies",
    )


def render_all_pages(snapshot: TreeSnapshot, places: Places) -> str | None:
    """``MEMORY-ALL.md``: every page by name; None while ``MEMORY.md`` has room for all of them."""
    pages = snapshot.track(Track.MEMORY)
    if len(pages) <= PAGES_SHOWN - 2 * len(snapshot.overviews.get(Track.MEMORY, ())):
        return None
    summary = f"All {count(len(pages), 'page')} by name."
    return _document(
        _head(snapshot, f"{tree_name(snapshot.scope)}-all", summary),
        "# All pages",
        f"> {summary} The largest are in {link(MEMORY, places.link_file(MEMORY, at=ALL_PAGES))}.",
        "\n".join(_page_line(page, places, at=ALL_PAGES) for page in pages),
    )


def render_skill(snapshot: TreeSnapshot, places: Places) -> str:
    """``SKILL.md``: the overview of ``skill/``, and by its front matter and folder a valid Agent Skill."""
    pages = snapshot.track(Track.SKILL)
    head = front_matter([("name", tree_name(snapshot.scope)), ("description", _describe_skill(snapshot))])
    lines = [_page_line(page, places, at=SKILL) for page in pages]
    facts = count(len(snapshot.track(Track.MEMORY)), "page")
    return _document(
        f"{head}{COMMENT_MARK}",
        "# Skills and memory",
        "Read the page that fits the task before starting it. Each step and statement ends in a footnote that "
        "leads to the lines it was taken from; what those lines say counts, should the two differ.",
        *_opening(snapshot, Track.SKILL, places, at=SKILL),
        "## Skills",
        "\n".join(lines) or "No procedure is remembered yet.",
        "## Knowledge",
        f"- {link('Memory', places.link_file(MEMORY, at=SKILL))}: {facts} of what is known, by topic\n"
        f"- {link('Sources', places.link_file(INDEX, at=SKILL))}: every source, with where it lies",
    )


def _opening(snapshot: TreeSnapshot, track: Track, places: Places, *, at: str) -> list[str]:
    """A model's overview, a paragraph a sentence, each with links to the pages that it rests on."""
    return [
        f"{escape_text(sentence.text)} "
        f"({', '.join(link(page.name, places.link_file(page.file, at=at)) for page in sentence.pages)})"
        for sentence in snapshot.overviews.get(track, ())
    ]


def _describe_skill(snapshot: TreeSnapshot) -> str:
    """What the skill holds and when to use it, in at most 1024 characters without ``<`` and ``>``."""
    pages = [*_largest_first(snapshot.track(Track.SKILL)), *_largest_first(snapshot.track(Track.MEMORY))]
    text = (
        "Procedures and knowledge remembered from the files of a workspace, each with its source. "
        "Use it before work that touches what is remembered there"
    )
    topics = [shorten(one_line(page.name.replace("<", " ").replace(">", " ")), _MAX_TOPIC) for page in pages]
    kept: list[str] = []
    for topic in filter(None, topics):
        if len(text) + sum(len(item) + 2 for item in [*kept, topic]) + 8 > _MAX_SKILL_DESCRIPTION:
            break
        kept.append(topic)
    return f"{text}: {', '.join(kept)}." if kept else f"{text}."


def _largest_first(pages: Iterable[TreePage]) -> list[TreePage]:
    return sorted(pages, key=lambda page: (-page.entries, page.folded_name))


def _page_line(page: TreePage, places: Places, *, at: str) -> str:
    notes = [escape_text(shorten(one_line(page.description), _MAX_NOTE))]
    # A description made from the entries counts them itself.
    if not _COUNTED.search(page.description):
        size = f"{count(page.entries, 'entry', 'entries')} from {count(len(page.sources), 'source')}"
        notes.append(f"({size})")
    return f"- {link(page.name, places.link_file(page.file, at=at))}: {' '.join(filter(None, notes))}"


def _head(snapshot: TreeSnapshot, name: str, description: str) -> str:
    fields = [("name", name), ("description", description), ("generator", GENERATOR)]
    return front_matter([*fields, ("extractor", snapshot.extractor)]).rstrip("\n")


def _document(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"
