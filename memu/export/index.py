"""``INDEX.md``: every source of the scope, by the grammar of llms.txt.

The grammar: a title, a quoted summary, paragraphs, then sections that hold nothing but list items of the form
``- [name](link): notes``.
"""

from __future__ import annotations

from collections import defaultdict

from memu.export.markdown import COMMENT_MARK, escape_text, link, one_line, shorten
from memu.export.naming import tree_name
from memu.export.overview import INDEX, MEMORY, SKILL, count
from memu.export.places import Places
from memu.export.snapshot import TreeSnapshot, TreeSource, sort_workspaces
from memu.records import Kind, State, Track

__all__ = ["render_index"]

_MAX_NOTE = 200
_NOT_READ = "Not read"
_SECTIONS = {
    Kind.RULES: "Rules",
    Kind.DOCUMENT: "Documents",
    Kind.MEETING: "Meetings",
    Kind.CHAT: "Chats",
    Kind.SESSION: "Agent sessions",
    Kind.MAIL: "Mail",
    Kind.CODE: "Code",
    Kind.TABLE: "Tables",
    Kind.LOG: "Logs",
    Kind.IMAGE: "Images",
    Kind.AUDIO: "Audio",
    Kind.VIDEO: "Video",
}
_ORDER = [*_SECTIONS.values(), _NOT_READ]


def render_index(snapshot: TreeSnapshot, places: Places) -> str:
    """``INDEX.md``: sections by kind of source, for each workspace in turn; paths in order."""
    pages = len(snapshot.track(Track.MEMORY))
    skills = len(snapshot.track(Track.SKILL))
    summary = (
        f"{count(len(snapshot.sources), 'source')} behind {count(pages, 'page')} and {count(skills, 'skill')}."
    )
    parts = [f"# {tree_name(snapshot.scope)}", f"> {summary}", COMMENT_MARK]
    if absent := [source for source in snapshot.sources if places.link_source(source.key, at=INDEX) is None]:
        names = sorted(places.name_source(source.key) for source in absent)
        parts.append(f"Without a copy here: {', '.join(map(escape_text, names))}.")
    parts += ["## Pages", _overviews(pages, skills, places)]
    for workspace, _ in sort_workspaces(snapshot.workspaces):
        parts += _sections(snapshot, workspace.id, places)
    return "\n\n".join(parts) + "\n"


def _overviews(pages: int, skills: int, places: Places) -> str:
    return (
        f"- {link('Memory', places.link_file(MEMORY, at=INDEX))}: {count(pages, 'page')} of what is known\n"
        f"- {link('Skills', places.link_file(SKILL, at=INDEX))}: {count(skills, 'skill')}, procedures to follow"
    )


def _sections(snapshot: TreeSnapshot, workspace_id: str, places: Places) -> list[str]:
    lines: dict[str, list[str]] = defaultdict(list)
    for source in sorted(snapshot.sources, key=lambda item: item.path):
        url = places.link_source(source.key, at=INDEX)
        if source.workspace_id == workspace_id and url is not None:
            lines[_section(source)].append(_line(source, url))
    label = escape_text(places.labels.get(workspace_id, ""))
    parts: list[str] = []
    for section in sorted(lines, key=_ORDER.index):
        parts += [f"## {f'{label}: ' if label else ''}{section}", "\n".join(lines[section])]
    return parts


def _section(source: TreeSource) -> str:
    return _NOT_READ if source.state in {State.SKIPPED, State.FAILED} else _SECTIONS[source.kind]


def _line(source: TreeSource, url: str) -> str:
    notes = [source.title, source.caption]
    if source.state is not State.DONE:
        notes = [f"{source.state.value}, {source.reason}" if source.reason else source.state.value]
    text = "; ".join(filter(None, (escape_text(shorten(one_line(note), _MAX_NOTE)) for note in notes)))
    return f"- {link(source.path, url)}{f': {text}' if text else ''}"
