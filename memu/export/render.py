"""One scope's rows as a tree of files. Pure: no clock, no disk, the same bytes for the same rows."""

from __future__ import annotations

from collections.abc import Mapping

from memu.export.footnotes import render_footnotes
from memu.export.index import render_index
from memu.export.markdown import GENERATOR, escape_text, front_matter, one_line
from memu.export.overview import (
    ALL_PAGES,
    INDEX,
    MEMORY,
    SKILL,
    render_all_pages,
    render_memory,
    render_skill,
)
from memu.export.places import Places, copy_paths
from memu.export.quotes import relink
from memu.export.snapshot import SourceKey, TreePage, TreeSnapshot, sort_workspaces

__all__ = ["ROOT_PAGES", "render_tree"]

ROOT_PAGES = (ALL_PAGES, SKILL, MEMORY, INDEX)
"""The pages at the tree's root, in the order in which they are written, after all others."""


def render_tree(
    snapshot: TreeSnapshot,
    *,
    roots: Mapping[str, str],
    copies: Mapping[SourceKey, bytes] | None = None,
    renames: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """The tree's files by their path, root pages last.

    Args:
        roots: per workspace id, the URL of its root as seen from the tree (see ``root_url``).
        copies: the redacted bytes of the sources to copy into the tree and to link there; None links every
            source where it lies. What lies in no file is copied always.
        renames: the names under which files of ours lie because a user's own file stands in their place.
            Only links follow it; the keys of the result do not.
    """
    kept = {source.key: source.kept.encode("utf-8") for source in snapshot.sources if source.kept}
    held = {**(copies or {}), **kept}
    paths = copy_paths(snapshot, held)
    several = len(snapshot.workspaces) > 1
    places = Places(
        roots=roots,
        labels={item.id: label if several else "" for item, label in sort_workspaces(snapshot.workspaces)},
        known=frozenset(source.key for source in snapshot.sources),
        copies=None if copies is None else paths,
        kept={key: paths[key] for key in kept},
        renames=renames or {},
    )
    files = {path: held[key] for key, path in sorted(paths.items(), key=lambda item: item[1])}
    for page in sorted(snapshot.pages, key=lambda page: page.file):
        files[page.file] = _render_page(page, snapshot.extractor, places).encode("utf-8")
    roots_pages = {
        ALL_PAGES: render_all_pages(snapshot, places),
        SKILL: render_skill(snapshot, places),
        MEMORY: render_memory(snapshot, places),
        INDEX: render_index(snapshot, places),
    }
    files.update({path: text.encode("utf-8") for path in ROOT_PAGES if (text := roots_pages[path]) is not None})
    return files


def _render_page(page: TreePage, extractor: str, places: Places) -> str:
    """Front matter, title, blocks, footnotes."""
    head = front_matter(
        [
            ("name", page.name),
            ("description", page.description),
            ("generator", GENERATOR),
            ("extractor", extractor),
        ]
    )
    parts = [f"{head}\n# {escape_text(one_line(page.name)) or 'Untitled'}\n"]
    if content := page.content.strip("\n"):
        parts.append(f"\n{relink(content, page.citations, places, page.file)}\n")
    if notes := render_footnotes(content, page.citations, places, page.file):
        parts.append(f"\n{notes}")
    return "".join(parts)
