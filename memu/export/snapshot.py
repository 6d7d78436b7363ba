"""What one export reads from the store, as plain frozen values: the only input of ``render``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memu.names import slugify
from memu.records import Kind, LineSpan, Scope, State, Track

__all__ = [
    "Citation",
    "SourceKey",
    "TreePage",
    "TreeSentence",
    "TreeSnapshot",
    "TreeSource",
    "TreeWorkspace",
    "sort_workspaces",
]

SourceKey = tuple[str, str]
"""Workspace id and workspace-relative POSIX path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeWorkspace:
    """A workspace as the tree shows it. ``root`` only settles the order of nameless ones; it is never shown."""

    id: str
    name: str | None
    root: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSource:
    """One source. ``path`` is workspace-relative POSIX.

    withheld: words of it were forgotten, so that no copy of it is shown.
    kept: the text of one that lies in no file; the tree holds a copy of it.
    """

    workspace_id: str
    path: str
    kind: Kind
    title: str
    caption: str = ""
    state: State = State.DONE
    reason: str | None = None
    withheld: bool = False
    kept: str | None = None

    @property
    def key(self) -> SourceKey:
        """What a citation names it by."""
        return (self.workspace_id, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where one entry stands: a source and its lines, or its place where there are no lines."""

    workspace_id: str
    path: str
    lines: LineSpan | None = None
    place: str | None = None

    @property
    def key(self) -> SourceKey:
        """The source it names."""
        return (self.workspace_id, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreePage:
    """One page. ``citations`` gives what each mark in ``content`` stands for; several sources may say one thing.

    ``entries`` counts the entries that the page rests on.
    """

    track: Track
    name: str
    folded_name: str
    description: str = ""
    content: str = ""
    entries: int = 0
    citations: Mapping[str, tuple[Citation, ...]] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its path in the tree, a function of track and name alone."""
        return f"{self.track.value}/{slugify(self.folded_name)}.md"

    @property
    def sources(self) -> frozenset[SourceKey]:
        """The sources that it cites."""
        return frozenset(citation.key for cited in self.citations.values() for citation in cited)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSentence:
    """One sentence of an overview and the pages that it rests on."""

    text: str
    pages: tuple[TreePage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSnapshot:
    """One scope at one version: everything that its tree can show."""

    scope: Scope
    extractor: str
    version: int = 0
    workspaces: tuple[TreeWorkspace, ...] = ()
    sources: tuple[TreeSource, ...] = ()
    pages: tuple[TreePage, ...] = ()
    overviews: Mapping[Track, tuple[TreeSentence, ...]] = field(default_factory=dict)

    def track(self, track: Track) -> tuple[TreePage, ...]:
        """The pages of one track, in the order of their folded names."""
        return tuple(sorted((page for page in self.pages if page.track is track), key=lambda p: p.folded_name))


def sort_workspaces(workspaces: tuple[TreeWorkspace, ...]) -> tuple[tuple[TreeWorkspace, str], ...]:
    """The workspaces in the order of the tree, each with its label: its name, else "Workspace N".

    Named ones come first, by name; nameless ones by root path.
    """
    ordered = sorted(workspaces, key=lambda item: (item.name is None, item.name or "", item.root))
    return tuple((item, item.name or f"Workspace {number}") for number, item in enumerate(ordered, start=1))
