"""Where things lie as seen from a file of the tree: sources, their copies, other files of the tree."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memu.export.markdown import path_url
from memu.export.naming import COPIES
from memu.export.snapshot import Citation, SourceKey, TreeSnapshot, sort_workspaces
from memu.names import slugify

__all__ = ["Places", "copy_paths", "root_url", "source_url"]

_BYTE = re.compile(r"(%(?:25|[89A-F][0-9A-F]))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Answers "what is the link from this file to that".

    roots: per workspace id, the encoded URL of its root as seen from the tree ("../.."), without a slash at the
        end. copies: per source, its path in the tree; None when sources are linked where they lie. kept: of what
        lies in no file, the same. renames: the other name under which a file of ours lies because a user's own
        file stands in its place.
    labels: per workspace id, its label; "" when it is the only one.
    """

    roots: Mapping[str, str]
    labels: Mapping[str, str]
    known: Collection[SourceKey] = frozenset()
    copies: Mapping[SourceKey, str] | None = None
    kept: Mapping[SourceKey, str] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)

    def link_file(self, path: str, *, at: str) -> str:
        """The URL of the tree's file ``path`` as seen from the tree's file ``at``."""
        return path_url(posixpath.relpath(self.renames.get(path, path), posixpath.dirname(at) or "."))

    def link_source(self, key: SourceKey, *, at: str) -> str | None:
        """The URL of a source as seen from the tree's file ``at``; None when the tree holds no copy of it."""
        copy = self.kept.get(key) or (self.copies or {}).get(key)
        if copy is not None or self.copies is not None:
            return None if copy is None else self.link_file(copy, at=at)
        workspace_id, path = key
        root = self.roots.get(workspace_id)
        if root is None:
            return None
        return f"{self._climb(root, at)}/{source_url(path)}"

    def link_folder(self, workspace_id: str, path: str, *, at: str) -> str | None:
        """The URL of a folder of sources; None where sources are copied or nothing known lies in it."""
        root = self.roots.get(workspace_id)
        inside = any(key[0] == workspace_id and key[1].startswith(f"{path}/") for key in self.known)
        if self.copies is not None or root is None or not inside:
            return None
        return f"{self._climb(root, at)}/{source_url(path)}/"

    def name_source(self, key: SourceKey) -> str:
        """How text names a source: its path, behind its workspace's label where there are several."""
        label = self.labels.get(key[0], "")
        return f"{label}: {key[1]}" if label else key[1]

    def anchor(self, citation: Citation) -> str:
        """The part of the URL behind the path: ``#L10-L12``, or nothing where there are no lines."""
        return f"#{citation.lines}" if citation.lines else ""

    def _climb(self, root: str, at: str) -> str:
        if "://" in root:
            return root
        return f"{'../' * at.count('/')}{root}"


def source_url(path: str) -> str:
    """A stored path as a link destination; ``%XX`` in it is already a byte that no text could hold."""
    return "".join(part if number % 2 else path_url(part) for number, part in enumerate(_BYTE.split(path)))


def copy_paths(snapshot: TreeSnapshot, copied: Collection[SourceKey]) -> dict[SourceKey, str]:
    """Where copies lie in the tree: ``sources/PATH``, below a folder per workspace where there are several.

    A path that differs from an earlier one only in letter case gets six digits of its hash, so that the tree
    can be unpacked anywhere.
    """
    several = len(snapshot.workspaces) > 1
    folders = {
        item.id: f"{COPIES}/{slugify(label)}" if several else COPIES
        for item, label in sort_workspaces(snapshot.workspaces)
    }
    paths: dict[SourceKey, str] = {}
    taken: set[str] = set()
    for key in sorted(copied):
        path = f"{folders[key[0]]}/{key[1]}"
        if path.casefold() in taken:
            stem, suffix = posixpath.splitext(path)
            path = f"{stem}-{hashlib.sha256(key[1].encode('utf-8')).hexdigest()[:6]}{suffix}"
        taken.add(path.casefold())
        paths[key] = path
    return paths


def root_url(tree: Path, root: Path) -> str:
    """The URL of a workspace's root as seen from the tree, encoded; absolute where no relative path leads."""
    try:
        relative = os.path.relpath(root, tree)
    except ValueError:
        return root.absolute().as_uri()
    return path_url(relative.replace(os.sep, "/"))
